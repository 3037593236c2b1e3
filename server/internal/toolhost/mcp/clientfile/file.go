package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/internal/store/ownership"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// MaxBytes bounds a file. The state of a client, which is in the same file as its servers in some,
// fits.
const MaxBytes = 32 << 20

// file is a configuration file as it was read.
type file struct {
	path   string // behind all links
	data   []byte
	mode   fs.FileMode
	exists bool
}

// readFile reads the file at a path, or behind the links there. A file that does not exist is
// empty. It refuses a file that another user owns or can change, because the client starts what the
// file says. The same holds for its folder, and for the one that contains a folder that does not
// exist. If within is not empty, it holds for all folders up to that one, and links must not lead
// out of it: a project may come from somebody else.
func readFile(path, within string) (*file, error) {
	real, err := resolve(path)
	if err != nil {
		return nil, err
	}
	folder := ""
	if within != "" {
		if folder, err = filepath.EvalSymlinks(within); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(real, strings.TrimSuffix(folder, "/")+"/") {
			return nil, &trust.Untrusted{Path: path, Reason: "a link leads out of the project, to " + real, Help: "remove the link"}
		}
	}
	f := &file{path: real, mode: 0o600}
	for parent := filepath.Dir(real); ; parent = filepath.Dir(parent) {
		err := check(parent)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if parent == folder || folder == "" && err == nil || parent == filepath.Dir(parent) {
			break
		}
	}
	opened, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", real)
	}
	if err := check(real); err != nil {
		return nil, err
	}
	if f.data, err = io.ReadAll(io.LimitReader(opened, MaxBytes+1)); err != nil {
		return nil, err
	}
	if len(f.data) > MaxBytes {
		return nil, fmt.Errorf("%s has more than %d bytes", real, MaxBytes)
	}
	f.mode, f.exists = info.Mode().Perm(), true
	return f, nil
}

// resolve follows the links of a path whose last parts may not exist.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a link to a file that does not exist; create that file, or remove the link", path)
	}
	folder, err := resolve(filepath.Dir(path))
	return filepath.Join(folder, filepath.Base(path)), err
}

// check refuses a file or folder that another user owns or can change.
func check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	own := !ok || int(stat.Uid) == os.Getuid()
	switch {
	case !own && (!info.IsDir() || stat.Uid != 0):
		return &trust.Untrusted{Path: path, Reason: fmt.Sprintf("it belongs to another user (uid %d)", stat.Uid), Help: "run the command as that user, or remove it"}
	case ownership.Shared(info) && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0):
		return &trust.Untrusted{Path: path, Reason: "other users can change it", Help: "look at it, and run: chmod go-w " + trust.Quote(path)}
	}
	return nil
}

// replace writes the file, unless it has changed since it was read.
func (f *file) replace(data []byte) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.path, data, f.mode)
}

// remove removes the file, unless it has changed since it was read.
func (f *file) remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	return os.Remove(f.path)
}

// unchanged returns an error if the file has another content than was read. A client can write its
// file at any time.
func (f *file) unchanged() error {
	now, err := readFile(f.path, "")
	if err == nil && (now.exists != f.exists || !bytes.Equal(now.data, f.data)) {
		err = fmt.Errorf("%s was changed at the same time; run the command again", f.path)
	}
	return err
}
