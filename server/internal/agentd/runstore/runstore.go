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
	// ErrNotFound says that there is no such run, or no such content of a run.
	ErrNotFound = errors.New("no such run")
	// ErrConflict says that another writer has appended to the journal, or that a new run exists
	// already.
	ErrConflict = errors.New("the journal has moved")
	// ErrUnavailable says that the store cannot be reached now, or did not answer in time. The same
	// action may succeed later. A batch whose Append fails with it may have been written.
	ErrUnavailable = errors.New("the journal is not available")
	// ErrPosition says that the store has not reached a position of changes: it is that of another
	// store, or the store was restored.
	ErrPosition = errors.New("the store has no such position")
	// ErrDeleted says that a new run has the id of a run that was deleted.
	ErrDeleted = errors.New("a run with this id was deleted")
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
	// Stalled is how often in a row, without progress between, a store took the run from one that was
	// gone; see MaxStalled. Only a Sharing store counts.
	Stalled int
}

// Head is what the writer stores about a run, so that reading the journal is not necessary.
type Head struct {
	// Unfinished means that an agent continues the run when it starts.
	Unfinished bool
	// Ended means that nobody continues the run unless a user does. A run can be neither: the
	// command in whose foreground it is continues it.
	Ended bool
	// OnlyWaits means that the run has nothing to do itself: it waits for decisions, and for its
	// sub-runs. Only a Sharing store keeps it, for MaxStalled, and returns it in no Run.
	OnlyWaits bool
	// Summary is a JSON value that the writer chooses. Empty means none.
	Summary json.RawMessage
	// Decisions is a JSON value that the writer chooses: the decisions that the run waits for, for
	// Store.Waiting. Empty means none.
	Decisions json.RawMessage
	// DecideBy is when the first of the decisions ends by itself. Zero means that none does.
	DecideBy time.Time
	// Owner and Tenant say to whom the run belongs, and Parent is the id of the run that has it as a
	// sub-run, for Query. The first append of a run sets them, and later ones do not change them. All
	// may be empty.
	Owner, Tenant, Parent string
}

// Batch is one append to one run. The store writes the whole batch or nothing.
type Batch struct {
	RunID string
	// After is the position of the last record that the writer knows. 0 means that the run is new.
	After uint64
	// Epoch is that of the claim under which the writer appends; see Claims. 0 is the claim that a
	// store may give whoever creates a run, until the first Claim.
	Epoch uint64
	// Resumed says that the records only note that work on the run goes on, which is no progress; see
	// MaxStalled.
	Resumed bool
	// Records has at least one record. The store gives them the positions After+1, After+2, … and
	// ignores their Seq.
	Records []Record
	// Head replaces the run's head.
	Head Head
	// Spent is added to what the owner of the run has spent; see Spending.
	Spent Spent
	// Snapshot renews the run's snapshot together with the append. Nil leaves it unchanged.
	Snapshot *Renewal
	// Contents are added to the contents of the run; see Content.
	Contents []Content
	// Messages are added to the outbox of a store that has one; see Outbox.
	Messages []Message
	// Verdicts are added to what principals have decided; see Store.Verdicts.
	Verdicts []Verdict
	// Entry is the id of the entry of the run's inbox that the batch consumes: its outcome is the
	// first of the records. If the entry has an outcome, Append fails with ErrConflict. Empty: none.
	// Only stores with an Inbox have entries.
	Entry string
}

// Verdict is a decision that a principal made. It exists as long as its run.
type Verdict struct {
	Principal string          // the key of who decided; not empty
	Data      json.RawMessage // a JSON value that the writer chooses
	// RunID and Owner are the run and its Head.Owner, and Number orders the verdicts of a store. The
	// store sets them.
	RunID, Owner string
	Number       int64
}

// VerdictQuery selects the verdicts of one principal.
type VerdictQuery struct {
	Principal string
	// Limit is the largest number of verdicts to return. 0, and more than MaxPage, mean MaxPage.
	Limit int
	// Before is the number of the last verdict of the page before. 0 means to start at the newest one.
	Before int64
}

// Content is what a record names by a digest instead of having it, because it is large and never
// changes, such as a file that a user attached. A content belongs to one run: two runs with the
// same bytes have them twice, so that nothing about other runs follows from a digest. It exists as
// long as its run.
type Content struct {
	// SHA256 is the digest of Data in lower-case hexadecimal. The writer is right about it: a store
	// does not compute it. A content that the run already has with this digest is not replaced.
	SHA256 string
	Data   []byte
}

// Snapshot is the writer's copy of the state that the records up to a position result in. With it,
// continuing the run does not need to read all records. The journal is the truth, and a run without
// a snapshot is complete. The writer decides what a snapshot contains and checks it.
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
	// OpenOnly selects runs that have not ended. A store that was migrated may also return runs that
	// ended before.
	OpenOnly bool
	// Owner and Tenant select the runs whose Head has these values. Empty selects all. Before must
	// then be one of them.
	Owner, Tenant string
	// Parent selects the sub-runs of a run. Empty selects all. Before must then be one of them.
	Parent string
}

// WaitingQuery selects runs that wait for decisions. The zero value selects the first page of all.
type WaitingQuery struct {
	// Limit is the largest number of runs to return. 0, and more than MaxPage, mean MaxPage.
	Limit int
	// After is the place where the page before ended. The zero value means the first page.
	After Place
	// Owner and Tenant select the runs whose Head has these values. Empty selects all.
	Owner, Tenant string
}

// Now is the ChangedQuery.After that selects no runs, to learn the present position.
const Now int64 = -1

// ChangedQuery selects runs by the last change of their decisions. The zero value selects the first
// page of all runs that have or had decisions.
type ChangedQuery struct {
	// Limit is the largest number of runs to return. 0, and more than MaxPage, mean MaxPage.
	Limit int
	// After is the position that an earlier Changed returned, 0, or Now.
	After int64
	// Owner and Tenant select the runs whose Head has these values. Empty selects all.
	Owner, Tenant string
}

// Place is a place in the list of the runs that wait for decisions. It stays valid whatever runs
// come and go.
type Place struct {
	DecideBy int64 // nanoseconds since 1970; math.MaxInt64 for a run whose decisions have no end
	Number   int64 // of the run, in the order of creation, from 1
}

// Deletion is a deletion of runs.
type Deletion struct {
	Time time.Time // for the store's note that the ids were used
	// Last has, by the id of each run, the position of its last record that the caller knows.
	Last map[string]uint64
}

// Store keeps journals. It is safe for concurrent use. The agent does all its reading and writing
// through these methods.
type Store interface {
	// Append appends to a run's journal. It returns when the records are as durable as the store
	// promises. It fails with ErrConflict and writes nothing unless the run's last record is at
	// batch.After and, in a store with epochs, it has the claim of batch.Epoch. A new run with the id
	// of a deleted run is ErrDeleted. If ctx ends first, the batch may or may not have been written.
	// The same is true of ErrUnavailable: the next Append of the same batch then fails with
	// ErrConflict if the first one has written it and its confirmation was lost.
	Append(ctx context.Context, batch Batch) error

	// Read yields a run's records after a position, in order. It ends after the last record that
	// the journal has when Read reaches it. An error, such as ErrNotFound, is the last value. A
	// slow consumer blocks no writer.
	Read(ctx context.Context, runID string, after uint64) iter.Seq2[Record, error]

	// Snapshot returns the run's snapshot, which is empty if the run has none, or ErrNotFound. The
	// result belongs to the caller.
	Snapshot(ctx context.Context, runID string) (Snapshot, error)

	// Content returns the data of a content of a run, or ErrNotFound if the run does not exist or has
	// none with this digest. The result belongs to the caller.
	Content(ctx context.Context, runID, sha256 string) ([]byte, error)

	// Get returns one run, or ErrNotFound.
	Get(ctx context.Context, runID string) (Run, error)

	// Delete deletes runs with their records, snapshots and contents, all of them or none, as durably
	// as Append writes. What the owners have spent stays. It fails with ErrNotFound if one does not
	// exist, and with ErrConflict if the last record of one is at another position, or if a run that
	// is not among them has one of them as its parent. The store remembers the ids for ever, so that
	// no run has one of them again.
	Delete(ctx context.Context, deletion Deletion) error
	// List returns runs, the newest first. An unknown Query.Before is ErrNotFound.
	List(ctx context.Context, query Query) ([]Run, error)

	// Waiting returns the runs that have Head.Decisions, and the place of the last one. The run whose
	// Head.DecideBy is first comes first, then the one that was created first. A run that a migration
	// found waiting may have the decisions `null`: only its journal has them.
	Waiting(ctx context.Context, query WaitingQuery) ([]Run, Place, error)

	// Changed returns the runs whose decisions changed after a position, each once and as it is now,
	// in the order of their last changes, and the position to go on from. A run that waits no more has
	// no Head.Decisions. Whoever goes on from the positions learns each change that is not followed by
	// another one of the same run, also those of appends that are on their way: a position passes no
	// append that can still become visible. A change can be returned again. The decisions that a
	// migration found are no change. ErrPosition: the store has not reached query.After.
	Changed(ctx context.Context, query ChangedQuery) (runs []Run, position int64, err error)

	// Verdicts returns what a principal has decided, the newest first. What was decided before the
	// store had this list is not in it.
	Verdicts(ctx context.Context, query VerdictQuery) ([]Verdict, error)
}
