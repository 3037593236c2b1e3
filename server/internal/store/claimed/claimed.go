// Package claimed makes folders that a process claims, and finds those whose process has ended. A
// claim is a lock, so the operating system releases it when the process ends.
//
// All functions are safe for concurrent use.
package claimed

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// randomLen is the number of random characters in the name of a claimed folder.
const randomLen = 10

// Make makes a folder whose name begins with prefix, closed to other users, and claims it by
// a lock on the folder. The operating system releases the lock when the process ends. Closing the
// file gives the claim up.
func Make(parent, prefix string) (string, *os.File, error) {
	const tries = 10 // one is enough unless a sweep removes a folder between its making and its claim
	for range tries {
		dir := filepath.Join(parent, prefix+strings.ToLower(rand.Text()[:randomLen]))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", nil, err
		}
		claim, err := claim(dir)
		if err != nil {
			return "", nil, errors.Join(err, os.Remove(dir))
		}
		if claim != nil {
			return dir, claim, nil
		}
	}
	return "", nil, fmt.Errorf("making a folder in %s: others remove it as fast as it is made", parent)
}

// HasForm reports whether name is one that Make gives for prefix. A folder with another
// name belongs to another program, even if its name begins with prefix.
func HasForm(name, prefix string) bool {
	random, ok := strings.CutPrefix(name, prefix)
	return ok && len(random) == randomLen && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// claim locks the folder. It returns nil if another process holds the lock, or if the folder does
// not exist any more.
func claim(dir string) (*os.File, error) {
	file, err := filelock.TakeFolder(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, filelock.ErrHeld) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !filelock.Names(dir, file) {
		return nil, file.Close()
	}
	return file, nil
}

// RemoveUnclaimed calls remove for a folder of Make that no process claims, and reports
// whether it did. It does not touch folders of other users.
func RemoveUnclaimed(dir string, remove func(string) error) (bool, error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false, nil
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return false, nil
	}
	claim, err := claim(dir)
	if err != nil || claim == nil {
		return false, err
	}
	defer claim.Close()
	if err := remove(dir); err != nil {
		return false, fmt.Errorf("removing what a dead toolhost left: %w", err)
	}
	return true, nil
}
