// Package runstore defines the journal of runs: for each run, a list of records that only grows.
//
// The package owns the interface of stores and what every store guarantees; storetest checks that.
// It does not know what records mean, and it decides nothing. The agent does both. Stores are in
// subpackages.
package runstore

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// Errors of a Store. The errors that wrap them name the run.
var (
	// ErrNotFound says that there is no such run.
	ErrNotFound = errors.New("no such run")
	// ErrConflict says that another writer has appended to the journal, or that a new run exists
	// already.
	ErrConflict = errors.New("the journal has moved")
)

// MaxPage is the largest number of runs that List returns at once.
const MaxPage = 500

// Record is one durable event of a run.
type Record struct {
	Seq     uint64          // position in the run's journal, from 1; set by the store
	Time    time.Time       // time of the event in nanoseconds, without a time zone
	Type    string          // the type of the event
	Version int             // version of the encoding of Data
	Data    json.RawMessage // the event
}

// Run is what a store knows of a run without its journal.
type Run struct {
	ID         string
	CreateTime time.Time // of the first record
	UpdateTime time.Time // of the last record
	LastSeq    uint64    // position of the last record
	Head       Head      // as the last append left it
}

// Head is what the writer stores about a run, so that reading the journal is not necessary.
type Head struct {
	// Unfinished means that an agent continues the run when it starts.
	Unfinished bool
	// Summary is a JSON value that the writer chooses. Empty means none.
	Summary json.RawMessage
}

// Batch is one append to one run. The store writes all of it or nothing.
type Batch struct {
	RunID string
	// After is the position of the last record that the writer knows. 0 means that the run is new.
	After uint64
	// Records has at least one record. The store gives them the positions After+1, After+2, … and
	// ignores their Seq.
	Records []Record
	// Head replaces the run's head.
	Head Head
	// Snapshot renews the run's snapshot together with the append. Nil leaves it unchanged.
	Snapshot *Renewal
}

// Snapshot is the writer's copy of what the records up to a position amount to, so that continuing
// the run does not need all records. The journal is the truth, and a run without a snapshot is
// complete. The writer decides and checks what a snapshot contains.
type Snapshot struct {
	// State is rewritten each time. Empty means that there is no snapshot.
	State []byte
	// Parts has what grows with the run, such as its messages. A stored part never changes: a
	// Renewal keeps or removes it, and adds new parts.
	Parts [][]byte
}

// Renewal replaces a run's snapshot.
type Renewal struct {
	State []byte   // not empty
	Keep  int      // how many of the stored parts stay, from the first
	Parts [][]byte // follow the kept parts
}

// Query selects runs. The zero value selects the first page of all runs.
type Query struct {
	// Limit is the largest number of runs to return. 0, and more than MaxPage, mean MaxPage.
	Limit int
	// Before is the last run of the page before. Empty means to start at the newest run.
	Before string
	// UnfinishedOnly selects unfinished runs only.
	UnfinishedOnly bool
}

// Store keeps journals. It is safe for concurrent use. The agent does all its reading and writing
// through these methods.
type Store interface {
	// Append appends to a run's journal. It returns when the records survive what the store
	// promises to survive. It fails with ErrConflict and writes nothing unless the run's last
	// record is at batch.After. If ctx ends first, the batch may or may not have been written.
	Append(ctx context.Context, batch Batch) error

	// Read yields a run's records after a position, in order, up to the last record at the time
	// when it gets there. An error, such as ErrNotFound, is the last value. A slow consumer blocks
	// nothing.
	Read(ctx context.Context, runID string, after uint64) iter.Seq2[Record, error]

	// Snapshot returns the run's snapshot, which is empty if the run has none, or ErrNotFound. The
	// result belongs to the caller.
	Snapshot(ctx context.Context, runID string) (Snapshot, error)

	// Get returns one run, or ErrNotFound.
	Get(ctx context.Context, runID string) (Run, error)

	// List returns runs, the newest first. An unknown Query.Before is ErrNotFound.
	List(ctx context.Context, query Query) ([]Run, error)
}
