package reaper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/claimed"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

const (
	// runPrefix is the prefix of names of run folders.
	runPrefix = "toolhost-"
	// tokenFile holds a toolhost's token in its run folder. Sweep recognizes run folders by it.
	tokenFile = "token"
)

// RunDir is the run folder of one toolhost, for its sockets and its plugins' files.
type RunDir struct {
	path  string
	claim *os.File
}

// MakeRunDir makes a run folder in parent, which only this user may enter, and claims it for the
// life of this process. Its name is short, because the path of a socket must be. Call Close at the
// end.
func MakeRunDir(parent string) (*RunDir, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("making the run folder: %w", err)
	}
	path, claim, err := claimed.Make(parent, runPrefix)
	if err != nil {
		return nil, fmt.Errorf("making the run folder: %w", err)
	}
	return &RunDir{path, claim}, nil
}

// Path returns the folder's absolute path.
func (d *RunDir) Path() string { return d.path }

// Close removes the folder with its content and gives the claim up.
func (d *RunDir) Close() error { return errors.Join(rmtree.Remove(d.path), d.claim.Close()) }

func writeToken(dir, token string) error {
	return os.WriteFile(filepath.Join(dir, tokenFile), []byte(token), 0o600)
}

// Swept counts what dead toolhosts had left.
type Swept struct {
	RunDirs   int
	Processes int // found by their mark, without those in control groups
	Cgroups   int
}

// Sweep kills and removes what is left of this user's toolhosts that died together with their
// reapers: processes with their marks or in their control groups, the control groups, and the run
// folders in parent. It does not touch the run folders that a living toolhost claims, or other
// folders. It continues after an error and returns all errors. It blocks for milliseconds, or for
// seconds if a process does not die.
func Sweep(parent string) (Swept, error) {
	var swept Swept
	var errs []error
	cgroups, err := limits.SweepGroups()
	swept.Cgroups, errs = cgroups, append(errs, err)
	entries, err := os.ReadDir(parent)
	if err != nil {
		errs = append(errs, fmt.Errorf("looking for run folders: %w", err))
	}
	for _, entry := range entries {
		// An empty folder with another name may be one that another program has just made.
		if !entry.IsDir() || !claimed.HasForm(entry.Name(), runPrefix) {
			continue
		}
		removed, err := claimed.RemoveUnclaimed(filepath.Join(parent, entry.Name()), func(dir string) error {
			killed, err := sweepRunDir(dir)
			swept.Processes += killed
			return err
		})
		switch {
		case errors.Is(err, errNoRunDir):
		case removed:
			swept.RunDirs++
		default:
			errs = append(errs, err)
		}
	}
	return swept, errors.Join(errs...)
}

// End ends what is left of a toolhost of this user that has ended, and that had a run folder and a
// token: see Handle.Token. It waits for its reaper. Without an error, none of its processes is
// left that this process can see. It blocks for milliseconds, or for seconds if a process does not
// die.
func End(dir, token string) error {
	const pause = 10 * time.Millisecond
	if !tokenForm.MatchString(token) {
		return fmt.Errorf("ending what a toolhost has left: %q is no token", token)
	}
	_, err := limits.SweepGroups()
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		if _, gone := os.Lstat(dir); errors.Is(gone, fs.ErrNotExist) {
			break
		}
		removed, failed := claimed.RemoveUnclaimed(dir, func(dir string) error {
			_, err := sweepRunDir(dir)
			return err
		})
		if removed || errors.Is(failed, errNoRunDir) {
			break
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("ending what a toolhost has left: its run folder %s is still in use", dir), failed, err)
		}
	}
	_, killed := proc.KillMarked(token+"/", patience)
	return errors.Join(err, killed)
}

// errNoRunDir says that a folder is not a run folder, although its name looks like one.
var errNoRunDir = errors.New("no run folder")

// tokenForm is the form of rand.Text's result. No other text may become the mark of processes to
// kill.
var tokenForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// sweepRunDir kills what is left of the toolhost of a run folder, and removes the folder. It
// returns the number of killed processes.
func sweepRunDir(dir string) (killed int, err error) {
	token, err := os.ReadFile(filepath.Join(dir, tokenFile))
	if err != nil || !tokenForm.Match(token) {
		if os.Remove(dir) == nil { // it was empty: its toolhost died right after making it
			return 0, nil
		}
		return 0, errNoRunDir
	}
	killed, err = proc.KillMarked(string(token)+"/", patience)
	if err != nil {
		return killed, err
	}
	return killed, rmtree.Remove(dir)
}
