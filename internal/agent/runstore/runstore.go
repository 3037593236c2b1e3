// Package runstore is the journal of runs: for each run a list of records that only grows.
//
// It owns the words for it and the promises that every store keeps; storetest checks them. It does not know what the
// records say: the agent gives them their meaning and decides everything. Stores are in subpackages.
package runstore

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// Errors of a Store. Both are wrapped by errors that name the run.
var (
	// ErrNotFound says that there is no such run.
	ErrNotFound = errors.New("no such run")
	// ErrConflict says that the journal has moved: somebody else has appended, or the run that should be new exists.
	ErrConflict = errors.New("the journal has moved")
)

// MaxPage is the most runs that List returns at once.
const MaxPage = 500

// Record is one durable event of a run.
type Record struct {
	Seq     uint64          // the record's place in its run's journal, from 1; set by the store
	Time    time.Time       // when it happened, to the nanosecond; the store keeps no time zone
	Type    string          // what happened
	Version int             // the version of the encoding of Data, so that later programs can read it
	Data    json.RawMessage // what there is to say of it, in the words of Type and Version
}

// Run is what a store says of a run without reading its journal.
type Run struct {
	ID         string
	CreateTime time.Time // of the first record
	UpdateTime time.Time // of the last record
	LastSeq    uint64    // the last record's place
	Head       Head      // as the last append left it
}

// Head is what the writer of a run's journal wants to know of the run without reading the journal.
type Head struct {
	// Unfinished says that the run is to be continued when its agent starts again.
	Unfinished bool
	// Summary is a JSON value of the writer's choice. Empty means none.
	Summary json.RawMessage
}

// Batch is what one append adds to one run: all of it or nothing.
type Batch struct {
	RunID string
	// After is the place of the last record that the writer knows. 0 means that the run is new.
	After uint64
	// Records are at least one. They get the places After+1, After+2, …; their Seq is ignored.
	Records []Record
	// Head replaces what the store knew of the run.
	Head Head
	// Snapshot, if not nil, renews the run's snapshot together with the append. Nil leaves it as it is.
	Snapshot *Renewal
}

// Snapshot is what the writer of a run made of the records up to some place, so that whoever goes on with the run need not
// read them all again. It is a copy: the journal says what is true, and a run without a snapshot lacks nothing. What is in
// it, and up to which place, is the writer's to say and to check.
type Snapshot struct {
	// State is written anew each time. Empty: there is no snapshot.
	State []byte
	// Parts is what grows with the run, in pieces that stay as they are.
	Parts [][]byte
}

// Renewal takes the place of a run's snapshot.
type Renewal struct {
	State []byte   // not empty
	Keep  int      // how many of the parts that are there stay, from the first; the others go
	Parts [][]byte // come after those
}

// Query selects runs. The zero value is the first page of all.
type Query struct {
	// Limit is how many runs to return at most. 0, and more than MaxPage, mean MaxPage.
	Limit int
	// Before names the last run of the page before. Empty means to begin at the newest.
	Before string
	// UnfinishedOnly leaves out runs that are not to be continued.
	UnfinishedOnly bool
}

// Store keeps journals. It is safe for concurrent use. All of the agent's reading and writing goes through these
// methods, so that a store of another make has nothing else to do.
type Store interface {
	// Append adds to a run's journal and returns once what it added survives whatever the store promises to survive.
	// It fails with ErrConflict, and adds nothing, unless the run's last record is at batch.After. Where ctx ends
	// first, the batch may or may not have been added.
	Append(ctx context.Context, batch Batch) error

	// Read yields a run's records that come after a place, in order, up to the one that was last when it got there.
	// An error, such as ErrNotFound, is yielded last. The consumer may take its time: nothing is held meanwhile.
	Read(ctx context.Context, runID string, after uint64) iter.Seq2[Record, error]

	// Snapshot returns a run's snapshot as the last Renewal left it, or ErrNotFound. A run that has none has an empty one. What it
	// returns is the caller's alone.
	Snapshot(ctx context.Context, runID string) (Snapshot, error)

	// Get returns one run, or ErrNotFound.
	Get(ctx context.Context, runID string) (Run, error)

	// List returns runs, the last created first. An unknown Query.Before is ErrNotFound.
	List(ctx context.Context, query Query) ([]Run, error)
}
