package runstore

import (
	"errors"
	"fmt"
)

// ErrClaimed says that another process has claimed the run. It is wrapped by errors that name the run.
var ErrClaimed = errors.New("another process works on the run")

// Claims is implemented by stores that several processes may use at the same time. It answers which runs a process works on:
// the journal alone cannot, because a process that is killed writes nothing.
//
// A claim belongs to the store that took it and ends with Release, with the store's Close, or when the process ends, however
// it ends. Child processes do not inherit it. Claims do not protect the journal: Append does, with ErrConflict. All methods
// are safe for concurrent use and do not wait for other processes.
type Claims interface {
	// Claim claims a run. It fails with ErrClaimed if another store has the claim, and changes nothing if this one has it.
	Claim(runID string) error
	// Release gives a claim up. It does nothing if this store does not have the claim.
	Release(runID string)
	// Claimed reports whether any store, this one included, has the claim.
	Claimed(runID string) (bool, error)
}

// AlreadyClaimed returns the ErrClaimed of a run.
func AlreadyClaimed(runID string) error { return fmt.Errorf("run %q: %w", runID, ErrClaimed) }
