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
