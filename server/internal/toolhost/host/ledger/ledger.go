// Package ledger remembers calls by id, so that toolhost does not execute a call id twice.
//
// If an id is used again, the same call joins the first one or gets its recorded outcome. A
// different call is refused. A Ledger keeps all calls in memory as long as it has room. It also
// writes calls with side effects to a callstore.Calls, which outlives the process. The package does
// not know how a call is executed.
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

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/shares"
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
	Store      callstore.Calls // not owned; nil: calls are kept in memory only
	MaxEntries int             // outcomes in memory
	MaxBytes   int             // of the outcomes in memory
	// Quota returns the most bytes of the outcomes of a tenant in memory; 0: no bound. Nil: no tenant
	// has one. It is called with a lock held and must not block.
	Quota  func(tenant string) int64
	Logger *slog.Logger // required
}

// Ledger remembers calls. C is the type of a call: the ledger stores values of C and never reads
// them. All methods are safe for concurrent use.
//
// The memory of a ledger is bounded. When it is full, the tenant with the most outcomes loses one,
// so that a tenant with few of them keeps them while another one makes many calls. Of this tenant,
// the ledger first forgets outcomes of calls without side effects, because executing such a call
// again does no harm. In both groups it forgets the oldest first. It never forgets a call that is
// in progress.
type Ledger[C any] struct {
	cfg Config
	id  string // if there is no store

	mu      sync.Mutex
	entries map[Key]*Entry[C]
	tenants map[string]*kept[C] // those that have outcomes
	weights shares.Shares       // of the tenants
	count   int                 // of all outcomes
	bytes   int
}

// kept are the outcomes of one tenant.
type kept[C any] struct {
	harmless outcomes[C] // of calls without side effects
	effects  outcomes[C] // of calls with side effects
	bytes    int
}

// New returns an empty ledger.
func New[C any](cfg Config) *Ledger[C] {
	return &Ledger[C]{cfg: cfg, id: rand.Text(), entries: map[Key]*Entry[C]{}, tenants: map[string]*kept[C]{}}
}

// ID returns an id that no other ledger has: the id of the store, or, without a store, an id that
// is valid as long as the Ledger.
func (l *Ledger[C]) ID() string {
	if l.cfg.Store != nil {
		return l.cfg.Store.ID()
	}
	return l.id
}

// is reports whether an id is that of this ledger, or of one whose calls it has.
func (l *Ledger[C]) is(id string) bool {
	return id == l.ID() || l.cfg.Store != nil && l.cfg.Store.Is(id)
}

// Claim gives an entry its id. The result is one of these: the entry itself, if it got the id; the
// entry, or the store's record, of the same call, if that has the id; or an error that says why the
// id cannot be used. Claim returns an entry that has been released without giving it the id. The
// preview of its call failed, so nothing was executed and nothing will be.
//
// recorded says that the call may be recorded in the store. Otherwise Claim does not ask a store
// that other toolhosts share: to execute the call again does no harm, and it must not depend on a
// database.
func (l *Ledger[C]) Claim(ctx context.Context, e *Entry[C], sum Sum, recorded bool) (*Entry[C], *callstore.Entry, *tool.Error) {
	if l.cfg.Store != nil && !e.generated && (recorded || !l.cfg.Store.Shared()) { // otherwise the memory is complete
		holder, stored, refused := l.Holder(ctx, e.key, sum)
		if stored != nil && stored.State == callstore.StateFree {
			e.setSettled(stored.Settled)
		} else if holder != nil || stored != nil || refused != nil {
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

// Holder returns the entry that has an id, or the store's record of it, if it belongs to the same
// call. It returns an error if the id cannot be used, and nothing if the id is free. The store's
// record of a call in StateFree says why the same call may have the id again. One with Elsewhere is
// that of a call without an outcome, which another toolhost executes.
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
		return nil, nil, unrecorded("whether the call id was used before cannot be seen", err)
	case found && stored.Sum != sum:
		return nil, nil, Conflict(key)
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
		return nil, Conflict(key)
	default:
		return taken, nil
	}
}

// Conflict returns the error for a call whose id another call has.
func Conflict(key Key) *tool.Error {
	err := tool.Errorf(tool.KindConflict, "the call id %q is taken by a call with another tool or other arguments; use a new id for a new call", key.ID)
	err.CallID = key.ID
	return err
}

// Elsewhere returns the error for who asks for more of a call of another toolhost than its outcome.
func Elsewhere(e *callstore.Entry) *tool.Error {
	err := tool.Errorf(tool.KindUnavailable, "the call is under way at the toolhost %s, which alone can show its progress, answer its questions and cancel it; "+
		"repeat it here with its id to get its outcome", e.Elsewhere)
	err.CallID, err.RetryAfter = e.ID, time.Second
	return err
}

// StillElsewhere returns the error for who has waited here for a call of another toolhost. why says
// why the wait is over. Its kind is outcome_unknown, because who makes the call again with another
// id could pay twice.
func StillElsewhere(e *callstore.Entry, why error) *tool.Error {
	err := tool.Errorf(tool.KindOutcomeUnknown, "%w, and the call is under way at the toolhost %s: it may have done all of its work, a part or none, and may go on; "+
		"repeat it with its id to get its outcome", why, e.Elsewhere)
	err.CallID = e.ID
	return err
}

// Find returns the entry that has an id in memory, or nil.
func (l *Ledger[C]) Find(key Key) *Entry[C] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[key]
}

// Drop makes the ledger forget the outcome of a call in memory, because the store has a later one.
// It does nothing to a call in progress.
func (l *Ledger[C]) Drop(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[key]; e != nil && e.Finished() && !e.generated {
		l.forgetLocked(e) // its list has it until it is evicted, also if Settle puts it there later
	}
}

// All returns all entries in memory, in no order.
func (l *Ledger[C]) All() []*Entry[C] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.entries))
}

// Usage returns how many calls are in memory, and how many bytes their outcomes take.
func (l *Ledger[C]) Usage() (calls, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries), l.bytes
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
	tenant := identity.TenantOf(e.key.Principal)
	of := l.tenants[tenant]
	if of == nil {
		of = &kept[C]{}
		l.tenants[tenant] = of
	}
	if sideEffects {
		of.effects.push(e)
	} else {
		of.harmless.push(e)
	}
	l.addLocked(tenant, of, 1, size)
	if l.cfg.Quota != nil {
		for most := l.cfg.Quota(tenant); most > 0 && int64(of.bytes) > most; {
			l.evictLocked(tenant)
		}
	}
	for l.count > l.cfg.MaxEntries || l.bytes > l.cfg.MaxBytes {
		l.evictLocked(l.weights.Largest())
	}
}

// evictLocked forgets the oldest outcome of a tenant of a call without side effects, or, if there
// is none, the oldest outcome of the tenant.
func (l *Ledger[C]) evictLocked(tenant string) {
	of := l.tenants[tenant]
	from := &of.harmless
	if from.count == 0 {
		from = &of.effects
	}
	oldest := from.pop()
	l.addLocked(tenant, of, -1, -oldest.bytes)
	l.forgetLocked(oldest) // another call may have the id, see Drop
}

// addLocked changes the numbers of outcomes. The weight of a tenant combines the number and the
// bytes of its outcomes: each counts as much as its part of the bound.
func (l *Ledger[C]) addLocked(tenant string, of *kept[C], count, size int) {
	l.count += count
	l.bytes += size
	of.bytes += size
	l.weights.Add(tenant, int64(size)+int64(count*max(l.cfg.MaxBytes/max(l.cfg.MaxEntries, 1), 1)))
	if of.harmless.count+of.effects.count == 0 {
		delete(l.tenants, tenant)
	}
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
