package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// A private toolhost, which agentd starts for one run, keeps its ledger beside the journal, in
// JOURNAL.calls/RUN. A process that continues the run needs this ledger, because it has the
// executed calls. Each run has its own folder, so several runs of one journal can work at the same
// time.
//
// A file in the folder is locked. agentd opens it, and the toolhost inherits the open file and with
// it the lock. If agentd is killed, the lock thus stays until its toolhost has stopped. A process
// that continues the run waits for the lock. See docs/adr/0022-ledger-of-a-run.md.

const (
	// recordsSuffix follows the name of the journal in the name of the records folder.
	recordsSuffix = ".calls"
	// claimName is the name of the locked file.
	claimName = "agentd.lock"
	// claimWait bounds the time until the toolhost of a killed agentd stops. It is longer than
	// toolhost's grace for calls.
	claimWait = 45 * time.Second
	// claimPause is the time between two attempts to lock.
	claimPause = 20 * time.Millisecond
	// recordsKept is how long the records of a run stay if no process continues the run. A ledger
	// forgets calls after that time in any case. A run that continues later gets a new ledger, and
	// the outcomes of its calls are unknown.
	recordsKept = 8 * 24 * time.Hour
)

// runRecords is the records folder of one run, which this process has locked. The run's private
// toolhost stores its ledger there.
type runRecords struct {
	path  string
	claim *os.File
	// acceptedLoss is the id of the lost ledger that toolhost may replace by a new one. Empty means
	// none.
	acceptedLoss string
}

// recordsFolder returns the folder of the records of all runs of the journal.
func (j journalPlace) recordsFolder() (string, error) {
	path, err := j.journalPath()
	return path + recordsSuffix, err
}

// hasRecords reports whether the run has records. Only a run that began with a private toolhost has
// them.
func (j journalPlace) hasRecords(runID string) bool {
	folder, err := j.recordsFolder()
	if err != nil || !agent.IsRunID(runID) {
		return false
	}
	_, err = os.Lstat(filepath.Join(folder, runID, claimName))
	return err == nil
}

// claimRecords makes the records folder of a run if there is none, and locks it. It waits until no
// other process has the lock. It also removes records that are older than recordsKept.
func claimRecords(ctx context.Context, folder, runID string, log *slog.Logger) (*runRecords, error) {
	if !agent.IsRunID(runID) {
		return nil, cli.Usage("%.80q is no run id; `agentd runs` lists the runs", runID)
	}
	sweepRecords(folder, runID, log)
	path := filepath.Join(folder, runID)
	ctx, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	told := false
	for {
		claim, err := tryClaim(path)
		if err != nil {
			return nil, fmt.Errorf("keeping the calls of run %s beside the journal: %w", runID, err)
		}
		if claim != nil {
			return &runRecords{path: path, claim: claim}, nil
		}
		if !told {
			log.Info("waiting for the toolhost of another agentd that worked on the run to stop", "run", runID)
			told = true
		}
		if !cli.Wait(ctx, claimPause) {
			return nil, tool.Errorf(tool.KindConflict, "another agentd works on run %s: %w; wait for it, or stop it first", runID, context.Cause(ctx))
		}
	}
}

// tryClaim returns nil if another process has the lock.
func tryClaim(path string) (*os.File, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(path, claimName)
	file, err := filelock.Take(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, filelock.ErrHeld) {
		return nil, nil // another process has the lock, or has just removed the folder
	}
	if err != nil {
		return nil, err
	}
	if !filelock.Names(name, file) { // another process removed the folder before the lock
		return nil, file.Close()
	}
	return file, nil
}

// sweepRecords removes old records of all runs but one.
func sweepRecords(folder, but string, log *slog.Logger) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // there is no folder yet, or claiming reports the error
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		file, err := os.Lstat(filepath.Join(path, claimName))
		if entry.Name() == but || !agent.IsRunID(entry.Name()) || err != nil || time.Since(file.ModTime()) < recordsKept {
			continue
		}
		claim, err := tryClaim(path)
		if err != nil || claim == nil {
			continue
		}
		err = errors.Join(rmtree.Remove(path), claim.Close())
		if err != nil {
			log.Warn("could not remove the records of an old run", "run", entry.Name(), "err", err)
		}
	}
}

// close releases the lock. If the run cannot need its records any more, close removes them first:
// the run has ended or does not exist, and has no artifacts, which it could read after a message.
func (r *runRecords) close(ctx context.Context, store runstore.Store) error {
	run, err := store.Get(ctx, filepath.Base(r.path))
	gone := errors.Is(err, runstore.ErrNotFound)
	if gone {
		err = nil
	}
	if err == nil && (gone || !run.Head.Unfinished && !r.hasArtifacts()) {
		err = rmtree.Remove(r.path)
		_ = os.Remove(filepath.Dir(r.path)) // succeeds if the folder is empty
	}
	return errors.Join(err, r.claim.Close())
}

func (r *runRecords) hasArtifacts() bool {
	files, err := os.ReadDir(filepath.Join(r.path, "artifacts"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(file fs.DirEntry) bool {
		info, err := file.Info()
		return err == nil && info.Size() > 0 // an empty file is the lock of the store
	})
}
