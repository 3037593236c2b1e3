package host

import (
	"container/list"
	"crypto/sha256"
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
	entries  map[ledgerKey]*ledgerEntry
	harmless *list.List // of *ledgerEntry that have ended, without side effects, the oldest first
	effects  *list.List // of *ledgerEntry that have ended, with side effects, the oldest first
	bytes    int        // of ended entries
}

// ledgerKey scopes a call id: principals and sessions cannot see each other's calls.
type ledgerKey struct{ principal, session, id string }

type ledgerEntry struct {
	key   ledgerKey
	sum   [sha256.Size]byte // of the tool and the canonical arguments: what "the same call" means
	run   *run
	bytes int
}

func newLedger(maxEntries, maxBytes int) *ledger {
	return &ledger{
		maxEntries: maxEntries,
		maxBytes:   maxBytes,
		entries:    map[ledgerKey]*ledgerEntry{},
		harmless:   list.New(),
		effects:    list.New(),
	}
}

// sumCall returns what is the same for calls that are: of the same tool, with arguments that mean the same.
func sumCall(toolName string, given arguments.Parsed) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(toolName))
	h.Write([]byte{0})
	h.Write(given.Meaning())
	return [sha256.Size]byte(h.Sum(nil))
}

// holder returns the run that has the id, if it is that of the same call; or a conflict; or neither if the id is free.
func (l *ledger) holder(key ledgerKey, sum [sha256.Size]byte) (*run, *tool.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holderLocked(key, sum)
}

func (l *ledger) holderLocked(key ledgerKey, sum [sha256.Size]byte) (*run, *tool.Error) {
	taken := l.entries[key]
	switch {
	case taken == nil:
		return nil, nil
	case taken.sum != sum:
		return nil, conflict(key)
	default:
		return taken.run, nil
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
	if e := l.entries[key]; e != nil {
		return e.run
	}
	return nil
}

// runs returns all runs that have an id, in no order.
func (l *ledger) runs() []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	runs := make([]*run, 0, len(l.entries))
	for _, e := range l.entries {
		runs = append(runs, e.run)
	}
	return runs
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
	if !r.over {
		r.entry = &ledgerEntry{key: key, sum: sum, run: r}
		l.entries[key] = r.entry
	}
	return r, nil
}

// release forgets a run that was never given to a plugin, so that its id can be used again.
func (l *ledger) release(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.over = true
	if e := r.entry; e != nil && l.entries[e.key] == e {
		delete(l.entries, e.key)
	}
}

// settle notes that a run has its outcome, and evicts what is too much. An id that the host made is forgotten at once:
// nobody comes back with it.
func (l *ledger) settle(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := r.entry
	if r.over {
		return
	}
	r.over = true
	if e == nil || l.entries[e.key] != e {
		return
	}
	if r.minted {
		delete(l.entries, e.key)
		return
	}
	e.bytes = r.size()
	l.bytes += e.bytes
	if r.tool.Spec.HasSideEffects() {
		l.effects.PushBack(e)
	} else {
		l.harmless.PushBack(e)
	}
	for l.harmless.Len()+l.effects.Len() > l.maxEntries || l.bytes > l.maxBytes {
		l.evictLocked()
	}
}

// evictLocked forgets the oldest outcome that may be had again by executing the call once more, or, if there is none, the
// oldest.
func (l *ledger) evictLocked() {
	from := l.harmless
	if from.Len() == 0 {
		from = l.effects
	}
	oldest := from.Remove(from.Front()).(*ledgerEntry)
	l.bytes -= oldest.bytes
	delete(l.entries, oldest.key)
}
