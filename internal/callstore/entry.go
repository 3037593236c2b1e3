package callstore

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Key names a call: principals and sessions cannot see each other's ids.
type Key struct{ Principal, Session, ID string }

// State is what the store knows of a call's end.
type State string

// The states of an entry.
const (
	// StateBegun: the call is under way, or its end could not be written yet.
	StateBegun State = "begun"
	// StateEnded: how it ended is known, and its outcome too unless that was evicted.
	StateEnded State = "ended"
	// StateUnknown: the process that had it died before it ended.
	StateUnknown State = "unknown"
)

// Entry is a call as the store remembers it. Begin takes Key, Sum, Tool, Plugin and Begun; the rest is the store's.
type Entry struct {
	Key
	Number int64             // its place in the order in which calls began; for Query.Before
	Sum    [sha256.Size]byte // of the tool and the arguments: what "the same call" means
	Tool   string
	Plugin string
	// Instance is the one that had the call last. Empty if it is not known.
	Instance string
	Begun    time.Time // to the nanosecond; zero for Begin: now
	Ended    time.Time // zero while it is under way; for StateUnknown when that was found out
	State    State
	// How says how it ended, also when the outcome is gone. StateUnknown is CallFailed, StateBegun is CallRunning.
	How tool.CallState
	// Err says why it failed, in short and without stderr lines, also when the outcome is gone; for StateUnknown its
	// kind is outcome_unknown. Nil unless How is CallFailed.
	Err *tool.Error
	// Outcome is nil if the call has not ended, the outcome was evicted or too large, and in what List returns. Its
	// Replayed is false and its error has no cause.
	Outcome *tool.Outcome
}

// Record returns the entry in the words of ListCalls.
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

// standing is State and How in one column.
type standing int64

// In the file; never change them.
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

// hash stands for a key. Two keys with one hash would cost 2⁶⁴ tries to find.
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
