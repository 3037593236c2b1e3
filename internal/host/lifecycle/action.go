package lifecycle

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// CallRef names a call to a Machine. Its driver picks it; it must not be in use.
type CallRef uint64

// Action is something that a driver has to do. Exactly one field is set.
type Action struct {
	Assign *Assign // give the call to the instance
	Reject *Reject // end the call, which reached no instance
	Launch *Launch // start a process; say LaunchFailed, or Ready and later Exited
	Stop   *Stop   // stop a process; say Exited when it is gone
	Cancel *Cancel // end the calls of an instance, which is going to be stopped
	Flip   *Flip   // the revision is the one that takes calls from now on
	Event  *Event  // note what happened
}

// Assign gives a call to an instance.
type Assign struct {
	Call     CallRef
	Instance string
}

// Reject ends a call that reached no instance.
type Reject struct {
	Call CallRef
	Err  *tool.Error
}

// Launch starts a process.
type Launch struct {
	Instance string
	Revision string // the digest of the executable
}

// Stop stops a process.
type Stop struct {
	Instance string
	Reason   string
	Force    bool // at once, without asking
}

// Cancel ends the calls of an instance.
type Cancel struct {
	Instance string
	Reason   string
}

// Flip says that a revision takes the calls from now on.
type Flip struct {
	Revision, Previous string
}

// Event is something that happened to a plugin or to one of its instances.
type Event struct {
	Time     time.Time
	Type     EventType
	Instance string // empty if it is about the plugin
	Revision string // the digest that it is about; may be empty
	Reason   string // in words; may be empty
	Until    time.Time
}

// EventType names what happened.
type EventType string

// The types of events.
const (
	EventLaunching      EventType = "instance_launching"
	EventReady          EventType = "instance_ready"
	EventUnhealthy      EventType = "instance_unhealthy"
	EventDraining       EventType = "instance_draining"
	EventStopping       EventType = "instance_stopping"
	EventExited         EventType = "instance_exited"
	EventCrashed        EventType = "instance_crashed"
	EventLaunchFailed   EventType = "launch_failed"
	EventBackingOff     EventType = "plugin_backing_off"
	EventQuarantined    EventType = "plugin_quarantined"
	EventProbing        EventType = "plugin_probing"
	EventEnabled        EventType = "plugin_enabled"
	EventPaused         EventType = "plugin_paused"
	EventDisabled       EventType = "plugin_disabled"
	EventAdded          EventType = "plugin_added"    // said by the driver: it is in service, and was not before
	EventRemoved        EventType = "plugin_removed"  // said by the driver: it is in service no more
	EventUnusable       EventType = "plugin_unusable" // said by the driver: it cannot be taken into service
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
