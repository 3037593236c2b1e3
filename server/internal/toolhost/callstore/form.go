package callstore

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Standing is State and How in one column of a store.
type Standing int64

// Stores contain these values. They must never change.
const (
	StandsBegun     Standing = 0
	StandsSucceeded Standing = 1
	StandsToolError Standing = 2
	StandsFailed    Standing = 3
	StandsUnknown   Standing = 4
	StandsFree      Standing = 5
)

// State returns the state of a call in this standing.
func (s Standing) State() State {
	switch s {
	case StandsBegun:
		return StateBegun
	case StandsUnknown:
		return StateUnknown
	case StandsFree:
		return StateFree
	default:
		return StateEnded
	}
}

// How returns how a call in this standing ended.
func (s Standing) How() tool.CallState {
	switch s {
	case StandsBegun:
		return tool.CallRunning
	case StandsSucceeded:
		return tool.CallSucceeded
	case StandsToolError:
		return tool.CallToolError
	default:
		return tool.CallFailed
	}
}

func standingOf(out *tool.Outcome) Standing {
	switch {
	case out.Err != nil:
		return StandsFailed
	case out.Result.IsError:
		return StandsToolError
	default:
		return StandsSucceeded
	}
}

// verdicts are the verdicts in the order of their numbers in a store. They must never change.
var verdicts = []tool.Verdict{"", tool.VerdictHappened, tool.VerdictDidNotHappen, tool.VerdictUnknown}

// VerdictNumber returns the number of a verdict in a store; 0: none.
func VerdictNumber(v tool.Verdict) int { return max(slices.Index(verdicts, v), 0) }

// SettlementOf returns the settlement with a verdict in its form in a store; nil if there is none.
func SettlementOf(number int, reason string) *tool.Settlement {
	if number < 1 || number >= len(verdicts) {
		return nil
	}
	return &tool.Settlement{Verdict: verdicts[number], Reason: reason}
}

// Hash identifies a key in a store. It takes about 2⁶⁴ tries to find two keys with the same hash.
type Hash [16]byte

func (k Key) Hash() Hash {
	var room [512]byte
	text := room[:0]
	for _, part := range []string{k.Principal, k.Session, k.ID} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return Hash(sum[:len(Hash{})])
}
