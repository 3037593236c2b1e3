//go:build unix

// Package rmtree removes folders that this program made and that it may not be able to enter,
// because their modes were changed.
//
// It removes sealed copies of plugins, and folders that plugins left, for users that are not root,
// however deep a plugin nested its folders. It does not decide which folders to remove, and changes
// nothing outside of the folder.
package rmtree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// batch is the number of names that are read from a folder at once.
const batch = 1024

// Remove removes a file or folder with its content. Unlike os.RemoveAll, it also removes folders
// that their owner, this user, may not change. A path that does not exist is no error. Symbolic
// links are removed and never followed. Remove needs two descriptors and little memory, whatever
// the folder contains. An error names the first thing that could not be removed.
func Remove(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || !info.IsDir() {
		return err
	}
	if err := empty(path); err != nil {
		return err
	}
	return os.Remove(path)
}

// remover empties one folder, the base. To empty a folder in it, remover moves that folder's
// folders one level up, into the base. So no path gets long, and nothing is recursive.
type remover struct {
	path  string
	base  int
	moved int
	err   error // the first error of this pass
}

func empty(path string) error {
	_ = os.Chmod(path, 0o700) // a failure shows when the folder is opened
	base, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(base)
	r := &remover{path: path, base: base}
	for {
		r.err = nil
		found, removed := 0, 0
		err := each(base, ".", func(_ int, name string) {
			found++
			if r.discard(name) {
				removed++
			}
		})
		switch {
		case err != nil:
			return &fs.PathError{Op: "readdir", Path: path, Err: err}
		case found == 0:
			return nil
		case removed == 0:
			return r.err
		}
	}
}

// discard removes a file or folder from the base folder, and moves the folders in it into the base.
// It reports whether it was removed.
func (r *remover) discard(name string) bool {
	if remove(r.base, name) == nil {
		return true
	}
	_ = unix.Fchmodat(r.base, name, 0o700, 0) // it is a folder: everything else could be removed
	err := each(r.base, name, func(folder int, inner string) {
		if remove(folder, inner) == nil {
			return
		}
		_ = unix.Fchmodat(folder, inner, 0o700, 0) // a folder can be moved only by a user that may change it
		for {
			r.moved++
			err := unix.Renameat(folder, inner, r.base, ".removed-"+strconv.Itoa(r.moved))
			if err == nil {
				return
			}
			if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOTDIR) { // other errors than a name that is taken
				r.note(inner, err)
				return
			}
		}
	})
	if err == nil {
		err = unix.Unlinkat(r.base, name, unix.AT_REMOVEDIR)
	}
	if err != nil {
		r.note(name, err)
	}
	return err == nil
}

// note records an error without the path, which may be of any length.
func (r *remover) note(name string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("removing %q, in %s: %w", name, r.path, err)
	}
}

// remove removes a file or an empty folder.
func remove(folder int, name string) error {
	if err := unix.Unlinkat(folder, name, 0); err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return unix.Unlinkat(folder, name, unix.AT_REMOVEDIR)
}

// each calls f with the descriptor of a folder and each name in it. Names may be missed while f
// changes the folder.
func each(parent int, name string, f func(folder int, name string)) error {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	folder := os.NewFile(uintptr(fd), "folder")
	defer folder.Close()
	for {
		names, err := folder.Readdirnames(batch)
		for _, name := range names {
			f(fd, name)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
