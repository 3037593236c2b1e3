package callstore

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Calls stores which calls must not be executed twice. Store is the one in a file; the subpackages
// have others, and package storetest checks what all of them guarantee. All methods are safe for
// concurrent use.
type Calls interface {
	Writer
	Reader
	Identity
}

// Writer records the beginnings and the ends of calls.
type Writer interface {
	// BeginWithin records that a plugin is about to receive a call, for a principal with a quota. The
	// caller of BeginWithin sets Key, Sum, Tool, Plugin and Begun. When it returns nil, the record
	// survives the end of this process, and of all Begins of the key exactly this one has succeeded.
	//
	// It fails with ErrTaken if the id is taken, with a *FullError if there are too many ids, and with
	// the system's error if the record cannot be written. It then records and closes nothing. If ctx
	// ends first, it returns the cause of ctx. The id is then free, or the store frees it: the
	// caller has nothing to undo, and a later Begin at this store does not collide with this one.
	//
	// If the store has no room for the arguments of the entry, it records the call without them.
	//
	// In the same transaction, it closes the calls that the entry supersedes: no Settle and no
	// Begin succeeds for them from then on. One that the store does not know is closed, too, and then
	// counts as one more id. A call that is under way at another toolhost may still end. It fails with
	// ErrSuperseding if such a call has succeeded, even with an error of the tool, is under way at
	// this store, or has begun again after it did not happen, at a toolhost that is not gone.
	BeginWithin(ctx context.Context, e Entry, q Quota) error
	// End records how a call ended. If the result is too large, it records only how the call ended. It
	// keeps the arguments only if the outcome is an error of kind outcome_unknown.
	//
	// End fails with ErrNotBegun unless the call is in progress and has begun at this store. If the
	// record cannot be written, End fails too, and the store writes it as soon as it can. If ctx ends
	// first, the store still writes the record.
	End(ctx context.Context, key Key, out tool.Outcome) error
	// Forget removes a call that began at this store and reached no plugin, so that its id can be used
	// again. It does nothing if there is no such call, and fails with ErrNotBegun if the call has
	// ended. The store repeats the removal after a failure, and executes it also if ctx ends first.
	Forget(ctx context.Context, key Key) error
	// Settle records what the tool said about a call whose Entry has a number and is Unsettled. If the
	// call happened, out becomes its outcome. If it did not happen, the call becomes StateFree, and
	// BeginWithin succeeds once for the same key and sum. Otherwise only the settlement is recorded.
	//
	// Settle fails with ErrNotUnknown if the call is not Unsettled, or another call has the key now,
	// and may also fail so if the call was found before its Begin has returned. When it fails, it may
	// still be recorded only if ctx has ended, or if the store is a database whose answer was lost.
	Settle(ctx context.Context, key Key, number int64, said tool.Settlement, out tool.Outcome) error
}

// Reader finds and counts calls.
type Reader interface {
	// Known reports whether the store may have a call. It does not wait. False is certain.
	Known(key Key) bool
	// Find returns a call, with its outcome if that is stored. It sees every Begin, End and Forget
	// that has returned.
	Find(ctx context.Context, key Key) (entry Entry, found bool, err error)
	// List returns calls without their outcomes, in reverse order of their numbers. If it returns
	// fewer than the limit, there are no more.
	List(ctx context.Context, q Query) ([]Entry, error)
	// IDs returns how many ids the store has, and how many it can have.
	IDs() (ids, most int)
}

// Identity tells one ledger from another.
type Identity interface {
	// ID returns what distinguishes this ledger from all others.
	ID() string
	// Is reports whether an id is that of this ledger, or of a former one all of whose calls this one
	// has got.
	Is(id string) bool
	// Shared reports whether several toolhosts can use the ledger, so that each operation is a request
	// to a server.
	Shared() bool
	// Restored returns how the ledger was restored from a backup; nil if it was not.
	Restored() *Restoration
	// Forgets reports whether the store may have forgotten a call that was first sent at a time,
	// because calls of that age are removed.
	Forgets(sent time.Time) bool
	// Now returns the time of the store's clock.
	Now() time.Time
}

var _ Calls = (*Store)(nil)
