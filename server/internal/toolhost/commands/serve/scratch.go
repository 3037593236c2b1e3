package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/toolhost/toolhost/server/internal/store/claimed"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

const (
	// scratchPrefix begins the names of scratch folders.
	scratchPrefix = "toolhost-scratch-"
	// scratchMark is a file that only scratch folders contain. A name alone is not enough to remove
	// a folder that another program may have made.
	scratchMark = "toolhost.pid"
)

// Scratch is a folder for the files of a running command. If the command is killed, the next
// command that makes a scratch folder removes it.
type Scratch struct {
	Path  string
	claim *os.File
}

// MakeScratch makes a folder with a path that is short enough for sockets. A socket needs a folder
// inside it: a listener locks the folder of its socket for a moment, and the scratch folder is
// locked already.
func MakeScratch() (*Scratch, error) {
	parent := runDirParent()
	removeScratches(parent)
	path, claim, err := claimed.Make(parent, scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a folder to work in: %w; set TMPDIR to a folder that can be written", err)
	}
	s := &Scratch{path, claim}
	if err := os.WriteFile(filepath.Join(path, scratchMark), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("making a folder to work in: %w", err), s.Remove())
	}
	return s, nil
}

// Remove removes the folder with its content and releases the lock.
func (s *Scratch) Remove() error { return errors.Join(rmtree.Remove(s.Path), s.claim.Close()) }

// removeScratches removes the folders of killed commands. A folder that it cannot remove belongs to
// another user or does no harm.
func removeScratches(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !claimed.HasForm(e.Name(), scratchPrefix) {
			continue
		}
		_, _ = claimed.RemoveUnclaimed(filepath.Join(parent, e.Name()), func(dir string) error {
			if _, err := os.Lstat(filepath.Join(dir, scratchMark)); err != nil {
				return err
			}
			return rmtree.Remove(dir)
		})
	}
}
