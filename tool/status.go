package tool

import (
	"encoding/json"
	"time"
)

// Status is what a call shows to people while it runs. Statuses fold into one: see StatusState for the order; tip,
// progress and result are overwritten where set, parameters are merged deeply. Nothing comes after a terminal state.
type Status struct {
	State      StatusState     `json:"state,omitempty"` // empty: as before
	Tip        string          `json:"tip,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // a JSON object
	Progress   *Progress       `json:"progress,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
}

// Fold returns the status that people see after s, when next comes: what next sets takes the place of what was there, and
// parameters are merged, objects deeply. Nothing comes after a terminal state, and a state never goes back: such a next
// leaves s as it is.
func (s Status) Fold(next Status) Status {
	if !next.State.MayFollow(s.State) {
		return s
	}
	if next.State != "" {
		s.State = next.State
	}
	if next.Tip != "" {
		s.Tip = next.Tip
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

// mergeObjects returns the members of both JSON objects; where both have one, the second's counts, or, if it is an
// object in both, what they have together. What is not an object gives way to what is.
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

// StatusState is where a call stands, for people. A state never goes back: wait, doing, then success or error.
type StatusState string

// The states of a status.
const (
	StatusWait    StatusState = "WAIT"    // the arguments are not complete, or the work has not begun
	StatusDoing   StatusState = "DOING"   // at work
	StatusSuccess StatusState = "SUCCESS" // ended well
	StatusError   StatusState = "ERROR"   // ended badly
)

// Terminal reports whether nothing may come after the state.
func (s StatusState) Terminal() bool { return s == StatusSuccess || s == StatusError }

// MayFollow reports whether a status of state s may come after one of state before: nothing comes after a terminal state,
// and a state never goes back. An empty s is the state before; an empty before is that of a call without a status.
func (s StatusState) MayFollow(before StatusState) bool {
	return !before.Terminal() && (s == "" || s.order() >= before.order())
}

// order returns the place of a state among those of a call; 0 if it is not known.
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

// Progress is how far a call is.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"` // 0: unknown
	Message string  `json:"message,omitempty"`
}

// LogRecord is one line of a tool's own log.
type LogRecord struct {
	Time       time.Time                  `json:"time,omitzero"`
	Level      LogLevel                   `json:"level"`
	Message    string                     `json:"message"`
	Attributes map[string]json.RawMessage `json:"attributes,omitempty"`
}

// LogLevel is how grave a log record is. Empty means info.
type LogLevel string

// The levels of a log record.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)
