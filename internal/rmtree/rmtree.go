// Package rmtree removes folders that this program made and whose insides others may have closed.
//
// It owns the one way in which sealed copies of plugins, and what plugins left in their own folders, go away for users who
// are not root. It does not decide what is removed, and changes nothing outside of the folder.
package rmtree

import (
	"errors"
	"io/fs"
	"os"
)

// Remove removes a file or folder with all that is in it, as os.RemoveAll does, and folders too that their owner, this
// user, may not change. What is not there is no error. Symbolic links are removed, never followed.
func Remove(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	open(path) // what cannot be opened is reported when removing fails again
	return os.RemoveAll(path)
}

// open lets this user change a folder and all folders in it, as far as they are this user's.
func open(path string) {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() || os.Chmod(path, 0o700) != nil {
		return
	}
	// Within a root, no name leads out of it, even if somebody puts a link in the place of a folder meanwhile.
	root, err := os.OpenRoot(path)
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = root.Chmod(name, 0o700)
		}
		if err != nil {
			return fs.SkipDir
		}
		return nil
	})
}
