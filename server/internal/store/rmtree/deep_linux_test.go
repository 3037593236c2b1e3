package rmtree_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

// nest makes nested folders, deeper than any path can be long, with a file in each and a mode.
func nest(path string, depth int, mode uint32) error {
	at, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for i := 0; i < depth && err == nil; i++ {
		err = errors.Join(unix.Mkdirat(at, "deeper", 0o700), unix.Mkdirat(at, ".removed-1", 0o700))
		if err != nil {
			break
		}
		var next int
		if next, err = unix.Openat(at, "deeper", unix.O_RDONLY|unix.O_DIRECTORY, 0); err == nil {
			err = errors.Join(unix.Fchmod(at, mode), unix.Close(at))
			at = next
		}
	}
	return errors.Join(err, unix.Close(at))
}

// Folders of any depth can be removed. Neither the number of descriptors nor the length of paths is
// a limit.
func TestRemoveDeepFolders(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	const few = 64
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: few, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &before) })
	for _, mode := range []uint32{0o700, 0o500, 0} {
		unprivileged(t, func(folder string) {
			path := filepath.Join(folder, "gone")
			err := os.Mkdir(path, 0o700)
			if err == nil {
				err = nest(path, 2000, mode)
			}
			if err != nil {
				t.Errorf("nesting folders of mode %o: %v", mode, err)
			}
			if err := rmtree.Remove(path); err != nil {
				t.Errorf("of mode %o: %v", mode, err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("of mode %o: it is still there: %v", mode, err)
			}
		})
	}
}

// An error deep inside has a short message, and everything else is removed.
func TestErrorsAreShort(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root can put something into a user's folder that the user cannot remove")
		return
	}
	unprivileged(t, func(folder string) {
		path := filepath.Join(folder, "gone")
		deep := filepath.Join(path, strings.Repeat("deeper/", 300))
		write(t, filepath.Join(deep, "file"))
		foreign := filepath.Join(deep, "foreign")
		write(t, filepath.Join(foreign, "file"))
		asRoot(t, func() error { return errors.Join(os.Chown(foreign, 0, 0), os.Chmod(foreign, 0o700)) })
		err := rmtree.Remove(path)
		if err == nil || len(err.Error()) > len(path)+200 || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("error %v", err)
		}
	})
}

// asRoot calls f with the file system rights of root on a thread that has given them up.
func asRoot(t *testing.T, f func() error) {
	t.Helper()
	const nobody = 65534
	if err := errors.Join(syscall.Setfsuid(0), f(), syscall.Setfsuid(nobody)); err != nil {
		t.Error(err)
	}
}
