package runstore

import (
	"errors"
	"fmt"
	"time"
)

// ErrClaimed says that another process has claimed the run. Errors that wrap it name the run.
var ErrClaimed = errors.New("another process works on the run")

// Claims is an additional interface of stores that several processes can use at the same time. It
// reports which runs a process works on. The journal alone cannot show that, because a killed
// process writes nothing.
//
// A claim belongs to the store that took it. It ends with Release, with the store's Close, or when
// the process ends in any way. Child processes do not inherit it. Claims do not protect the
// journal; Append does, with ErrConflict. All methods are safe for concurrent use and do not wait
// for other processes. They may wait for a database, for a bounded time, and then fail with
// ErrUnavailable. The run must exist.
type Claims interface {
	// Claim claims a run. It fails with ErrClaimed if another store has the claim, and does nothing
	// if this store has it.
	Claim(runID string) error
	// ClaimAll claims those of the runs that no other store has, with one request to the store. It
	// returns the ids of the runs that this store has claimed now.
	ClaimAll(runIDs []string) (map[string]bool, error)
	// Release gives up a claim. It does nothing if this store does not have the claim.
	Release(runID string)
	// Claimed returns those of the runs that any store, this one included, has claimed, with one
	// request to the store. A run that does not exist is not claimed.
	Claimed(runIDs []string) (map[string]bool, error)
}

// Lingering is an additional interface of Claims for which the end of a process is not always
// noticed at once, such as when its machine vanishes.
type Lingering interface {
	// Linger returns how long a claim may outlive its process.
	Linger() time.Duration
}

// AlreadyClaimed returns the ErrClaimed of a run.
func AlreadyClaimed(runID string) error { return fmt.Errorf("run %q: %w", runID, ErrClaimed) }
