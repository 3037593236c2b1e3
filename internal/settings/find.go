package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Find returns the path of the file to use if none is named: the one of that name in the folder cwd, else in
// $XDG_CONFIG_HOME/toolhost, where XDG_CONFIG_HOME is $HOME/.config if it is not set; "" if there is none. getenv looks up
// the environment.
//
// The file decides which programs run, and who is asked. One in cwd that belongs to another user, or that everybody may change, is an
// error: a folder such as /tmp must not be enough to run somebody else's programs. Root's files are trusted.
func Find(name string, getenv func(string) string, cwd string) (string, error) {
	for _, path := range candidates(name, getenv, cwd) {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			continue
		case err != nil:
			return "", fmt.Errorf("looking for the configuration: %w", err)
		case filepath.Dir(path) == filepath.Clean(cwd):
			link, err := os.Lstat(path) // a link has an owner of its own
			if err != nil {
				return "", fmt.Errorf("looking for the configuration: %w", err)
			}
			if err := cmp.Or(Trusted(path, link), Trusted(path, info)); err != nil {
				return "", err
			}
		}
		return path, nil
	}
	return "", nil
}

func candidates(name string, getenv func(string) string, cwd string) []string {
	paths := []string{filepath.Join(cwd, name)}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return append(paths, filepath.Join(dir, "toolhost", name))
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return append(paths, filepath.Join(home, ".config", "toolhost", name))
	}
	return paths
}

// Trusted says what is wrong with a file that nobody named, or nil.
func Trusted(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(stat.Uid) != os.Getuid() && stat.Uid != 0:
		return fmt.Errorf("the configuration %s belongs to another user (uid %d); name it with --config if you trust it", path, stat.Uid)
	case info.Mode().IsRegular() && info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("the configuration %s can be changed by everybody; run: chmod o-w %s", path, path)
	}
	return nil
}
