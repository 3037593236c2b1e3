package tool

import "time"

// PluginExit is how one process of a plugin ended.
type PluginExit struct {
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Exit     Exit      `json:"exit"`
	Expected bool      `json:"expected"` // the toolhost wanted it to end
	// Calls are those that were executed when it ended, at most eight.
	Calls []ExitCall `json:"calls,omitempty"`
}

// ExitCall is a call that was executed when its process ended.
type ExitCall struct {
	CallID    string `json:"call_id"` // also where toolhost made it
	Tool      string `json:"tool"`
	Session   string `json:"session,omitempty"`
	Principal string `json:"principal"`
}

// PluginEvent is something that happened to a plugin or to one of its instances. The types are listed in
// proto/toolhost/v1/admin_service.proto.
type PluginEvent struct {
	Seq      uint64    `json:"seq"` // the event's place among all plugins' events, from 1
	Time     time.Time `json:"time"`
	Type     string    `json:"type"` // such as instance_ready
	Plugin   string    `json:"plugin"`
	Instance string    `json:"instance,omitempty"` // empty if it is about the plugin
	Digest   string    `json:"digest,omitempty"`   // the executable that it is about
	Reason   string    `json:"reason,omitempty"`
	Until    time.Time `json:"until,omitzero"` // when a backoff ends or a probe comes
}

// LogLine is a line that a plugin wrote.
type LogLine struct {
	Seq      uint64    `json:"seq"` // the line's place among all plugins' lines, from 1; a gap means dropped lines
	Plugin   string    `json:"plugin"`
	Instance string    `json:"instance,omitempty"`
	CallID   string    `json:"call_id,omitempty"` // empty if it is the process's
	Record   LogRecord `json:"record"`
}

// LogQuery selects log lines. The zero value selects all that are kept.
type LogQuery struct {
	Plugin string // empty: all
	CallID string // empty: all
	Last   int    // how many of those that are kept, the newest; 0: all
	Follow bool   // go on with new lines as they come
}

// EventQuery selects events. The zero value selects all that are kept.
type EventQuery struct {
	Plugin string // empty: all
	After  uint64 // only events with a higher number; all if toolhost, which counts from 1 when it starts, is not that far yet
	Follow bool   // go on with new events as they happen
}

// Reloaded says what a look at the plugin folders found, by plugin name.
type Reloaded struct {
	Added    []string        `json:"added"`
	Removed  []string        `json:"removed"`
	Upgraded []string        `json:"upgraded"`
	Failures []ReloadFailure `json:"failures"`

	// Configuration is what of the configuration file is not in force; nil if the file says what it said at the start.
	Configuration *ConfigurationChange `json:"configuration,omitempty"`
}

// ConfigurationChange says that the configuration file says something else than when toolhost started. Toolhost applies
// nothing of the change before its next start.
type ConfigurationChange struct {
	File    string   `json:"file"`              // that toolhost started with; empty: it started without one
	Keys    []string `json:"keys,omitempty"`    // the top-level keys whose values differ, ordered; empty if Problem is set
	Problem string   `json:"problem,omitempty"` // why toolhost would refuse to start with the file as it is now; empty if it would start
}

// ReloadFailure is a plugin that could not be taken over. What was there before stays.
type ReloadFailure struct {
	Plugin string `json:"plugin"` // the file's name if it could not be asked
	Reason string `json:"reason"`
}

// LockFile is the file that says which executables may run.
type LockFile struct {
	Path     string `json:"path"`     // absolute, as toolhost sees it; it need not exist unless Enforced is set
	Enforced bool   `json:"enforced"` // toolhost runs nothing else
}

// Upgraded says which executable a plugin runs now.
type Upgraded struct {
	Digest         string `json:"digest"`
	PreviousDigest string `json:"previous_digest"` // the same if nothing changed
}

// CallState is where a call stands.
type CallState string

// The states of a call.
const (
	CallRunning   CallState = "running"
	CallSucceeded CallState = "succeeded"  // with a result that is no error
	CallToolError CallState = "tool_error" // with a result that is an error
	CallFailed    CallState = "failed"     // of the machinery
)

// CallRecord is a call as the ledger has it.
type CallRecord struct {
	CallID    string    `json:"call_id"`
	Principal string    `json:"principal"`
	Session   string    `json:"session,omitempty"` // empty: the principal's default session
	Tool      string    `json:"tool"`
	Plugin    string    `json:"plugin"`
	Instance  string    `json:"instance,omitempty"` // that has it, or had it last; empty: none yet
	State     CallState `json:"state"`
	Err       *Error    `json:"error,omitempty"` // why it failed
	StartTime time.Time `json:"start_time"`
	EndTime   time.Time `json:"end_time,omitzero"` // zero: it is under way
}

// CallKey names a call: sessions are their principal's, and ids their session's.
type CallKey struct {
	Principal string // set by servers from the connection, never from the request
	Session   string // empty: the principal's default session
	ID        string
}

// CallQuery selects calls. Every field that is set must match; the zero value selects all.
type CallQuery struct {
	Plugin, Tool, Session, CallID string
	State                         CallState
	PageSize                      int    // 0: 100; at most 1000
	PageToken                     string // where to go on; empty: at the newest
}

// CallPage is one page of calls, the newest first.
type CallPage struct {
	Calls         []CallRecord `json:"calls"`
	NextPageToken string       `json:"next_page_token,omitempty"` // empty: this is the last
}

// ArtifactPiece is a part of an artifact.
type ArtifactPiece struct {
	Data      []byte // empty at or after the end
	MediaType string // of the whole
	Size      uint64 // of the whole, in bytes
	Name      string // a file name without folders; may be empty
}

// Stats counts the calls of one tool that have ended. Its durations have no JSON of their own: who prints them writes
// milliseconds, as everywhere.
type Stats struct {
	Tool          string          `json:"tool"`
	Plugin        string          `json:"plugin"`
	Calls         uint64          `json:"calls"`              // in all
	Succeeded     uint64          `json:"succeeded"`          // with a result that is no error
	ToolErrors    uint64          `json:"tool_errors"`        // with a result that is an error
	Failures      map[Kind]uint64 `json:"failures,omitempty"` // of the machinery
	TotalCost     float64         `json:"total_cost"`         // of the calls that were executed, in the unit of Spec.CostPerUse
	TotalDuration time.Duration   `json:"-"`                  // of the calls that ran
	MeanDuration  time.Duration   `json:"-"`
	P50           time.Duration   `json:"-"` // within 5 percent
	P99           time.Duration   `json:"-"` // within 5 percent
}
