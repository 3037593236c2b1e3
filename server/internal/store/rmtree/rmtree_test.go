package rmtree_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

func TestRemove(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
	}{
		{"nothing", func(*testing.T, string) {}},
		{"a file", func(t *testing.T, path string) { write(t, path) }},
		{"a sealed copy", func(t *testing.T, path string) {
			write(t, filepath.Join(path, "a", "b", "c"))
			chmod(t, 0o500, filepath.Join(path, "a", "b"), filepath.Join(path, "a"), path)
		}},
		{"folders that cannot even be read", func(t *testing.T, path string) {
			write(t, filepath.Join(path, "a", "b", "c"))
			write(t, filepath.Join(path, "d", "e"))
			chmod(t, 0, filepath.Join(path, "a", "b"), filepath.Join(path, "a"), filepath.Join(path, "d"), path)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			unprivileged(t, func(folder string) {
				path := filepath.Join(folder, "gone")
				test.make(t, path)
				if err := rmtree.Remove(path); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it is still there: %v", err)
				}
			})
		})
	}
}

// The target of a link in a sealed folder keeps its mode and content.
func TestLinksAreNotFollowed(t *testing.T) {
	unprivileged(t, func(folder string) {
		outside, path := filepath.Join(folder, "outside"), filepath.Join(folder, "gone")
		write(t, filepath.Join(outside, "file"))
		write(t, filepath.Join(path, "a", "b"))
		if err := os.Symlink(outside, filepath.Join(path, "a", "link")); err != nil {
			t.Error(err)
		}
		chmod(t, 0o500, outside, filepath.Join(path, "a"))
		if err := rmtree.Remove(path); err != nil {
			t.Error(err)
		}
		info, err := os.Stat(outside)
		if err != nil || info.Mode().Perm() != 0o500 {
			t.Errorf("what it leads to is %v, %v", info, err)
		}
		if _, err := os.Stat(filepath.Join(outside, "file")); err != nil {
			t.Error(err)
		}
		chmod(t, 0o700, outside)
	})
}

// Remove reports an entry that it cannot remove because of the surrounding folder's mode. It does
// not change that mode.
func TestRemoveReportsWhatItCannot(t *testing.T) {
	unprivileged(t, func(folder string) {
		parent := filepath.Join(folder, "parent")
		write(t, filepath.Join(parent, "kept", "file"))
		chmod(t, 0o500, parent)
		if err := rmtree.Remove(filepath.Join(parent, "kept")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("error %v", err)
		}
		chmod(t, 0o700, parent)
	})
}

func write(t *testing.T, path string) {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte("x"), 0o400)
	}
	if err != nil {
		t.Error(err)
	}
}

func chmod(t *testing.T, mode fs.FileMode, paths ...string) {
	for _, path := range paths {
		if err := os.Chmod(path, mode); err != nil {
			t.Error(err)
		}
	}
}
