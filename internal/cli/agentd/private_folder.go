package agentd

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/rmtree"
)

const (
	// folderPrefix begins the names of the folders of private toolhosts.
	folderPrefix = program + "-"
	// folderMark is a file that only such a folder holds: a name is too little to remove what somebody else may have made.
	folderMark = "agentd.pid"
)

// folderForm is how limits.MakeClaimed names a folder.
var folderForm = regexp.MustCompile(`^` + folderPrefix + `[a-z2-7]{10}$`)

// privateFolder is what a private toolhost has for itself: its socket and its state. It is claimed for as long as agentd
// or a process that got the claim lives.
type privateFolder struct {
	path  string
	claim *os.File
}

// makePrivateFolder makes a folder with a path that is short enough for sockets, after it has removed those that others
// of this user left there when they were killed.
func makePrivateFolder(log *slog.Logger) (*privateFolder, error) {
	const longest = 60
	parent := os.TempDir()
	if len(parent) > longest {
		parent = "/tmp"
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("making a folder for toolhost: %w", err)
	}
	if err := sweepPrivateFolders(parent); err != nil {
		log.Warn("could not remove what a killed agentd left", "err", err)
	}
	path, claim, err := limits.MakeClaimed(parent, folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a folder for toolhost: %w; set TMPDIR to a folder that can be written", err)
	}
	f := &privateFolder{path, claim}
	err = errors.Join(
		os.WriteFile(filepath.Join(path, folderMark), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600),
		os.Mkdir(filepath.Dir(f.socket()), 0o700),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a folder for toolhost: %w", err), f.remove())
	}
	return f, nil
}

// socket returns where toolhost listens. It has a folder to itself, for who listens locks the folder of the socket for a
// moment, and the other one is locked already.
func (f *privateFolder) socket() string { return filepath.Join(f.path, "run", "toolhost.sock") }

// remove removes the folder with all that is in it and gives the claim up.
func (f *privateFolder) remove() error { return errors.Join(rmtree.Remove(f.path), f.claim.Close()) }

// sweepPrivateFolders removes the private folders in parent that nobody claims. It goes on after an error and returns
// all of them.
func sweepPrivateFolders(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() || !folderForm.MatchString(entry.Name()) {
			continue
		}
		_, err := limits.RemoveUnclaimed(filepath.Join(parent, entry.Name()), func(dir string) error {
			if _, err := os.Lstat(filepath.Join(dir, folderMark)); err != nil {
				_ = os.Remove(dir) // works if it is empty: its agentd died right after making it
				return nil
			}
			return rmtree.Remove(dir)
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
