package tool

import "time"

// PluginInfo is a plugin as a toolhost knows it.
type PluginInfo struct {
	Name        string      `json:"plugin"`
	Version     string      `json:"version,omitempty"`
	Description string      `json:"description,omitempty"`
	Path        string      `json:"path"`
	Digest      string      `json:"digest,omitempty"` // sha256:…, empty if the file could not be read
	State       PluginState `json:"state"`
	Reason      string      `json:"reason,omitempty"` // why it is in that state; empty for enabled
	Tools       []string    `json:"tools"`
	Instances   int         `json:"instances"` // running now
	Launches    uint64      `json:"launches"`  // started in all
	LastExit    *Exit       `json:"last_exit,omitempty"`
	Warnings    []string    `json:"warnings,omitempty"`
	// RecentExits says how its last processes ended, the newest first; at most 10.
	RecentExits []PluginExit `json:"recent_exits,omitempty"`
	// RetryTime is when a backoff ends or a quarantined plugin is probed; zero if neither.
	RetryTime time.Time `json:"retry_time,omitzero"`
	// PreviousDigest is the executable to which a rollback goes; empty if there is none.
	PreviousDigest string `json:"previous_digest,omitempty"`
	// PinnedDigest is the executable that the lock file allows; empty if it does not know the plugin, or if none counts.
	PinnedDigest string `json:"pinned_digest,omitempty"`
	// Refusal is of what is in the folder, if that is not used; nil if it is, or if it has yet to say what it is.
	Refusal *PluginRefusal `json:"refusal,omitempty"`
	// Filters are the names of its filters.
	Filters []string `json:"filters,omitempty"`
	// Permissions are what it asks to be allowed; nil: nothing.
	Permissions *Permissions `json:"permissions,omitempty"`
	// Ungranted is what of that, and of what its tools ask, the operator has not granted.
	Ungranted []Ungranted `json:"ungranted,omitempty"`
	// Isolation is what calls share: "shared", "session" or "call". Calls in one process can see each other's memory, files and
	// secrets, whoever made them.
	Isolation string `json:"isolation,omitempty"`
}

// PluginRefusal says why the executable in a plugin's folder is not the one in service.
type PluginRefusal struct {
	Digest string `json:"digest,omitempty"` // empty if it could not be read
	Reason string `json:"reason"`
	// Locked: the lock file does not allow it, and nothing else is known to be wrong with it.
	Locked bool `json:"locked,omitempty"`
	// Name is what it calls itself; empty if it was not asked. It may not be asked if Locked is set.
	Name string `json:"name,omitempty"`
}

// PluginState is what a toolhost does with a plugin.
type PluginState string

// The states of a plugin. Only an enabled plugin takes calls.
const (
	PluginEnabled     PluginState = "enabled"
	PluginPaused      PluginState = "paused"
	PluginBackingOff  PluginState = "backing_off"
	PluginQuarantined PluginState = "quarantined"
	PluginDisabled    PluginState = "disabled" // by the operator's configuration
	PluginUnusable    PluginState = "unusable" // its file is not a plugin, is not allowed, or did not describe itself
)

// Off reports whether a plugin in the state has no tools: it is disabled or unusable.
func (s PluginState) Off() bool { return s == PluginDisabled || s == PluginUnusable }

// InstanceInfo is one running plugin process.
type InstanceInfo struct {
	ID         string        `json:"instance"`
	Plugin     string        `json:"plugin"`
	State      InstanceState `json:"state"`
	PID        int           `json:"pid"`
	Calls      int           `json:"calls"`       // executing now
	TotalCalls uint64        `json:"total_calls"` // begun in all
	StartTime  time.Time     `json:"start_time"`
	RSSBytes   uint64        `json:"rss_bytes"` // 0: unknown
	Digest     string        `json:"digest,omitempty"`
	// Limits is what bounds the process and all that it started, and by what means. Empty: nothing does.
	Limits []EffectiveLimit `json:"limits,omitempty"`
	// Sandbox is what the process may touch. Nil: it is not known, as of one that is being started.
	Sandbox *Sandbox `json:"sandbox,omitempty"`
}

// EffectiveLimit is one bound on an instance as it really holds on this machine.
type EffectiveLimit struct {
	Name      string `json:"name"`           // memory, cpu, processes, open_files, file_size, pid_namespace
	Value     string `json:"value"`          // what was asked for: bytes, cores or a count; auto or required for pid_namespace
	Mechanism string `json:"mechanism"`      // cgroup2, cgroup1, rlimit, watchdog, namespace, none
	Note      string `json:"note,omitempty"` // why nothing holds it, or what the mechanism cannot do
}

// InstanceState is where a plugin process stands.
type InstanceState string

// The states of an instance. Only a ready one takes calls.
const (
	InstanceQueued      InstanceState = "queued"
	InstanceVerifying   InstanceState = "verifying"
	InstanceStarting    InstanceState = "starting"
	InstanceHandshaking InstanceState = "handshaking"
	InstanceWarming     InstanceState = "warming"
	InstanceReady       InstanceState = "ready"
	InstanceUnhealthy   InstanceState = "unhealthy"
	InstanceDraining    InstanceState = "draining"
	InstanceStopping    InstanceState = "stopping"
	InstanceExited      InstanceState = "exited"
)

// Restarted says what a restart did.
type Restarted struct {
	Stopped []string `json:"stopped"` // ids of the instances that were told to end
	Started []string `json:"started"` // ids of those that took their place
}
