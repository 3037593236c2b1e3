package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/rmtree"
)

const (
	// scratchPrefix begins the names of scratch folders.
	scratchPrefix = "toolhost-scratch-"
	// scratchMark is a file that only a scratch folder holds: a name is too little to remove what somebody else may have made.
	scratchMark = "toolhost.pid"
)

// scratchForm is how limits.MakeClaimed names a folder.
var scratchForm = regexp.MustCompile(`^` + scratchPrefix + `[a-z2-7]{10}$`)

// scratch is a folder for what a command needs while it runs. If the command is killed, the next one that makes such a folder
// removes it.
type Scratch struct {
	Path  string
	claim *os.File
}

// makeScratch makes a folder with a path that is short enough for sockets. The path of a socket needs one more folder: who
// listens locks that of the socket for a moment, and this one is locked already.
func MakeScratch() (*Scratch, error) {
	parent := runDirParent()
	removeScratches(parent)
	path, claim, err := limits.MakeClaimed(parent, scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a folder to work in: %w; set TMPDIR to a folder that can be written", err)
	}
	s := &Scratch{path, claim}
	if err := os.WriteFile(filepath.Join(path, scratchMark), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("making a folder to work in: %w", err), s.Remove())
	}
	return s, nil
}

// remove removes the folder with all that is in it and gives the claim up.
func (s *Scratch) Remove() error { return errors.Join(rmtree.Remove(s.Path), s.claim.Close()) }

// removeScratches removes what commands left that were killed. What cannot be removed is another user's, or harms nobody.
func removeScratches(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !scratchForm.MatchString(e.Name()) {
			continue
		}
		_, _ = limits.RemoveUnclaimed(filepath.Join(parent, e.Name()), func(dir string) error {
			if _, err := os.Lstat(filepath.Join(dir, scratchMark)); err != nil {
				return err
			}
			return rmtree.Remove(dir)
		})
	}
}
