package releases

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// home is the home folder of a user of a release. Some stored files contain its path. In testdata
// they contain storedHome instead, and during a test the path of the test's folder.
type home string

const storedHome = "/home/of-the-release"

func (h home) path(name string) string   { return filepath.Join(string(h), name) }
func (h home) socket(name string) string { return "unix://" + h.path(name+".sock") }

// newHome returns a new home folder with plugins. The test removes it.
func newHome(t *testing.T) home {
	t.Helper()
	// The path is short, because the length of a socket path is limited.
	name, err := os.MkdirTemp("/tmp", "toolhost-")
	if err != nil {
		t.Fatal(err)
	}
	h := home(name)
	t.Cleanup(func() { _ = removeAll(name) })
	for _, dir := range []string{"plugins", "workspace"} {
		if err := os.Mkdir(h.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, plugin := range []string{"calculator", "counterplugin"} {
		data, err := os.ReadFile(filepath.Join(bin, plugin))
		if err == nil {
			err = os.WriteFile(h.path("plugins/"+plugin), data, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// removeAll removes a folder, with sealed copies of plugins.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// restore returns a new home folder with the files of a fixture.
func restore(t *testing.T, fixture string) home {
	t.Helper()
	h := newHome(t)
	copyFiles(t, filepath.Join(fixture, "home"), string(h), storedHome, string(h))
	h.adopt(t)
	return h
}

// adopt makes the calls of the ledger those of this user. The release recorded them for root, and
// an id means something only to the principal that used it.
func (h home) adopt(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", h.path("state/calls.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT number, session, id FROM calls WHERE principal = 'uid:0'")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[int64]callstore.Key{}
	for rows.Next() {
		key, number := callstore.Key{Principal: "uid:" + strconv.Itoa(os.Getuid())}, int64(0)
		if err := rows.Scan(&number, &key.Session, &key.ID); err != nil {
			t.Fatal(err)
		}
		calls[number] = key
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	for number, key := range calls {
		hash := key.Hash()
		if _, err := db.Exec("UPDATE calls SET principal = ?, hash = ? WHERE number = ?", key.Principal, hash[:], number); err != nil {
			t.Fatal(err)
		}
	}
}

// copyFiles copies a folder, and replaces one text in all files by another one.
func copyFiles(t *testing.T, from, to, old, instead string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || skipped(strings.TrimPrefix(name, from)) {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(name, from))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, bytes.ReplaceAll(data, []byte(old), []byte(instead)), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// skipped reports whether a fixture leaves a file out. It leaves out programs, and files that exist
// only as long as their process.
func skipped(name string) bool {
	for _, part := range []string{"/plugins/", "/files/", "-shm", ".claims", ".sock", "/lock", "trust.lock", ".db.lock", "/.lock", "/token"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
