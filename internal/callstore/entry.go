package callstore

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Key names a call. Principals and sessions cannot see each other's ids.
type Key struct{ Principal, Session, ID string }

// State is what the store knows of the end of a call.
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
)

// Entry is a stored call. The caller of Begin sets Key, Sum, Tool, Plugin and Begun; the store sets
// the rest.
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
	}
}

// standing is State and How in one column of the file.
type standing int64

// The file contains these values. They must never change.
const (
	standsBegun     standing = 0
	standsSucceeded standing = 1
	standsToolError standing = 2
	standsFailed    standing = 3
	standsUnknown   standing = 4
)

func (s standing) state() State {
	switch s {
	case standsBegun:
		return StateBegun
	case standsUnknown:
		return StateUnknown
	default:
		return StateEnded
	}
}

func (s standing) how() tool.CallState {
	switch s {
	case standsBegun:
		return tool.CallRunning
	case standsSucceeded:
		return tool.CallSucceeded
	case standsToolError:
		return tool.CallToolError
	default:
		return tool.CallFailed
	}
}

func standingOf(out *tool.Outcome) standing {
	switch {
	case out.Err != nil:
		return standsFailed
	case out.Result.IsError:
		return standsToolError
	default:
		return standsSucceeded
	}
}

// hash identifies a key. It takes about 2⁶⁴ tries to find two keys with the same hash.
type hash [16]byte

func (k Key) hash() hash {
	var room [512]byte
	text := room[:0]
	for _, part := range []string{k.Principal, k.Session, k.ID} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return hash(sum[:len(hash{})])
}
