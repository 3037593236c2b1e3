package tool

import "time"

// PluginInfo describes a plugin of a toolhost.
type PluginInfo struct {
	Name        string `json:"plugin"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Path        string `json:"path"`
	// sha256:…; empty if toolhost could not read the file
	Digest    string      `json:"digest,omitempty"`
	State     PluginState `json:"state"`
	Reason    string      `json:"reason,omitempty"` // the reason of the state; empty for enabled
	Tools     []string    `json:"tools"`
	Instances int         `json:"instances"` // the number of running instances
	Launches  uint64      `json:"launches"`  // the number of processes started so far
	LastExit  *Exit       `json:"last_exit,omitempty"`
	Warnings  []string    `json:"warnings,omitempty"`
	// RecentExits are the last exits of its processes, the newest first, at most 10.
	RecentExits []PluginExit `json:"recent_exits,omitempty"`
	// RetryTime is the end of a backoff, or the time of the next probe of a quarantined plugin.
	// Zero: neither.
	RetryTime time.Time `json:"retry_time,omitzero"`
	// PreviousDigest is the digest of the executable that a rollback returns to; empty: none.
	PreviousDigest string `json:"previous_digest,omitempty"`
	// PinnedDigest is the digest that the lock file allows. It is empty if the file does not have
	// the plugin, or if toolhost does not use a lock file.
	PinnedDigest string `json:"pinned_digest,omitempty"`
	// Refusal says why toolhost does not use the executable in the folder. It is nil if toolhost
	// uses it, or has not read its description yet.
	Refusal *PluginRefusal `json:"refusal,omitempty"`
	// Filters are the names of the plugin's filters.
	Filters []string `json:"filters,omitempty"`
	// OwnFilters are the filters that the plugin applies to its own tools, without a configuration of
	// the operator.
	OwnFilters []OwnFilter `json:"own_filters,omitempty"`
	// Permissions are the permissions that the plugin requests; nil: none.
	Permissions *Permissions `json:"permissions,omitempty"`
	// Ungranted are the requests of the plugin and its tools that the operator has not granted.
	Ungranted []Ungranted `json:"ungranted,omitempty"`
	// Workspace is the access to the workspace that the operator grants; empty: there is no workspace.
	Workspace Access `json:"workspace,omitempty"`
	// WorkspaceBackend is where the workspace is: local, memory or remote.
	WorkspaceBackend string `json:"workspace_backend,omitempty"`
	// Isolation says what calls share: "shared", "session" or "call". Calls in one process can see
	// each other's memory, files and secrets, whatever their caller.
	Isolation string `json:"isolation,omitempty"`
	// SDK is the SDK that the plugin declares; nil: none.
	SDK *SDKInfo `json:"sdk,omitempty"`
}

// OwnFilter is a filter that a plugin applies to its own tools.
type OwnFilter struct {
	Name  string   `json:"filter"` // as the plugin declares it
	Tools []string `json:"tools"`  // by the names that callers use
}

// PluginRefusal says why toolhost does not use the executable in a plugin's folder.
type PluginRefusal struct {
	Digest string `json:"digest,omitempty"` // empty if toolhost could not read the file
	Reason string `json:"reason"`
	// Locked means that the lock file does not allow the executable, and that toolhost knows no
	// other problem.
	Locked bool `json:"locked,omitempty"`
	// Name is the name that the executable reports. It is empty if toolhost did not start it, which
	// it may not do if Locked is set.
	Name string `json:"name,omitempty"`
}

// PluginState is the state of a plugin in a toolhost.
type PluginState string

// The states of a plugin. Only an enabled plugin accepts calls.
const (
	PluginEnabled     PluginState = "enabled"
	PluginPaused      PluginState = "paused"
	PluginBackingOff  PluginState = "backing_off"
	PluginQuarantined PluginState = "quarantined"
	PluginDisabled    PluginState = "disabled" // by the operator's configuration
	// its file is not a plugin, is not allowed, or did not describe itself
	PluginUnusable PluginState = "unusable"
)

// Off reports whether a plugin in the state offers no tools: it is disabled or unusable.
func (s PluginState) Off() bool { return s == PluginDisabled || s == PluginUnusable }

// InstanceInfo describes one running plugin process.
type InstanceInfo struct {
	ID         string        `json:"instance"`
	Plugin     string        `json:"plugin"`
	State      InstanceState `json:"state"`
	PID        int           `json:"pid"`
	Calls      int           `json:"calls"`       // calls that execute now
	TotalCalls uint64        `json:"total_calls"` // calls that began so far
	StartTime  time.Time     `json:"start_time"`
	RSSBytes   uint64        `json:"rss_bytes"` // 0: unknown
	Digest     string        `json:"digest,omitempty"`
	// Tenant is the tenant that the instance serves. Empty: it has not served a call yet.
	Tenant string `json:"tenant,omitempty"`
	// Limits are the bounds of the process and its children, with the mechanisms that enforce them.
	// Empty: there are none.
	Limits []EffectiveLimit `json:"limits,omitempty"`
	// Sandbox is the sandbox of the process. nil: it is unknown, for example while the process
	// starts.
	Sandbox *Sandbox `json:"sandbox,omitempty"`
}

// EffectiveLimit is one bound of an instance as this machine enforces it.
type EffectiveLimit struct {
	Name string `json:"name"` // memory, cpu, processes, open_files, file_size, pid_namespace
	// the requested value: bytes, cores or a count; auto or required for pid_namespace
	Value     string `json:"value"`
	Mechanism string `json:"mechanism"` // cgroup2, cgroup1, rlimit, watchdog, namespace, none
	// why nothing enforces it, or what the mechanism cannot do
	Note string `json:"note,omitempty"`
}

// InstanceState is the state of a plugin process.
type InstanceState string

// The states of an instance. Only a ready instance accepts calls.
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

// Restarted is the result of a restart.
type Restarted struct {
	Stopped []string `json:"stopped"` // ids of the instances that toolhost stops
	Started []string `json:"started"` // ids of the instances that replace them
}
