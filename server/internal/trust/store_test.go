package trust_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
)

// Damaged records are an error. They must not look as if the operator had decided nothing.
func TestDamagedRecordsAreAnError(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, "ws/toolhost.yaml", "x")
	must(t, w.store.TrustFile(path, []byte("x")))
	records := filepath.Join(w.store.Dir(), "trust.json")
	good, err := os.ReadFile(records)
	must(t, err)
	for _, text := range []string{
		"", "{", "null", "{}", string(good) + "{}", strings.Replace(string(good), `"files"`, `"file"`, 1), string(good[:len(good)-2]),
		`{"version":1,"folders":{"/p":null}}`,
	} {
		must(t, os.WriteFile(records, []byte(text), 0o600))
		err := w.check(t, path, false)
		if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), records) {
			t.Errorf("%q: %v", text, err)
		}
		if err := w.store.TrustFile(path, []byte("y")); err == nil {
			t.Errorf("%q: it was written over", text)
		}
	}
	newer := strings.Replace(string(good), `"version": 1`, `"version": 2, "owner": {"of": "a later field"}`, 1)
	must(t, os.WriteFile(records, []byte(newer), 0o600))
	if err := w.check(t, path, false); err == nil || !strings.Contains(err.Error(), "newer toolhost") || strings.Contains(err.Error(), "damaged") {
		t.Errorf("records of a newer program: %v", err)
	}
	must(t, os.WriteFile(records, good, 0o600))
	must(t, os.Chmod(records, 0o666))
	if err := w.check(t, path, false); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("records that all may change: %v", err)
	}
	must(t, os.Remove(records))
	must(t, os.Symlink(path, records))
	if err := w.check(t, path, false); err == nil {
		t.Error("records behind a link are read")
	}
}

// Lost records are an error, too, until the operator accepts the loss.
func TestLostRecordsAreAnError(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, "ws/toolhost.yaml", "x")
	must(t, w.store.TrustFile(path, []byte("x")))
	must(t, os.Remove(filepath.Join(w.store.Dir(), "trust.json")))
	lock := filepath.Join(w.store.Dir(), "trust.lock")
	for what, err := range map[string]error{
		"a file is checked": w.check(t, path, false), "a file is trusted": w.store.TrustFile(path, []byte("y")),
		"a folder is used": w.store.Begin([]string{t.TempDir()}, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "are lost") || !strings.Contains(err.Error(), "remove "+lock) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.Remove(lock))
	must(t, w.store.TrustFile(path, []byte("y")))
}

// Changes by several toolhosts and commands of a user at the same time are all stored.
func TestChangesAtTheSameTimeAreAllKept(t *testing.T) {
	w := newWorld(t)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			store := trust.NewStore(w.store.Dir())
			if err := store.TrustFile(filepath.Join(w.workspace, fmt.Sprintf("%d.yaml", i)), []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	files, err := w.store.Files()
	if err != nil || len(files) != 20 {
		t.Errorf("%d files are kept, %v", len(files), err)
	}
}

// If a user has no home, the records are in a place where other users can create folders. A folder
// of another user there is refused.
func TestFolderOfAnotherUserIsRefused(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir := trust.Dir(func(string) string { return "" })
	store := trust.NewStore(dir)
	if _, err := store.Files(); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	if err := store.TrustFile(filepath.Join(temp, "toolhost.yaml"), nil); err != nil {
		t.Errorf("with a folder of one's own: %v", err)
	}
	folder := filepath.Dir(dir)
	refused := func(why string) {
		t.Helper()
		if _, err := store.Files(); err == nil {
			t.Errorf("records are read where %s", why)
		}
		if err := store.TrustFile(filepath.Join(temp, "agentd.yaml"), nil); err == nil {
			t.Errorf("records are written where %s", why)
		}
		if err := trust.Secure(dir); err == nil {
			t.Errorf("the state is secure where %s", why)
		}
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	refused("others can change the folder")
	moved := filepath.Join(temp, "moved")
	if err := errors.Join(os.Chmod(folder, 0o700), os.Rename(folder, moved), os.Symlink(moved, folder)); err != nil {
		t.Fatal(err)
	}
	refused("the folder is a link")
	if os.Getuid() == 0 {
		if err := errors.Join(os.Remove(folder), os.Mkdir(folder, 0o700), os.Chown(folder, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		refused("the folder is another user's")
	}
	if err := trust.Secure(filepath.Join(temp, "state", "toolhost")); err != nil {
		t.Errorf("another folder: %v", err)
	}
}

// TestTrustUnread trusts a plugin that cannot describe itself yet. Its first description is
// trusted, and no other; it keeps the names of its tools, and takes no other plugin's name.
func TestTrustUnread(t *testing.T) {
	store, folder := trust.NewStore(t.TempDir()), t.TempDir()
	docs, other := filepath.Join(folder, "docs"), filepath.Join(folder, "other")
	describe := func(digest, name string, tools ...string) trust.Description {
		return trust.Description{Digest: digest, Name: name, Names: tools}
	}
	folders := []string{folder}
	for _, step := range []struct {
		what string
		do   func() error
		want error
	}{
		{"unread", func() error { return store.TrustUnread(folders, docs, "docs", "sha256:1") }, nil},
		{"described with another digest", func() error { return store.TrustPlugin(folders, docs, describe("sha256:9", "docs", "evil"), true) }, nil},
		{"described", func() error { return store.TrustPlugin(folders, docs, describe("sha256:1", "docs", "find"), true) }, nil},
		{"another plugin", func() error { return store.TrustPlugin(folders, other, describe("sha256:3", "other", "find"), false) }, nil},
		{"unread under a taken name", func() error { return store.TrustUnread(folders, docs, "other", "sha256:1") }, trust.ErrTaken},
		{"unread again", func() error { return store.TrustUnread(folders, docs, "docs", "sha256:1") }, nil},
		{"described again", func() error {
			return store.TrustPlugin(folders, docs, describe("sha256:1", "docs", "find", "more"), true)
		}, nil},
		{"described once too often", func() error { return store.TrustPlugin(folders, docs, describe("sha256:1", "docs", "late"), true) }, nil},
	} {
		if err := step.do(); !errors.Is(err, step.want) {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	records, err := store.Plugins(folders)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"find": trust.RealSource(docs), "more": trust.RealSource(docs), "evil": "", "late": ""} {
		if got := records.Owner(name); got != want {
			t.Errorf("the owner of %s is %q, want %q", name, got, want)
		}
	}
}
