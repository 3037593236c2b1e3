// Package ledger remembers calls by id, so that toolhost does not execute a call id twice.
//
// The second use of an id follows the call that has it, or gets its outcome again, or is refused
// because it is another call. A Ledger keeps all calls in memory as long as it has room, and the
// calls with side effects in a callstore.Store too, which outlives the process. The package knows
// nothing of how a call is executed.
package ledger

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

// Key names a call. Principals and sessions cannot see each other's calls.
type Key = callstore.Key

// Sum is the digest of a call's tool and of the meaning of its arguments. Two calls with the same
// sum are the same call.
type Sum = [sha256.Size]byte

// SumOf returns the digest of a call.
func SumOf(toolName string, given arguments.Parsed) (sum Sum) {
	h := sha256.New()
	h.Write([]byte(toolName))
	h.Write([]byte{0})
	h.Write(given.Meaning())
	h.Sum(sum[:0])
	return sum
}

// Config sets the store and the bounds of a Ledger.
type Config struct {
	Store      *callstore.Store // not owned; nil: calls are kept in memory only
	MaxEntries int              // outcomes in memory
	MaxBytes   int              // of the outcomes in memory
	Logger     *slog.Logger     // required
}

// Ledger remembers calls. C is the type of a call: the ledger stores the calls that it is given and
// never looks into them. All methods are safe for concurrent use.
//
// The memory of a ledger is bounded. When it is full, it forgets outcomes of calls without side
// effects first, since executing such a call again does no harm, and the oldest first. It never
// forgets a call that runs.
type Ledger[C any] struct {
	cfg Config
	id  string // if there is no store

	mu       sync.Mutex
	entries  map[Key]*Entry[C]
	harmless outcomes[C] // of calls without side effects
	effects  outcomes[C] // of calls with side effects
	bytes    int         // of both
}

// New returns an empty ledger.
func New[C any](cfg Config) *Ledger[C] {
	return &Ledger[C]{cfg: cfg, id: rand.Text(), entries: map[Key]*Entry[C]{}}
}

// ID returns what distinguishes this ledger from all others: the id of the store, or, without a
// store, an id that lasts as long as the Ledger.
func (l *Ledger[C]) ID() string {
	if l.cfg.Store != nil {
		return l.cfg.Store.ID()
	}
	return l.id
}

// Check refuses a call that may have been executed where this ledger cannot see it: under another
// ledger, or so long ago that this ledger has forgotten it. To execute it could double its effects.
func (l *Ledger[C]) Check(call *tool.Call) *tool.Error {
	store := l.cfg.Store
	switch {
	case call.Ledger != "" && call.Ledger != l.ID():
		return unknown(call.ID,
			"the call may have been executed under the ledger %.40q, and this toolhost has the ledger %q: nothing was executed now; "+
				"send the call to the toolhost that it was first sent to, or find out what happened and make a new call", call.Ledger, l.ID())
	case call.FirstSent.IsZero() || call.ID == "" || store == nil || !store.Forgets(call.FirstSent):
		return nil
	case store.Known(Key{Principal: call.Principal, Session: call.Session, ID: call.ID}):
		return nil
	default:
		return unknown(call.ID,
			"the call was first sent at %s, and the ledger forgets calls of that age: nothing was executed now; find out what happened and make a new call",
			call.FirstSent.UTC().Format(time.RFC3339))
	}
}

func unknown(callID, format string, args ...any) *tool.Error {
	err := tool.Errorf(tool.KindOutcomeUnknown, format, args...)
	err.CallID = callID
	return err
}

// Claim gives an entry its id, and returns the entry; or, if the same call has the id, the entry of
// that call, or what the store knows of it; or why the id cannot be used. An entry that has been
// released, because a preview of its call failed, is returned without getting the id: nothing was
// executed and nothing will be.
func (l *Ledger[C]) Claim(ctx context.Context, e *Entry[C], sum Sum) (*Entry[C], *callstore.Entry, *tool.Error) {
	if l.cfg.Store != nil && !e.generated && !e.fresh { // otherwise the memory is complete
		if holder, stored, refused := l.Holder(ctx, e.key, sum); holder != nil || stored != nil || refused != nil {
			return holder, stored, refused
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if holder, conflict := l.holderLocked(e.key, sum); holder != nil || conflict != nil {
		return holder, nil, conflict
	}
	if !e.over {
		e.claim(sum)
		l.entries[e.key] = e
	}
	return e, nil, nil
}

// Holder returns the entry that has an id, or what the store knows of it, if it is that of the same
// call; or why the id cannot be used; or nothing if the id is free.
func (l *Ledger[C]) Holder(ctx context.Context, key Key, sum Sum) (*Entry[C], *callstore.Entry, *tool.Error) {
	l.mu.Lock()
	holder, refused := l.holderLocked(key, sum)
	l.mu.Unlock()
	if holder != nil || refused != nil || l.cfg.Store == nil {
		return holder, nil, refused
	}
	stored, found, err := l.cfg.Store.Find(ctx, key)
	switch {
	case err != nil:
		return nil, nil, tool.Errorf(tool.KindUnavailable, "whether the call id was used before cannot be seen: %w; nothing was executed", err)
	case found && stored.Sum != sum:
		return nil, nil, conflict(key)
	// otherwise the call began just now
	case found && !(stored.State == callstore.StateBegun && l.Find(key) != nil):
		return nil, &stored, nil
	}
	return nil, nil, nil
}

func (l *Ledger[C]) holderLocked(key Key, sum Sum) (*Entry[C], *tool.Error) {
	taken := l.entries[key]
	switch {
	case taken == nil:
		return nil, nil
	case taken.Sum() != sum:
		return nil, conflict(key)
	default:
		return taken, nil
	}
}

func conflict(key Key) *tool.Error {
	err := tool.Errorf(tool.KindConflict, "the call id %q is taken by a call with another tool or other arguments; use a new id for a new call", key.ID)
	err.CallID = key.ID
	return err
}

// Find returns the entry that has an id in memory, or nil.
func (l *Ledger[C]) Find(key Key) *Entry[C] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[key]
}

// All returns all entries in memory, in no order.
func (l *Ledger[C]) All() []*Entry[C] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.entries))
}

func (l *Ledger[C]) release(e *Entry[C]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.over = true
	l.forgetLocked(e)
}

func (l *Ledger[C]) forgetLocked(e *Entry[C]) {
	if l.entries[e.key] == e {
		delete(l.entries, e.key)
	}
}

func (l *Ledger[C]) settle(e *Entry[C], size int, sideEffects bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !e.over
	e.over = true
	_, claimed, _ := e.standing()
	switch {
	case !first || !claimed:
		return
	case e.generated: // no caller knows the id
		l.forgetLocked(e)
		return
	}
	e.bytes = size
	l.bytes += size
	if sideEffects {
		l.effects.push(e)
	} else {
		l.harmless.push(e)
	}
	for l.harmless.count+l.effects.count > l.cfg.MaxEntries || l.bytes > l.cfg.MaxBytes {
		l.evictLocked()
	}
}

// evictLocked forgets the oldest outcome of a call without side effects, or, if there is none, the
// oldest outcome.
func (l *Ledger[C]) evictLocked() {
	from := &l.harmless
	if from.count == 0 {
		from = &l.effects
	}
	oldest := from.pop()
	l.bytes -= oldest.bytes
	delete(l.entries, oldest.key)
}

// outcomes is a list of entries whose calls have ended, the oldest first.
type outcomes[C any] struct {
	oldest, newest *Entry[C]
	count          int
}

func (o *outcomes[C]) push(e *Entry[C]) {
	if o.newest == nil {
		o.oldest = e
	} else {
		o.newest.next = e
	}
	o.newest = e
	o.count++
}

// pop removes the oldest entry. The list must not be empty.
func (o *outcomes[C]) pop() *Entry[C] {
	e := o.oldest
	if o.oldest = e.next; o.oldest == nil {
		o.newest = nil
	}
	e.next = nil
	o.count--
	return e
}
