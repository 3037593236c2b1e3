package commands

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// agentd removes a private folder with sealed copies of plugins, whose folders not even the owner
// can write.
func TestSealedCopiesGoWithTheFolder(t *testing.T) {
	w := newWorld(t)
	t.Setenv("TMPDIR", w.folder)
	asUser(t, w.folder, func() {
		f, err := makePrivateFolder(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Error(err)
			return
		}
		sealed := filepath.Join(f.path, "state", "plugins", "digest", "files")
		err = errors.Join(os.MkdirAll(sealed, 0o700), os.WriteFile(filepath.Join(sealed, "main.py"), nil, 0o400), os.Chmod(sealed, 0o500))
		if err != nil {
			t.Error(err)
		}
		if err := f.remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
	})
}

// asUser calls f as a user without privileges who owns the folder. As root, it uses a thread with
// another user id for the file system. f must not end the test.
func asUser(t *testing.T, folder string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		err := syscall.Setfsuid(nobody)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
