package runstore

import (
	"context"
	"encoding/json"
	"fmt"
)

// Inbox is the part of Sharing that keeps what callers want of a run until whoever works on the run
// records or refuses it.
//
// The problem: any server gets a request for a run, only the owner of the run may write to it, and
// either can be killed at any time. The idea: the request is an entry of the run, and the append
// that records it consumes it, together or not at all. The invariant: an entry has no outcome until
// an append or Settle under the newest claim of its run gives it one, and no second one follows.
// All methods are safe for concurrent use.
type Inbox interface {
	// Post adds an entry, unless the run has one with its id. It fails with ErrNotFound if there is no
	// such run, and with ErrUnavailable if too many entries of the run have no outcome. The entry may
	// have been added if it fails in another way.
	Post(ctx context.Context, entry Entry) error
	// Entries returns the first entries of a run without an outcome, in the order of Post, without
	// their contents. It returns none only if there is none.
	Entries(ctx context.Context, runID string) ([]Entry, error)
	// Settle gives an entry an outcome without an append. Like Append it fails with ErrConflict unless
	// this store has the claim of the epoch, and if the entry has an outcome.
	Settle(ctx context.Context, ref EntryRef, epoch uint64, outcome Outcome) error
	// Outcomes returns the outcomes of those of the entries that have one, as durable as Append
	// writes. That of an entry which does not exist is the zero value.
	Outcomes(ctx context.Context, entries []EntryRef) (map[EntryRef]Outcome, error)
}

// EntryRef names an entry.
type EntryRef struct {
	RunID string
	ID    string // within the run; not empty
}

// Entry is what a caller wants of a run. It exists as long as its run.
type Entry struct {
	EntryRef
	Data json.RawMessage // a JSON value that the writer chooses
	// Contents become contents of the run with the append that consumes the entry. They go with a
	// refusal.
	Contents []Content
}

// Outcome is what became of an entry.
type Outcome struct {
	Seq uint64 // of the first record that it became, or that answers it
	// Refusal is a JSON value that the writer chooses. Empty: the entry was not refused.
	Refusal json.RawMessage
}

// MaxPosted is the largest number of entries without an outcome that a run may have.
const MaxPosted = 1000

// Full returns the ErrUnavailable of a run with MaxPosted entries.
func Full(runID string) error {
	return fmt.Errorf("run %s: %w: %d requests for the run wait for the agentd that works on it", runID, ErrUnavailable, MaxPosted)
}
