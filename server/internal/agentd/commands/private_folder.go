package commands

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/store/claimed"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

const (
	// folderPrefix begins the names of the folders of private toolhosts.
	folderPrefix = program + "-"
	// folderMark is a file that only such folders contain. A name alone is not enough to remove a
	// folder that another program may have made.
	folderMark = "agentd.pid"
)

// folderForm matches the names that claimed.Make gives.
var folderForm = regexp.MustCompile(`^` + folderPrefix + `[a-z2-7]{10}$`)

// privateFolder holds the socket and the state of a private toolhost. It is locked while agentd, or
// a process that inherited the lock, lives.
type privateFolder struct {
	path  string
	claim *os.File
}

// makePrivateFolder makes a folder with a path that is short enough for sockets. Before, it removes
// the folders of this user's killed processes.
func makePrivateFolder(log *slog.Logger) (*privateFolder, error) {
	const room = 43 // for the folder and the socket
	parent, err := filepath.Abs(address.TempDir(room))
	if err != nil {
		return nil, fmt.Errorf("making a folder for toolhost: %w", err)
	}
	if err := sweepPrivateFolders(parent); err != nil {
		log.Warn("could not remove what a killed agentd left", "err", err)
	}
	path, claim, err := claimed.Make(parent, folderPrefix)
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

// socket returns the path of toolhost's socket. The socket has a separate folder: a listener locks
// the folder of its socket for a moment, and the private folder is locked already.
func (f *privateFolder) socket() string { return filepath.Join(f.path, "run", "toolhost.sock") }

// remove removes the folder with its content and releases the lock.
func (f *privateFolder) remove() error { return errors.Join(rmtree.Remove(f.path), f.claim.Close()) }

// sweepPrivateFolders removes the private folders in parent that no process has locked. It
// continues after an error, and returns all errors.
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
		_, err := claimed.RemoveUnclaimed(filepath.Join(parent, entry.Name()), func(dir string) error {
			if _, err := os.Lstat(filepath.Join(dir, folderMark)); err != nil {
				// removes an empty folder, whose agentd died right after it made the folder
				_ = os.Remove(dir)
				return nil
			}
			return rmtree.Remove(dir)
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
