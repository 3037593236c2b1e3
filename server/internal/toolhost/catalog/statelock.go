package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// StateLock prevents that two catalogs use one state folder. They would overwrite each other's
// decisions and remove each other's copies. The system releases the lock when the process ends in
// any way.
type StateLock struct{ file *os.File }

// LockState locks a state folder, which must exist. It does not wait: it fails if another process
// has the lock. The caller must call Release.
func LockState(dir string) (*StateLock, error) {
	path := filepath.Join(dir, "lock")
	file, err := filelock.Take(path)
	if errors.Is(err, filelock.ErrHeld) {
		holder := "another toolhost"
		if pid, err := os.ReadFile(path); err == nil && len(pid) > 0 {
			holder += " (process " + strings.TrimSpace(string(pid)) + ")"
		}
		return nil, fmt.Errorf("the state folder %s is in use by %s; stop that one, or choose another folder with --state", dir, holder)
	}
	if err != nil {
		return nil, fmt.Errorf("locking the state folder: %w", err)
	}
	// Only the message above uses the content.
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &StateLock{file: file}, nil
}

// Release releases the lock.
func (l *StateLock) Release() { l.file.Close() }
