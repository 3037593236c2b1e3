// Package contentlink keeps files with the same content on disk only once. Most of a Python plugin
// is its environment, which is the same in the plugin's next build and, for the most part, in other
// plugins.
//
// A Folder has one file for each content, named by its hash. Copies of plugins have hard links to
// it. All these files are read-only, so a program has to replace a file to change it. The other
// names then keep the old content. Only a process with the rights of root can write into such a
// file and so change the content under all names.
//
// The package owns that folder and its links. It does not know which files are worth sharing.
package contentlink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Folder is a folder with one file for each content. Where the file system has no hard links,
// copies have separate files. Its methods are safe for concurrent use, also by several processes.
type Folder struct {
	dir  string
	mode fs.FileMode
}

// At returns the folder at a path. Adopt makes it with that mode if it does not exist.
func At(dir string, mode fs.FileMode) *Folder { return &Folder{dir, mode} }

// Adopt replaces a file by a link to the file with the same content in the folder, or gives it a
// name there if there is none. If the file cannot be shared, it does not change. hash is the hash
// of the file, as HashFile returns it, and mode its mode, which must be read-only.
//
// Adopt reads the file in the folder and compares its hash before it makes a link, so that a copy
// has the content that was hashed, whatever another program did to the folder.
func (f *Folder) Adopt(ctx context.Context, path, hash string, mode fs.FileMode) error {
	name := filepath.Join(f.dir, hash)
	if mode&0o111 != 0 {
		name += "-x" // all links of a file have the same mode
	}
	err := os.Link(path, name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(f.dir, f.mode); err == nil {
			err = os.Link(path, name)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		if sameFile(path, name) { // a rename of one name of a file over another one removes neither
			return nil
		}
		if !holdsContent(ctx, name, hash, mode) { // incomplete after a power failure, or changed by another program
			if err := os.Remove(name); err != nil {
				return orAlone(err)
			}
			return orAlone(os.Link(path, name))
		}
		temp := path + ".shared"
		if err := os.Link(name, temp); err != nil {
			return orAlone(err)
		}
		return os.Rename(temp, path)
	}
	return orAlone(err)
}

// orAlone returns nil for errors after which the file can stay unshared: the file system has no
// links or allows no more of them for one file, or another process removed or created a name at the
// same moment.
func orAlone(err error) error {
	for _, alone := range []error{fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, errors.ErrUnsupported, syscall.EMLINK, syscall.EXDEV, syscall.EOPNOTSUPP} {
		if errors.Is(err, alone) {
			return nil
		}
	}
	return err
}

// holdsContent reports whether a path is a regular file with a mode and a content of that hash.
func holdsContent(ctx context.Context, path, hash string, mode fs.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != mode {
		return false
	}
	found, err := HashFile(ctx, path)
	return err == nil && found == hash
}

// sameFile reports whether two paths are names of one file.
func sameFile(a, b string) bool {
	first, err := os.Lstat(a)
	if err != nil {
		return false
	}
	second, err := os.Lstat(b)
	return err == nil && os.SameFile(first, second)
}

// HashFile returns the SHA-256 of a file's content as lower-case hexadecimal digits. It fails when
// ctx ends.
func HashFile(ctx context.Context, path string) (string, error) {
	const piece = 4 << 20
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	for {
		switch _, err := io.CopyN(sum, file, piece); {
		case errors.Is(err, io.EOF):
			return hex.EncodeToString(sum.Sum(nil)), nil
		case err != nil:
			return "", err
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		}
	}
}

// Sweep removes the files that no copy links to, and the folder if it is empty then.
func (f *Folder) Sweep() error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); err == nil && ok && stat.Nlink == 1 {
			err = os.Remove(filepath.Join(f.dir, entry.Name()))
		}
		if !errors.Is(err, fs.ErrNotExist) { // another process swept at the same moment
			errs = append(errs, err)
		}
	}
	os.Remove(f.dir) // fails if the folder has files
	return errors.Join(errs...)
}
