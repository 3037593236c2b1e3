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
}

// PluginState is what a toolhost does with a plugin.
type PluginState string

// The states of a plugin. Only an enabled plugin takes calls.
const (
	PluginEnabled     PluginState = "enabled"
	PluginPaused      PluginState = "paused"
	PluginBackingOff  PluginState = "backing_off"
	PluginQuarantined PluginState = "quarantined"
	PluginDisabled    PluginState = "disabled"
)

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

// PluginEvent is something that happened to a plugin or to one of its instances.
type PluginEvent struct {
	Seq      uint64    `json:"seq"` // the event's place among all plugins' events, from 1
	Time     time.Time `json:"time"`
	Type     string    `json:"type"` // such as instance_ready, instance_crashed, plugin_quarantined
	Plugin   string    `json:"plugin"`
	Instance string    `json:"instance,omitempty"` // empty if it is about the plugin
	Digest   string    `json:"digest,omitempty"`   // the executable that it is about
	Reason   string    `json:"reason,omitempty"`
	Until    time.Time `json:"until,omitzero"` // when a backoff or quarantine ends
}
