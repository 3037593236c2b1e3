package host

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/tool"
)

// ledger remembers calls by id, so that an id is never executed twice: its second use joins the running call, or gets
// the outcome again, or is refused because it means something else. Outcomes are kept in memory and evicted when there are
// too many or they are too large: those without side effects first, the oldest first; calls under way are never evicted.
type ledger struct {
	maxEntries, maxBytes int

	mu       sync.Mutex
	runs     map[ledgerKey]*run
	harmless outcomes // without side effects
	effects  outcomes // with side effects
	bytes    int      // of both
}

// ledgerKey scopes a call id: principals and sessions cannot see each other's calls.
type ledgerKey struct{ principal, session, id string }

// ledgerEntry is what the ledger knows of a run. It is a part of the run; the ledger's lock guards it, but for sum and claimed,
// which are set before the run begins.
type ledgerEntry struct {
	sum     [sha256.Size]byte // of the tool and the canonical arguments: what "the same call" means
	claimed bool              // the run was given its id
	over    bool              // the run takes no id any more
	bytes   int               // that the run holds, once it has ended
	next    *run              // among the outcomes
}

// outcomes are runs that have ended, the oldest first.
type outcomes struct {
	oldest, newest *run
	count          int
}

func (o *outcomes) push(r *run) {
	if o.newest == nil {
		o.oldest = r
	} else {
		o.newest.entry.next = r
	}
	o.newest = r
	o.count++
}

// pop must not be called where there are none.
func (o *outcomes) pop() *run {
	r := o.oldest
	if o.oldest = r.entry.next; o.oldest == nil {
		o.newest = nil
	}
	r.entry.next = nil
	o.count--
	return r
}

func newLedger(maxEntries, maxBytes int) *ledger {
	return &ledger{maxEntries: maxEntries, maxBytes: maxBytes, runs: map[ledgerKey]*run{}}
}

// sumCall returns what is the same for calls that are: of the same tool, with arguments that mean the same.
func sumCall(toolName string, given arguments.Parsed) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte(toolName))
	h.Write([]byte{0})
	h.Write(given.Meaning())
	h.Sum(sum[:0])
	return sum
}

// holder returns the run that has the id, if it is that of the same call; or a conflict; or neither if the id is free.
func (l *ledger) holder(key ledgerKey, sum [sha256.Size]byte) (*run, *tool.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holderLocked(key, sum)
}

func (l *ledger) holderLocked(key ledgerKey, sum [sha256.Size]byte) (*run, *tool.Error) {
	taken := l.runs[key]
	switch {
	case taken == nil:
		return nil, nil
	case taken.entry.sum != sum:
		return nil, conflict(key)
	default:
		return taken, nil
	}
}

func conflict(key ledgerKey) *tool.Error {
	err := tool.Errorf(tool.KindConflict, "the call id %q is taken by a call with another tool or other arguments; use a new id for a new call", key.id)
	err.CallID = key.id
	return err
}

// find returns the run that has the id, or nil.
func (l *ledger) find(key ledgerKey) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[key]
}

// all returns all runs that have an id, in no order.
func (l *ledger) all() []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.runs))
}

// claim records the run under its id and returns it; or, if the id is taken by the same call, the run that has it; or
// a conflict. A run that is over, because its preview failed, has executed nothing and is returned without being
// recorded.
func (l *ledger) claim(key ledgerKey, sum [sha256.Size]byte, r *run) (*run, *tool.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if holder, conflict := l.holderLocked(key, sum); holder != nil || conflict != nil {
		return holder, conflict
	}
	if !r.entry.over {
		r.entry.sum, r.entry.claimed = sum, true
		l.runs[key] = r
	}
	return r, nil
}

// release forgets a run that was never given to a plugin, so that its id can be used again.
func (l *ledger) release(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.entry.over = true
	l.forgetLocked(r)
}

func (l *ledger) forgetLocked(r *run) {
	if key := r.ledgerKey(); l.runs[key] == r {
		delete(l.runs, key)
	}
}

// settle notes that a run has its outcome, and evicts what is too much. An id that the host made is forgotten at once:
// nobody comes back with it.
func (l *ledger) settle(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &r.entry
	first := !e.over
	e.over = true
	switch {
	case !first || !e.claimed:
		return
	case r.minted:
		l.forgetLocked(r)
		return
	}
	e.bytes = r.size()
	l.bytes += e.bytes
	if r.tool.Spec.HasSideEffects() {
		l.effects.push(r)
	} else {
		l.harmless.push(r)
	}
	for l.harmless.count+l.effects.count > l.maxEntries || l.bytes > l.maxBytes {
		l.evictLocked()
	}
}

// evictLocked forgets the oldest outcome that may be had again by executing the call once more, or, if there is none, the
// oldest.
func (l *ledger) evictLocked() {
	from := &l.harmless
	if from.count == 0 {
		from = &l.effects
	}
	oldest := from.pop()
	l.bytes -= oldest.entry.bytes
	delete(l.runs, oldest.ledgerKey())
}
