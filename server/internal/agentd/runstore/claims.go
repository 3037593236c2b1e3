package runstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrClaimed says that another process has claimed the run. Errors that wrap it name the run.
var ErrClaimed = errors.New("another process works on the run")

// ErrParked says that TakeFamily leaves the run to Claim; see MaxStalled.
var ErrParked = errors.New("the run is parked")

// Claims is an additional interface of stores that several processes can use at the same time. It
// reports which runs a process works on. The journal alone cannot show that, because a killed
// process writes nothing.
//
// A claim belongs to the store that took it, and has an epoch. It ends with Release, with the
// store's Close, or when the process ends in any way. Child processes do not inherit it. A store
// whose claims another store can take while their process lives compares Batch.Epoch in each
// Append, and its epochs of a run only grow. The epochs of other stores are 0. All methods are safe
// for concurrent use and do not wait for other processes. They may wait for a database, for a
// bounded time, and then fail with ErrUnavailable. The run must exist.
type Claims interface {
	// Claim claims a run, and returns the epoch of the claim, which ends the one that this store may
	// have. It fails with ErrClaimed if another store has the claim. A store whose runs several
	// servers work on does the same for a sub-run if it does not have the claim of the unfinished
	// parent, and for a run that is parked since its process has gone; see MaxStalled.
	Claim(runID string) (epoch uint64, err error)
	// ClaimAll claims those of the runs that no other store has, with one request to the store. It
	// returns the epochs of the runs that this store has claimed now.
	ClaimAll(runIDs []string) (map[string]uint64, error)
	// Release gives up a claim. It does nothing if this store does not have the claim of this epoch.
	Release(runID string, epoch uint64)
	// Claimed returns those of the runs that any store, this one included, has claimed, with one
	// request to the store. A run that does not exist is not claimed.
	Claimed(runIDs []string) (map[string]bool, error)
}

// MaxStalled is how many stores that had a run may be gone, without progress between, until
// TakeOver and TakeFamily leave the run, and those below it, to Claim: it may have ended their
// processes. Then the run is tried once for each entry that is added: they take it, or Claim. After
// either, the run is left again as soon as that store is gone, too, without progress. Progress is
// an append that Batch.Resumed does not exclude. A run that only waits does not count, except with
// the sub-runs that it waits for, and if the store was gone soon after its claim.
const MaxStalled = 3

// Sharing is an additional interface of Claims of stores whose runs several servers work on at the
// same time.
type Sharing interface {
	Inbox
	// TakeOver claims runs that no store has claimed and that have something to do: unfinished ones
	// that were not given up by Leave or whose wait there is over, and runs with entries without an
	// outcome. It takes each with its unfinished parents, and with all such or unfinished runs below
	// these, and returns all of them. It takes up to limit families, and may take fewer. If more are
	// due, those of the tenants with the fewest runs that this store has claimed come first. Families
	// with entries do not count, and MaxPage of them are taken at once.
	TakeOver(ctx context.Context, limit int) ([]Taken, error)
	// TakeFamily is TakeOver for one family, which a run without an unfinished parent names. If
	// nothing in it is due, it claims nothing. Errors: ErrNotFound; ErrClaimed if a store has the
	// claim of the run, this one included; ErrParked.
	TakeFamily(ctx context.Context, runID string) (Due, error)
	// Confirm returns nil if this store has the claim of a run with an epoch, or ErrClaimed. It
	// writes, and returns nil only when that is as durable as Append's records.
	Confirm(runID string, epoch uint64) error
	// Posted returns runs with entries without an outcome that this store has claimed, or whose parent
	// it has claimed.
	Posted(ctx context.Context) ([]Run, error)
	// Leave gives up a run and runs below it, whose work is done or waits, unless one of them has
	// entries without an outcome: then it returns false, and all claims stay. Runs that this store
	// does not have claimed with these epochs do not count.
	Leave(family []Leaving) (left bool)
	// Positions returns how far runs are, with one request to the store that has Append's promises:
	// a position is not behind what Append has written before. A run that does not exist has none.
	Positions(ctx context.Context, runIDs []string) (map[string]Position, error)
}

// Position is how far a run is, and who works on it.
type Position struct {
	Seq   uint64 // of the last record
	Epoch uint64 // of the last claim
	// Owner is another store that has the claim. Zero: this store has it, nobody has it, or the owner
	// cannot be reached.
	Owner Owner
}

// Owner is a store that has claimed a run.
type Owner struct {
	Node    string // the id of the store
	Address string // at which its owner can be reached
}

// Leaving is a run that its owner gives up.
type Leaving struct {
	RunID string
	Epoch uint64
	// Wait is the time until an unfinished run has to go on, by the clock of the store. 0: only an
	// entry or a claim continues it.
	Wait time.Duration
	// Rests says that the owner found nothing to do before, which is progress; see MaxStalled.
	Rests bool
}

// Taken is a run with the epoch of its claim.
type Taken struct {
	Run
	Epoch uint64
}

// Due is what TakeFamily has found of a family.
type Due struct {
	Taken []Taken // claimed now; empty: nothing is due
	// Live means that the family goes on later: after Wait, by the clock of the store, which is
	// positive, or if Wait is 0, with a request alone.
	Live bool
	Wait time.Duration
}

// AlreadyClaimed returns the ErrClaimed of a run.
func AlreadyClaimed(runID string) error { return fmt.Errorf("run %q: %w", runID, ErrClaimed) }
