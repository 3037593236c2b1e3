package tool

import (
	"encoding/json"
	"slices"
	"time"
)

// PluginExit is the end of one process of a plugin.
type PluginExit struct {
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Exit     Exit      `json:"exit"`
	Expected bool      `json:"expected"` // toolhost ended it on purpose
	// Unhealthy says that toolhost ended it because calls of it did not stop when they were told to.
	// Calls has those calls.
	Unhealthy bool `json:"unhealthy,omitempty"`
	// Tenant is the tenant that the process served. Empty: it served no call.
	Tenant string `json:"tenant,omitempty"`
	// Calls are the calls that executed at the end, at most eight.
	Calls []ExitCall `json:"calls,omitempty"`
	// HiddenCalls is how many further calls executed whose tenant the reader may not see.
	HiddenCalls int `json:"hidden_calls,omitempty"`
}

// ExitCall is a call that executed when its process ended.
type ExitCall struct {
	CallID    string `json:"call_id"` // the caller's id, or the one that toolhost generated
	Tool      string `json:"tool"`
	Session   string `json:"session,omitempty"`
	Principal string `json:"principal"`
	// when toolhost received the call
	StartTime time.Time `json:"start_time,omitzero"`
	// the SHA-256 digest of the tool's name and the arguments, in hexadecimal. Calls with the same
	// digest are calls of the same tool with the same arguments
	ArgumentsDigest string `json:"arguments_digest,omitempty"`
}

// PluginEvent is an event of a plugin or of one of its instances.
// proto/toolhost/v1/admin_service.proto lists the types.
type PluginEvent struct {
	Seq      uint64    `json:"seq"` // the number of the event among those of all plugins, from 1
	Time     time.Time `json:"time"`
	Type     string    `json:"type"` // such as instance_ready
	Plugin   string    `json:"plugin"`
	Instance string    `json:"instance,omitempty"` // empty for an event of the plugin
	Digest   string    `json:"digest,omitempty"`   // the digest of the executable
	Reason   string    `json:"reason,omitempty"`
	Until    time.Time `json:"until,omitzero"` // the end of a backoff, or the time of a probe
	// Tenant is the tenant of the instance, or of the calls that caused the event. Empty: the event
	// concerns no tenant in particular.
	Tenant string `json:"tenant,omitempty"`
}

// Condition is something that an operator should know about a toolhost itself, and not about one
// plugin.
type Condition struct {
	Name    string `json:"name"` // such as ledger_full; proto/toolhost/v1/admin_service.proto lists the names
	Message string `json:"message"`
	// Problem says that calls fail or records are lost because of it, or that the next start of the
	// toolhost would fail. False means that it can wait.
	Problem bool `json:"problem"`
}

// LogLine is a line of a plugin's output or log.
type LogLine struct {
	// the number of the line among those of all plugins, from 1; a gap means dropped lines
	Seq      uint64    `json:"seq"`
	Plugin   string    `json:"plugin"`
	Instance string    `json:"instance,omitempty"`
	CallID   string    `json:"call_id,omitempty"` // empty for a line of the process
	Tenant   string    `json:"tenant,omitempty"`  // of the call or the instance; empty: none
	Record   LogRecord `json:"record"`
}

// Tenants is a set of tenants, by name. nil contains all tenants. An empty set that is not nil
// contains none.
type Tenants []string

// Contain reports whether the set contains a tenant.
func (t Tenants) Contain(name string) bool { return t == nil || slices.Contains(t, name) }

// LogQuery selects log lines. The zero value selects all lines in memory.
type LogQuery struct {
	Plugin string // empty: all
	CallID string // empty: all
	Last   int    // the number of newest lines; 0: all
	Follow bool   // also return new lines as they arrive
	// Tenants selects the lines of these tenants, and those that concern no tenant. A server reduces
	// the set to the tenants that the caller may see.
	Tenants Tenants
}

// AuditQuery selects lines of the audit log. A line has to match every field that is set; the zero
// value selects all lines.
type AuditQuery struct {
	Principal string // the key of the principal, or of its delegate
	Approver  string // the key of the principal that approved
	CallID    string
	Tool      string
	Kind      string    // such as call or authentication
	Decision  string    // such as denied
	Since     time.Time // only lines at or after this time; zero: all
	Until     time.Time // only lines before this time; zero: all
	Last      int       // the number of newest lines that match; 0: all
	Follow    bool      // also return new lines as they are written
	// Tenants selects the lines of these tenants; nil: all lines, also those without a tenant. A
	// server reduces the set to the tenants in which the caller may read the audit log.
	Tenants Tenants
}

// AuditLine is a line of the audit log.
type AuditLine struct {
	Seq  uint64          `json:"seq"`  // its number
	Line json.RawMessage `json:"line"` // a JSON object; docs/audit.md describes its keys
}

// EventQuery selects events. The zero value selects all events in memory.
type EventQuery struct {
	Plugin string // empty: all
	// only events with a higher number. All events, if this toolhost has not reached that number:
	// it counts from 1 at each start
	After  uint64
	Since  time.Time // only events at or after this time; zero: all
	Follow bool      // also return new events as they happen
	// Tenants selects the events of these tenants, and those that concern no tenant. A server
	// reduces the set to the tenants that the caller may see.
	Tenants Tenants
}

// Reloaded is the result of a reload. Its lists contain names of plugins.
type Reloaded struct {
	Added    []string        `json:"added"`
	Removed  []string        `json:"removed"`
	Upgraded []string        `json:"upgraded"`
	Failures []ReloadFailure `json:"failures"`

	// Configuration says what the configuration file changed; nil if it changed nothing, or was not
	// read.
	Configuration *ConfigurationChange `json:"configuration,omitempty"`
}

// ConfigurationChange describes how the configuration file differs from the configuration in force.
type ConfigurationChange struct {
	File string `json:"file"` // the path; empty: toolhost started without a file
	// The top-level keys whose values differ, sorted; empty if Problem is set.
	Keys []string `json:"keys,omitempty"`
	// The settings whose values differ, in the order of the reference. Empty if Problem is set.
	Changes []SettingChange `json:"changes"`
	// Why toolhost would refuse to start with the file, and applies no part of it; empty if it would
	// start.
	Problem string `json:"problem,omitempty"`
}

// SettingChange is a setting with its values, which are text as a configuration file writes it.
// Values that may be secret are replaced by "(hidden)".
type SettingChange struct {
	Key     string `json:"key"`     // with its parents, such as plugin.files.idle_timeout
	Old     string `json:"old"`     // the value in force; empty: none
	New     string `json:"new"`     // the value in the file; empty: none
	Restart bool   `json:"restart"` // a reload does not apply the change; the next start does
}

// ReloadFailure is a plugin that a reload could not bring into service. An earlier version of it
// stays in service, unless it does not start with the changed configuration.
type ReloadFailure struct {
	Plugin string `json:"plugin"` // the file's name if the plugin did not report one
	Reason string `json:"reason"`
}

// LockFile describes the file that pins the executables of plugins.
type LockFile struct {
	// the absolute path on toolhost's machine; the file need not exist unless Enforced is set
	Path     string `json:"path"`
	Enforced bool   `json:"enforced"` // toolhost runs only pinned executables
}

// Upgraded says which executable a plugin runs now.
type Upgraded struct {
	Digest         string `json:"digest"`
	PreviousDigest string `json:"previous_digest"` // equal to Digest if nothing changed
}

// Revision is one time at which an executable of a plugin came into service.
type Revision struct {
	Number uint64 `json:"revision"` // among those of the plugin, from 1, without gaps
	Digest string `json:"digest"`
	// Time is when it came into service; zero: a toolhost without revisions recorded it.
	Time time.Time `json:"time,omitzero"`
	// Cause is what brought it into service; empty: a toolhost without revisions recorded it.
	Cause     RevisionCause `json:"cause,omitempty"`
	Principal string        `json:"principal,omitempty"` // the key of the principal that requested it; empty: none did
	Reason    string        `json:"reason,omitempty"`    // that the principal gave, in at most MaxReason bytes
	Current   bool          `json:"current"`             // it is in service
	Kept      bool          `json:"kept"`                // a rollback can return to it; false for the current one
}

// RevisionCause is what brought a revision into service.
type RevisionCause string

// The causes of revisions.
const (
	RevisionAdded      RevisionCause = "added"    // it is the plugin's first one
	RevisionChanged    RevisionCause = "changed"  // the file in the plugin's folder
	RevisionUpgraded   RevisionCause = "upgrade"  // by an operator
	RevisionRolledBack RevisionCause = "rollback" // by an operator
	RevisionLocked     RevisionCause = "locked"   // a change of the lock file
)

// MaxReason is the size in bytes of the longest reason that an operator can give for a command.
const MaxReason = 500

// CheckReason returns an error if an operator's reason for a command is too long. Errors:
// invalid_argument.
func CheckReason(reason string) error {
	if len(reason) > MaxReason {
		return Errorf(KindInvalidArgument, "the reason has %d bytes; shorten it to %d", len(reason), MaxReason)
	}
	return nil
}

// CallState is the state of a call in the ledger.
type CallState string

// The states of a call.
const (
	CallRunning   CallState = "running"
	CallSucceeded CallState = "succeeded"  // with a result without IsError
	CallToolError CallState = "tool_error" // with a result with IsError
	CallFailed    CallState = "failed"     // with an infrastructure error
	// CallNeedsApproval means that the call was not executed, because a person has to approve it.
	CallNeedsApproval CallState = "needs_approval"
)

// CallRecord is a call in the ledger.
type CallRecord struct {
	CallID    string `json:"call_id"`
	Principal string `json:"principal"`
	Session   string `json:"session,omitempty"` // empty: the principal's default session
	Tool      string `json:"tool"`
	Plugin    string `json:"plugin"`
	// the instance that executes or executed it; empty: none yet
	Instance  string    `json:"instance,omitempty"`
	State     CallState `json:"state"`
	Err       *Error    `json:"error,omitempty"` // the error of a failed call
	StartTime time.Time `json:"start_time"`
	EndTime   time.Time `json:"end_time,omitzero"` // zero: the call runs
	// what the tool said later about a call whose outcome was unknown, without a result; nil: it was
	// not asked
	Settled *Settlement `json:"settled,omitempty"`
	// the machine of the toolhost that had the call, if it is in the history of another one that
	// shares the ledger; empty: the toolhost that answers, or the ledger has the call
	Node string `json:"node,omitempty"`
}

// CallKey identifies a call. A principal has sessions, and a session has ids.
type CallKey struct {
	Principal string // set by servers from the connection, never from the request
	Session   string // empty: the principal's default session
	ID        string
}

// CallQuery selects calls. A call has to match every field that is set; the zero value selects all
// calls.
type CallQuery struct {
	Plugin, Tool, Session, CallID string
	State                         CallState
	Since                         time.Time // only calls that began at or after this time; zero: all
	PageSize                      int       // 0: 100; at most 1000
	PageToken                     string    // the token of the next page; empty: the newest page
	// Tenants selects the calls of these tenants. A server reduces the set to the tenants that the
	// caller may see.
	Tenants Tenants
}

// CallPage is one page of calls, the newest first.
type CallPage struct {
	Calls         []CallRecord `json:"calls"`
	NextPageToken string       `json:"next_page_token,omitempty"` // empty: this is the last page
}

// ArtifactPiece is a part of an artifact.
type ArtifactPiece struct {
	Data      []byte // empty at or after the end
	MediaType string // of the whole
	Size      uint64 // of the whole, in bytes
	Name      string // a file name without folders; may be empty
}

// StatsQuery selects statistics. The zero value selects those of all tools since toolhost started.
type StatsQuery struct {
	Plugin string // empty: all plugins
	// Since selects calls that ended after this time, from the beginning of its hour on, also those
	// before the last start of toolhost. Zero: since the start of toolhost.
	Since time.Time
	// Tenants selects the calls of these tenants. A server reduces the set to the tenants that the
	// caller may see.
	Tenants Tenants
	// Own selects the calls of this toolhost only. Otherwise statistics since a time include those of
	// all toolhosts that share its ledger.
	Own bool
}

// Stats counts the completed calls of one tool. JSON omits the durations: a command that prints
// them writes milliseconds.
type Stats struct {
	Tool       string `json:"tool"`
	Plugin     string `json:"plugin"`
	Calls      uint64 `json:"calls"`       // all calls
	Succeeded  uint64 `json:"succeeded"`   // with a result that is no error
	ToolErrors uint64 `json:"tool_errors"` // with a result that is an error
	// not executed, because a person has to approve them
	NeedsApproval uint64          `json:"needs_approval"`
	Failures      map[Kind]uint64 `json:"failures,omitempty"` // of the machinery
	// the cost of all executed calls, in the unit of Spec.CostPerUse
	TotalCost     float64       `json:"total_cost"`
	TotalDuration time.Duration `json:"-"` // the time of all executed calls
	MeanDuration  time.Duration `json:"-"`
	P50           time.Duration `json:"-"` // the median, within 5 percent
	P99           time.Duration `json:"-"` // within 5 percent
}
