package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// useSuffix follows the name of the journal in the name of the file that each process with an open
// journal locks. The file stays empty and is never removed. The kernel releases the lock when the
// process ends.
//
// Any number of processes can use a journal at the same time, and a restore needs it alone: a
// process that opened the journal between two steps of a restore would write into a file that the
// restore moves aside. So a process that uses the journal has a shared lock, and a restore has an
// exclusive one from its first to its last step. SQLite's own locks are on the journal itself,
// which the restore replaces.
const useSuffix = ".use"

// lockUse locks the journal with filelock.Try or filelock.TryShared. It makes the
// journal's folder if there is none. If another process has the other kind of lock, or an exclusive
// one, the error is filelock.ErrHeld. The lock ends when the caller closes the file.
func lockUse(journal string, try func(*os.File) error) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(journal), 0o700); err != nil {
		return nil, err
	}
	file, err := filelock.Create(journal + useSuffix)
	if err != nil {
		return nil, fmt.Errorf("locking the journal: %w", err)
	}
	if err := try(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// useJournal takes the shared lock of a journal. It fails if another process restores the journal,
// or if a restore was interrupted.
func useJournal(journal string) (*os.File, error) {
	lock, err := lockUse(journal, filelock.TryShared)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("`agentd restore` works on the journal %s; try again when it has ended", journal)
	}
	if err != nil {
		return nil, err
	}
	if err := checkRestored(journal); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// ownJournal takes the exclusive lock of a journal. It fails if any process uses the journal.
func ownJournal(journal string) (*os.File, error) {
	lock, err := lockUse(journal, filelock.Try)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("the journal %s is in use; stop agentd first", journal)
	}
	return lock, err
}

// checkRestored returns an error if a restore of the journal was interrupted.
func checkRestored(journal string) error {
	if !restorePending(journal) {
		return nil
	}
	return fmt.Errorf("a restore of the journal %s was interrupted; finish it with: agentd restore --journal %s --resume", journal, cli.ShellWord(journal))
}

// openedJournal is an open journal with its shared lock.
type openedJournal struct {
	*sqlite.Store
	lock *os.File
}

func openLocked(ctx context.Context, path string) (*openedJournal, error) {
	lock, err := useJournal(path)
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w; choose another file with --journal", err), lock.Close())
	}
	return &openedJournal{store, lock}, nil
}

// Close closes the journal and then gives up the lock. It may be called more than once.
func (j *openedJournal) Close() error {
	err := j.Store.Close()
	_ = j.lock.Close() // only a second Close fails
	return err
}
