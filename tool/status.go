package tool

import (
	"encoding/json"
	"time"
)

// Status is the state of a call, for people. A later status changes an earlier one; see Fold.
// Nothing follows a terminal state.
type Status struct {
	State      StatusState     `json:"state,omitempty"`      // empty: unchanged
	Message    string          `json:"message,omitempty"`    // one line; empty: unchanged
	Parameters json.RawMessage `json:"parameters,omitempty"` // a JSON object
	Progress   *Progress       `json:"progress,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
}

// Fold returns s changed by next. A field that next sets replaces that of s, and objects in
// Parameters are merged deeply. Fold returns s unchanged if s is terminal or the state would go
// back.
func (s Status) Fold(next Status) Status {
	if !next.State.MayFollow(s.State) {
		return s
	}
	if next.State != "" {
		s.State = next.State
	}
	if next.Message != "" {
		s.Message = next.Message
	}
	if next.Progress != nil {
		progress := *next.Progress
		s.Progress = &progress
	}
	if next.Result != nil {
		s.Result = next.Result
	}
	s.Parameters = mergeObjects(s.Parameters, next.Parameters)
	return s
}

// mergeObjects returns a JSON object with the members of a and b. If both have a member, the result
// has that of b, or their merged members if both are objects. If only one of a and b is an object,
// the result is that one.
func mergeObjects(a, b json.RawMessage) json.RawMessage {
	var old, more map[string]json.RawMessage
	if json.Unmarshal(b, &more) != nil || more == nil {
		return a
	}
	if json.Unmarshal(a, &old) != nil || old == nil {
		return b
	}
	for key, value := range more {
		if have, ok := old[key]; ok {
			value = mergeValues(have, value)
		}
		old[key] = value
	}
	merged, err := json.Marshal(old)
	if err != nil {
		return b
	}
	return merged
}

func mergeValues(a, b json.RawMessage) json.RawMessage {
	var old, more map[string]json.RawMessage
	if json.Unmarshal(a, &old) != nil || old == nil || json.Unmarshal(b, &more) != nil || more == nil {
		return b
	}
	return mergeObjects(a, b)
}

// StatusState is the state of a call, for people. It only moves forward: wait, doing, then success
// or error.
type StatusState string

// The states of a status.
const (
	StatusWait    StatusState = "WAIT"    // the arguments are not complete, or the work has not begun
	StatusDoing   StatusState = "DOING"   // in progress
	StatusSuccess StatusState = "SUCCESS" // succeeded
	StatusError   StatusState = "ERROR"   // failed
)

// Terminal reports whether no state may follow.
func (s StatusState) Terminal() bool { return s == StatusSuccess || s == StatusError }

// MayFollow reports whether s may follow the state before. Nothing follows a terminal state, and a
// state never goes back. An empty s leaves the state unchanged; an empty before is that of a call
// without a status.
func (s StatusState) MayFollow(before StatusState) bool {
	return !before.Terminal() && (s == "" || s.order() >= before.order())
}

// order returns the position of a state in a call, or 0 for an unknown state.
func (s StatusState) order() int {
	switch s {
	case StatusWait:
		return 1
	case StatusDoing:
		return 2
	case StatusSuccess, StatusError:
		return 3
	default:
		return 0
	}
}

// Progress is how much of a call is done, in a unit that the tool chooses.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"` // 0: unknown
	Message string  `json:"message,omitempty"`
}

// LogRecord is one record of a tool's log.
type LogRecord struct {
	Time       time.Time                  `json:"time,omitzero"`
	Level      LogLevel                   `json:"level"`
	Message    string                     `json:"message"`
	Attributes map[string]json.RawMessage `json:"attributes,omitempty"`
}

// LogLevel is the severity of a log record. Empty means info.
type LogLevel string

// The levels of a log record.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)
