package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// Entry is the ledger's record of one call. It is part of the call. Use Init before any other
// method but Conclude and Finished. All methods are safe for concurrent use.
//
// A call first claims its id (Ledger.Claim). Begin writes to the store that a plugin is about to
// execute the call. Conclude decides which of several goroutines ends the call. That goroutine then
// calls End, or Forget and Release, before any caller can see the outcome: a caller that has seen
// an outcome must get the same one for ever.
type Entry[C any] struct {
	Call C // the call that the entry belongs to

	ledger    *Ledger[C]
	key       Key
	generated bool // see Init

	toolName  string // set by Begin, for the log
	effectKey string // set by EffectKey

	// The mutex of the ledger guards these.
	over  bool      // the entry gets no id any more
	bytes int       // what the call takes, once it has ended
	next  *Entry[C] // in outcomes

	mu       sync.Mutex
	sum      Sum  // written with the mutex of the ledger held too
	claimed  bool // the call has its id
	begun    bool // the store has the call
	finished bool // the call has an outcome
	settled  *tool.Settlement
}

// ErrFinished is the error of Begin for a call that has ended meanwhile. It is a context.Canceled.
var ErrFinished = fmt.Errorf("the call has ended: %w", context.Canceled)

// Init connects the entry with a ledger. generated says that toolhost generated the id. No caller
// can use such an id again, so the ledger neither stores the call nor keeps its outcome.
func (e *Entry[C]) Init(l *Ledger[C], call C, key Key, generated bool) {
	e.Call, e.ledger, e.key, e.generated = call, l, key, generated
}

// Key returns the name of the call.
func (e *Entry[C]) Key() Key { return e.key }

// IdempotencyKey returns a text that identifies the call among the calls of all principals,
// sessions and ledgers. A call that is repeated has the same one. Who does not know the id of the
// ledger cannot find out by trials of whom the call is, nor its id.
func (e *Entry[C]) IdempotencyKey() string {
	mac := hmac.New(sha256.New, []byte(e.ledger.ID()))
	for _, field := range []string{e.key.Principal, e.key.Session, e.key.ID} {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(field), field)
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// EffectKey returns what names this execution to its tool, for the place where the effect happens.
// A call that is executed again, because it did not happen, has another one. It must not be called
// concurrently, and not after Begin for the first time.
func (e *Entry[C]) EffectKey() string {
	if e.effectKey == "" {
		e.effectKey = strings.ToLower(rand.Text())
	}
	return e.effectKey
}

// Generated reports whether toolhost generated the id of the call.
func (e *Entry[C]) Generated() bool { return e.generated }

// Sum returns the digest of the call; zero before it has claimed its id.
func (e *Entry[C]) Sum() Sum {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sum
}

// claim records that the call has its id. The caller holds the mutex of the ledger.
func (e *Entry[C]) claim(sum Sum) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sum, e.claimed = sum, true
}

// Settled returns what the tool said about an earlier execution under the id, which did not happen;
// nil: there was none.
func (e *Entry[C]) Settled() *tool.Settlement {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.settled
}

func (e *Entry[C]) setSettled(said *tool.Settlement) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settled = said
}

// standing returns what Begin and the ledger need to know of the call so far.
func (e *Entry[C]) standing() (sum Sum, claimed, begun bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sum, e.claimed, e.begun
}

// Begin writes to the store that a plugin is about to execute the call, which must have side
// effects. It does nothing if no caller can use the id again, or if it was called before. quota
// bounds the ids in the store. arguments are the final arguments of a call that its tool can
// settle; nil: it cannot. seals says that its check seals. supersedes are the calls that it closes,
// see callstore.Writer. If Begin returns an error, the plugin must not execute the call; Refusal
// converts the error for the caller.
func (e *Entry[C]) Begin(ctx context.Context, toolName, plugin string, arrived time.Time, arguments []byte, seals bool, supersedes []string, quota callstore.Quota) error {
	store := e.ledger.cfg.Store
	sum, claimed, begun := e.standing()
	if store == nil || e.generated || !claimed || begun {
		return nil
	}
	e.toolName = toolName
	begins := callstore.Entry{Key: e.key, Sum: sum, Tool: toolName, Plugin: plugin, Begun: arrived, Arguments: arguments, Seals: seals, Supersedes: supersedes}
	if arguments != nil {
		begins.EffectKey = e.EffectKey()
	}
	err := store.BeginWithin(ctx, begins, quota)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.begun = !e.finished
	late := e.finished
	e.mu.Unlock()
	if late { // such as when the instance died meanwhile
		e.Forget(ctx)
		return ErrFinished
	}
	return nil
}

// Refusal returns the caller's error for an error of Begin other than callstore.ErrTaken. The store
// is full, or it failed.
func (e *Entry[C]) Refusal(err error) *tool.Error {
	if full, ok := errors.AsType[*callstore.FullError](err); ok && full.Owner != "" {
		e := tool.Errorf(tool.KindRateLimited, "%w; nothing was executed", err)
		e.RetryAfter = max(time.Until(full.Room), 0)
		return e
	} else if errors.Is(err, callstore.ErrSuperseding) {
		return tool.Errorf(tool.KindConflict, "%w: look how it ended before you make a new call; nothing was executed", err)
	} else if ok {
		e := tool.Errorf(tool.KindUnavailable, "%w: no more calls with side effects are taken; nothing was executed", err)
		e.RetryAfter = max(time.Until(full.Room), 0)
		return e
	}
	return unrecorded("the call cannot be recorded, and so it must not be made", err)
}

// awayRetry is when callers try again if the store cannot be reached. It tells them that the call
// is not refused for good, and agentd repeats such a call.
const awayRetry = time.Second

// unrecorded returns the caller's error for an error of the store, after which nothing was
// executed.
func unrecorded(what string, err error) *tool.Error {
	e := tool.Errorf(tool.KindUnavailable, "%s: %w; nothing was executed", what, err)
	if errors.Is(err, callstore.ErrUnavailable) {
		e.RetryAfter = awayRetry
	}
	return e
}

// Conclude reports whether the call had no outcome before, and whether the store has the call. Only
// the first caller of Conclude gives the call its outcome.
func (e *Entry[C]) Conclude() (first, begun bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first = !e.finished
	e.finished = true
	return first, e.begun
}

// Finished reports whether Conclude was called.
func (e *Entry[C]) Finished() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.finished
}

// End writes the outcome of a call that is in the store, also after ctx has ended. It only logs an
// error, because the call has been executed already. If the store does not take the outcome,
// because others have been told another one, End replaces it by that of the store.
func (e *Entry[C]) End(ctx context.Context, outcome *tool.Outcome) {
	ctx = context.WithoutCancel(ctx)
	err := e.ledger.cfg.Store.End(ctx, e.key, *outcome)
	if errors.Is(err, callstore.ErrNotBegun) {
		*outcome = e.storedInstead(ctx)
	}
	if err != nil {
		e.ledger.cfg.Logger.Error("the outcome of a call was not recorded: after a restart it may be outcome_unknown",
			"tool", e.toolName, "call", e.key.ID, "session", e.key.Session, "principal", e.key.Principal, "error", err)
	}
}

// storedInstead returns what callers are told about a call whose outcome was refused: this toolhost
// was declared gone, and the call was settled without it, or is executed again elsewhere.
func (e *Entry[C]) storedInstead(ctx context.Context) tool.Outcome {
	stored, found, err := e.ledger.cfg.Store.Find(ctx, e.key)
	if err == nil && found && stored.State != callstore.StateBegun && stored.State != callstore.StateFree {
		return StoredOutcome(&stored)
	}
	unknown := tool.Errorf(tool.KindOutcomeUnknown, "the call was executed, but others were told meanwhile that its outcome is unknown or that it did not happen; look before you make a new call")
	unknown.CallID = e.key.ID
	return tool.Outcome{CallID: e.key.ID, Err: unknown}
}

// Forget removes a call that reached no plugin from the store, also after ctx has ended. It logs an
// error.
func (e *Entry[C]) Forget(ctx context.Context) {
	if err := e.ledger.cfg.Store.Forget(context.WithoutCancel(ctx), e.key); err != nil {
		e.ledger.cfg.Logger.Error("a call that was not made stays recorded: its id cannot be used again",
			"tool", e.toolName, "call", e.key.ID, "session", e.key.Session, "principal", e.key.Principal, "error", err)
	}
}

// Release gives the id back: a plugin did not execute the call, and a later call may use the id.
func (e *Entry[C]) Release() { e.ledger.release(e) }

// Settle records that the call has its outcome. size is the memory of the outcome in bytes. The
// ledger may forget outcomes of other calls to make room.
func (e *Entry[C]) Settle(size int, sideEffects bool) { e.ledger.settle(e, size, sideEffects) }
