package callstore

import (
	"crypto/sha256"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Key names a call. Principals and sessions cannot see each other's ids.
type Key struct{ Principal, Session, ID string }

// State is the store's knowledge of how a call ended.
type State string

// The states of an entry.
const (
	// StateBegun: the call runs, or its end could not be written yet.
	StateBegun State = "begun"
	// StateEnded: the end of the call is known, and its outcome too unless the store has removed
	// it.
	StateEnded State = "ended"
	// StateUnknown: the process that executed the call died before the call ended.
	StateUnknown State = "unknown"
	// StateFree: the tool said that the call did not happen. The same call may begin again.
	StateFree State = "free"
)

// Entry is a stored call. The caller of Begin sets Key, Sum, Tool, Plugin, Begun, Arguments,
// EffectKey, Seals and Supersedes; the store sets the rest.
type Entry struct {
	Key
	Number int64             // the position of the call in the order of beginning, for Query.Before
	Sum    [sha256.Size]byte // the digest of the tool and the arguments, which identify a call
	Tool   string
	Plugin string
	// Instance is the instance that last had the call; empty: not known.
	Instance string
	Begun    time.Time // in nanoseconds; zero in Begin: now
	Ended    time.Time // zero while the call runs; for StateUnknown, when Open found out
	State    State
	// How is how the call ended, also after the outcome is removed. It is CallFailed for
	// StateUnknown, and CallRunning for StateBegun.
	How tool.CallState
	// Err is why the call failed, shortened and without lines of standard error, also after the
	// outcome is removed. For StateUnknown its kind is outcome_unknown. Nil unless How is
	// CallFailed.
	Err *tool.Error
	// Outcome is nil if the call has not ended, if the outcome was removed or too large, and in the
	// entries of List. Its Replayed is false, and its error wraps nothing.
	Outcome *tool.Outcome
	// Arguments are the final arguments of a call that its tool can settle. The store keeps at most
	// MaxArguments, and only until the call has a known outcome. nil: none, and in the entries of
	// List.
	Arguments []byte
	// EffectKey names the execution to the tool, see ledger.Entry. The store keeps it beside the
	// arguments. Empty in the entries of List.
	EffectKey string
	// Seals says that the check of the tool seals: what it says did not happen has no effect later
	// either. The caller of Begin sets it; in the entries of a store, see SealOnly.
	Seals bool
	// SealOnly says that only a check that seals may be asked here: the execution may have its
	// effects elsewhere, or may not be over. Only a store that several toolhosts share sets it.
	SealOnly bool
	// Supersedes are the ids of calls of the same principal and session that Begin closes, see
	// Writer.BeginWithin. Empty in the entries of a store.
	Supersedes []string
	// Beat changes while the toolhost of Elsewhere lives.
	Beat int64
	// Settled is what the tool said about the call when its outcome was unknown, without a result.
	// nil: the tool was not asked since the call began.
	Settled *tool.Settlement
	// Elsewhere names the other toolhost that has the call, as far as is known. Only a store that
	// several toolhosts share sets it, and only for StateBegun.
	Elsewhere string
}

// Unsettled reports whether the outcome is unknown and the tool can be asked.
func (e *Entry) Unsettled() bool { return e.Arguments != nil && e.unknown() }

// Sealable reports whether a check that seals can be asked while the call is under way at another
// toolhost.
func (e *Entry) Sealable() bool { return e.Arguments != nil && e.Elsewhere != "" && e.SealOnly }

// Superseded returns the keys of the calls that the begin of e closes.
func (e *Entry) Superseded() []Key {
	var keys []Key
	for _, id := range e.Supersedes {
		keys = append(keys, Key{Principal: e.Principal, Session: e.Session, ID: id})
	}
	return keys
}

// Closing returns the end that stores give a call that did not happen, or that they do not know,
// when a call with the id by supersedes it.
func Closing(by string) Ending {
	out := tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "the call was made again as %s, as a person decided, so it is not executed any more", by)}
	e, err := EncodeOutcome(&out, 0)
	if err != nil {
		panic(err) // cannot happen: the ids of calls are ASCII
	}
	return e
}

func (e *Entry) unknown() bool {
	return e.State == StateUnknown || e.State == StateEnded && e.Err != nil && e.Err.Kind == tool.KindOutcomeUnknown
}

// Record returns the entry in the form of ListCalls.
func (e *Entry) Record() tool.CallRecord {
	return tool.CallRecord{
		CallID:    e.ID,
		Principal: e.Principal,
		Session:   e.Session,
		Tool:      e.Tool,
		Plugin:    e.Plugin,
		Instance:  e.Instance,
		State:     e.How,
		Err:       e.Err,
		StartTime: e.Begun,
		EndTime:   e.Ended,
		Settled:   e.Settled,
	}
}
