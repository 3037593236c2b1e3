package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxFileBytes bounds a file. Readers of configuration have narrower bounds.
const maxFileBytes = 8 << 20

// Find returns the configuration file of a name that is used if the operator names none: the one in
// the folder cwd, else the one in $XDG_CONFIG_HOME/toolhost, where XDG_CONFIG_HOME defaults to
// $HOME/.config. The second counts as named by the operator. The zero File means that there is
// none. If a file was trusted in cwd and is gone, the error is *Untrusted. getenv looks up the
// environment. Find makes no other decision: see Check.
func (s *Store) Find(name string, getenv func(string) string, cwd string) (File, error) {
	here := filepath.Join(cwd, name)
	if _, err := os.Lstat(here); err == nil {
		return Read(here, false)
	} else if !absent(err) {
		return File{}, fmt.Errorf("looking for the configuration: %w", err)
	}
	if err := s.Gone(cwd, name); err != nil {
		return File{}, err
	}
	folder := ConfigDir(getenv)
	if folder == "" {
		return File{}, nil
	}
	path := filepath.Join(folder, name)
	if _, err := os.Lstat(path); absent(err) {
		return File{}, nil
	}
	return Read(path, true)
}

// ConfigDir returns the operator's folder of configuration, or "" for a user without a home.
func ConfigDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolhost")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "toolhost")
	}
	return ""
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Read reads a configuration file, once. A file that the operator did not name must be a regular
// one: a pipe that a tool left there must not stop the program.
func Read(path string, named bool) (File, error) {
	flags := os.O_RDONLY
	if !named {
		flags |= unix.O_NONBLOCK
	}
	file, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return File{}, fmt.Errorf("reading the configuration: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && !named && !info.Mode().IsRegular() {
		return File{}, &Untrusted{Path: path, Reason: "it is not a regular file", Help: "remove it, or name a file elsewhere with --config"}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFileBytes)
	}
	if err != nil {
		return File{}, fmt.Errorf("reading the configuration: %w", err)
	}
	return File{Path: path, Data: data, Named: named}, nil
}
