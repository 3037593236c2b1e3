package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
)

// world is a folder with a store and a workspace.
type world struct {
	dir, workspace string
	store          *trust.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir, filepath.Join(dir, "ws"), trust.NewStore(filepath.Join(dir, "state"))}
	for _, folder := range []string{w.workspace, filepath.Join(dir, "etc")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check reads a file and decides about it as the commands do.
func (w *world) check(t *testing.T, path string, named bool, writable ...string) error {
	t.Helper()
	file, err := trust.Read(path, named)
	if err != nil {
		return err
	}
	file.Writable = writable
	return w.store.Check(file)
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	untrusted, ok := errors.AsType[*trust.Untrusted](err)
	if !ok {
		t.Fatalf("the error is %v, want *Untrusted", err)
	}
	for _, word := range words {
		if !strings.Contains(untrusted.Error(), word) {
			t.Errorf("%q is not in: %v", word, untrusted)
		}
	}
}

func TestAFoundFileHasToBeTrusted(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, "ws/toolhost.yaml", "locked: true")
	refused(t, w.check(t, path, false), "found in the current folder", "toolhost trust "+path)
	must(t, w.store.TrustFile(path, []byte("locked: true")))
	must(t, w.check(t, path, false))

	w.write(t, "ws/toolhost.yaml", "locked: false")
	refused(t, w.check(t, path, false), "changed since", "toolhost trust --diff "+path)
	w.write(t, "ws/toolhost.yaml", "locked: true")
	must(t, w.check(t, path, false))

	must(t, os.Mkdir(filepath.Join(w.workspace, "sub"), 0o700))
	refused(t, w.check(t, w.write(t, "ws/sub/toolhost.yaml", "locked: true"), false), "found in the current folder") // another folder
	was, err := w.store.RevokeFile(path)
	if !was || err != nil {
		t.Fatalf("revoked: %v, %v", was, err)
	}
	refused(t, w.check(t, path, false), "found in the current folder")
}

func TestAFileThatWasTrustedAndIsGoneIsMissed(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, "ws/toolhost.yaml", "policy: {}")
	must(t, w.store.TrustFile(path, []byte("policy: {}")))
	must(t, os.Remove(path))
	env := func(string) string { return "" }
	_, err := w.store.Find("toolhost.yaml", env, w.workspace)
	refused(t, err, "is gone", "toolhost trust --revoke "+path)
	if _, err := w.store.RevokeFile(path); err != nil {
		t.Fatal(err)
	}
	if file, err := w.store.Find("toolhost.yaml", env, w.workspace); err != nil || file.Path != "" {
		t.Errorf("found %q, %v", file.Path, err)
	}
}

// A file that the operator names is trusted, unless plugins can write it or a link on its path, now
// or under an earlier toolhost.
func TestANamedFileIsTrusted(t *testing.T) {
	w := newWorld(t)
	etc, inside := w.write(t, "etc/a.yaml", "x"), w.write(t, "ws/a.yaml", "x")
	link := func(target, name string) string {
		path := filepath.Join(w.dir, name)
		must(t, os.Symlink(target, path))
		return path
	}
	must(t, w.check(t, etc, true, w.workspace))
	must(t, w.check(t, inside, true))
	for what, path := range map[string]string{
		"inside":                            inside,
		"a link to a file inside":           link(inside, "etc/link.yaml"),
		"a link inside to a file outside":   link(etc, "ws/link.yaml"),
		"through a link inside and out":     link(link(etc, "ws/hop"), "etc/hop.yaml"),
		"a folder that is a link inside":    filepath.Join(link(filepath.Join(w.dir, "etc"), "ws/etc"), "a.yaml"),
		"a folder that is a relative link":  filepath.Join(link("../ws", "etc/ws"), "a.yaml"),
		"a way that goes up again":          w.workspace + "/../ws/a.yaml",
		"a link whose target goes up again": link("../etc/../ws/a.yaml", "etc/up.yaml"),
	} {
		if err := w.check(t, path, true, w.workspace); err == nil {
			t.Errorf("%s: %s is used", what, path)
		} else {
			refused(t, err, "tools may write")
		}
	}
	must(t, os.Link(etc, filepath.Join(w.dir, "etc/second.yaml")))
	refused(t, w.check(t, etc, true, w.workspace), "hard links")

	must(t, w.store.AddWritable(w.workspace))
	refused(t, w.check(t, inside, true), "could write earlier") // by a toolhost that has ended
}

func TestTheConfigurationFolderIsTheOperators(t *testing.T) {
	w := newWorld(t)
	must(t, os.MkdirAll(filepath.Join(w.dir, "home/.config/toolhost"), 0o700))
	path := w.write(t, "home/.config/toolhost/toolhost.yaml", "x")
	env := func(name string) string { return map[string]string{"HOME": filepath.Join(w.dir, "home")}[name] }
	file, err := w.store.Find("toolhost.yaml", env, w.workspace)
	if err != nil || file.Path != path || !file.Named {
		t.Fatalf("found %+v, %v", file, err)
	}
	must(t, w.store.Check(file))
	here := w.write(t, "ws/toolhost.yaml", "y") // it takes precedence, and is not ignored although it is not trusted
	file, err = w.store.Find("toolhost.yaml", env, w.workspace)
	if err != nil || file.Path != here || file.Named {
		t.Fatalf("found %+v, %v", file, err)
	}
	must(t, os.Remove(here))
	must(t, os.Symlink("nowhere", here)) // this one is not ignored either
	if _, err := w.store.Find("toolhost.yaml", env, w.workspace); err == nil {
		t.Error("a link that leads nowhere is passed over")
	}
}

func TestWhatIsFoundIsARegularFile(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.workspace, "toolhost.yaml")
	must(t, syscall.Mkfifo(path, 0o600))
	_, err := trust.Read(path, false) // which would otherwise wait for a writer
	refused(t, err, "not a regular file")
}

// A device or a pipe that never ends cannot fill the memory.
func TestAFileThatNeverEndsIsRefused(t *testing.T) {
	if _, err := trust.Read("/dev/zero", true); err == nil || !strings.Contains(err.Error(), "/dev/zero has more than") {
		t.Errorf("got %v", err)
	}
}
