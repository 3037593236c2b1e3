package catalog

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

// shared lets the copies of plugin folders share files. Most of a plugin in Python is its
// environment, which is the same in the next build and, for the most part, in other plugins. The
// folder STATE/shared has a file for each content, and copies have hard links to it. All of them
// are read-only. If a file has no other name than the one there, no plugin uses it, and sweep
// removes it.
//
// Before a copy gets a link to a file, the file is read and its hash is compared, so that what was
// hashed is what runs. Where the file system has no hard links, copies have separate files.
type shared struct{ dir string }

func openShared(stateDir string) (*shared, error) {
	s := &shared{dir: filepath.Join(stateDir, "shared")}
	return s, os.MkdirAll(s.dir, 0o700)
}

// adopt replaces a file that was just copied by a link to the shared file with the same content, or
// makes it the shared file. If it cannot be shared, it does not change.
func (s *shared) adopt(ctx context.Context, path, hash string, mode fs.FileMode) error {
	name := filepath.Join(s.dir, hash)
	if mode&0o111 != 0 {
		name += "-x" // all links of a file have the same mode
	}
	err := os.Link(path, name)
	if errors.Is(err, fs.ErrExist) {
		if !holdsContent(ctx, name, hash, mode) { // incomplete after a power failure, or changed by another program
			if err := os.Remove(name); err != nil {
				return err
			}
			return s.orAlone(os.Link(path, name))
		}
		temp := path + ".shared"
		if err := os.Link(name, temp); err != nil {
			return s.orAlone(err)
		}
		return os.Rename(temp, path)
	}
	return s.orAlone(err)
}

// orAlone returns nil for errors of file systems that have no links, or allow no more of them for
// one file.
func (s *shared) orAlone(err error) error {
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
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, &contextReader{ctx, file})
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == hash
}

// sweep removes the files that no copy links to.
func (s *shared) sweep() error {
	entries, err := os.ReadDir(s.dir)
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
			err = os.Remove(filepath.Join(s.dir, entry.Name()))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
