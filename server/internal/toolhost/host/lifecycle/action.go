package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// CallRef names a call to a Machine. The driver chooses it. It must differ from those of all other
// calls that the machine knows.
type CallRef uint64

// Action is what the driver has to do. Exactly one field is set.
type Action struct {
	Assign *Assign // give the call to the instance
	Reject *Reject // end the call, which has no instance
	Launch *Launch // start a process; then pass LaunchFailed or LaunchRefused, or Ready and later Exited
	Stop   *Stop   // stop a process; then pass Exited
	Cancel *Cancel // cancel the calls of an instance that is about to stop
	Flip   *Flip   // the revision takes the calls from now on
	Event  *Event  // note what happened
}

// Assign gives a call to an instance.
type Assign struct {
	Call     CallRef
	Instance string
}

// Reject ends a call that has no instance.
type Reject struct {
	Call CallRef
	Err  *tool.Error
}

// Launch starts a process.
type Launch struct {
	Instance string
	Revision string // the digest of the executable
	Session  string // the session whose calls the instance will get; empty: any session, or none yet
}

// Stop stops a process.
type Stop struct {
	Instance string
	Reason   string
	Force    bool // at once, without asking the process
	// Unhealthy says that the process stops because a call of it did not stop.
	Unhealthy bool
}

// Cancel cancels the calls of an instance.
type Cancel struct {
	Instance string
	Reason   string
}

// Flip tells the driver to send all further calls to a revision.
type Flip struct {
	Revision, Previous string
}

// Event is something that happened to a plugin or to one of its instances.
type Event struct {
	Time     time.Time
	Type     EventType
	Instance string    // empty: the event is about the plugin
	Revision string    // the digest that the event is about; may be empty
	Reason   string    // may be empty
	Until    time.Time // when the plugin is tried again, for a backoff or a quarantine; may be zero
}

// EventType names what happened.
type EventType string

// The types of events. The driver makes EventAdded, EventRemoved and EventUnusable; a Machine makes
// all others.
const (
	EventLaunching      EventType = "instance_launching"
	EventReady          EventType = "instance_ready"
	EventUnhealthy      EventType = "instance_unhealthy"
	EventDraining       EventType = "instance_draining"
	EventStopping       EventType = "instance_stopping"
	EventExited         EventType = "instance_exited"
	EventCrashed        EventType = "instance_crashed"
	EventLaunchFailed   EventType = "launch_failed"
	EventLaunchRefused  EventType = "launch_refused" // a bound such as a quota is full
	EventBackingOff     EventType = "plugin_backing_off"
	EventQuarantined    EventType = "plugin_quarantined"
	EventCallSettled    EventType = "call_settled"  // the tool said what became of a call with an unknown outcome
	EventCallsRefused   EventType = "calls_refused" // calls that ended the process again and again
	EventProbing        EventType = "plugin_probing"
	EventEnabled        EventType = "plugin_enabled"
	EventPaused         EventType = "plugin_paused"
	EventDisabled       EventType = "plugin_disabled"
	EventAdded          EventType = "plugin_added"    // the plugin came into service
	EventRemoved        EventType = "plugin_removed"  // the plugin is no longer in service
	EventUnusable       EventType = "plugin_unusable" // the plugin cannot be taken into service
	EventUpgrading      EventType = "upgrade_started"
	EventUpgraded       EventType = "upgrade_finished"
	EventUpgradeFailed  EventType = "upgrade_failed"
	EventRollingBack    EventType = "rollback_started"
	EventRolledBack     EventType = "rollback_finished"
	EventRollbackFailed EventType = "rollback_failed"
	EventRestarting     EventType = "restart_started"
	EventRestarted      EventType = "restart_finished"
	EventRestartFailed  EventType = "restart_failed"
)
