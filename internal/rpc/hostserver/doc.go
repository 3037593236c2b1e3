// Package hostserver serves a host over gRPC: toolhost.v1.ToolService and AdminService, health and reflection.
//
// It translates and decides nothing: what a call means is the host's, how words become messages is hostpb's. What it
// owns is what a connection brings: who calls, when the caller has left, how many calls share one stream, and the
// bounds of messages and windows.
package hostserver

import (
	"context"
	"iter"

	"github.com/toolhost/toolhost/tool"
)

// Host is what is served. Errors are, or wrap, *tool.Error. All methods are safe for concurrent use.
type Host interface {
	Tools
	Calls
	Admin
}

// Tools lists and calls tools.
type Tools interface {
	// LedgerID returns what tells the ledger of calls from that of any other toolhost.
	LedgerID() string
	// ListPage returns the tools that match and whose names follow a name, ordered by name; after is empty for the first page.
	ListPage(ctx context.Context, query tool.Query, after string) ([]tool.Info, error)
	// GetTool returns one tool as the viewer sees it.
	GetTool(ctx context.Context, name string, viewer tool.Viewer) (tool.Info, error)
	// Open begins a call. ctx bounds only the opening. If complete, call.Arguments are all the arguments, else their
	// beginning, and Send on the execution brings the rest.
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
	// Do makes a call whose arguments are complete, without waiting for it. opened is told of the execution once there is
	// one, done gets the outcome, exactly once. When ctx ends, a call without an id is cancelled, any other goes on.
	Do(ctx context.Context, call tool.Call, opened func(tool.Execution), done func(tool.Event))
	Finder
	Artifacts
}

// Calls follows and stops calls by their names. Errors: invalid_argument, not_found.
type Calls interface {
	// WatchCall returns the events of a call after a number, up to its outcome; when ctx ends its last item is an error.
	WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error]
	// CancelCall asks to stop a call, and does not wait until it has ended.
	CancelCall(ctx context.Context, key tool.CallKey, reason string) error
}

// Admin shows and steers plugins.
type Admin interface {
	// Plugins returns all plugins, ordered by name.
	Plugins(ctx context.Context) ([]tool.PluginInfo, error)
	// Instances returns the running processes of a plugin, or of all if plugin is empty. Errors: not_found.
	Instances(ctx context.Context, plugin string) ([]tool.InstanceInfo, error)
	Operator
	Upgrader
	Observer
}

// Operator does what an operator wants done with one plugin. Errors: not_found.
type Operator interface {
	// Restart replaces a plugin's processes.
	Restart(ctx context.Context, plugin string, force bool) (tool.Restarted, error)
	// Drain lets a plugin's processes end their calls and stops them, and returns when they are gone.
	Drain(ctx context.Context, plugin string) error
	// Pause lets a plugin take no calls until Resume.
	Pause(ctx context.Context, plugin string) error
	// Resume ends a pause.
	Resume(ctx context.Context, plugin string) error
	// ClearQuarantine ends a quarantine or a backoff.
	ClearQuarantine(ctx context.Context, plugin string) error
}

// Upgrader brings other executables into service. What does not start changes nothing.
type Upgrader interface {
	// Reload looks at the plugin folders again, and returns when it is decided for each plugin what becomes of it.
	Reload(ctx context.Context) (tool.Reloaded, error)
	// Upgrade brings a plugin to the executable in its folder. Errors: not_found, unavailable.
	Upgrade(ctx context.Context, plugin string) (tool.Upgraded, error)
	// Rollback brings a plugin back to the executable before. Errors: not_found, also if there is none; unavailable.
	Rollback(ctx context.Context, plugin string) (tool.Upgraded, error)
	// LockFile returns which file pins plugins to digests.
	LockFile(ctx context.Context) (tool.LockFile, error)
}

// Observer shows what plugins do and did. A stream ends without an error when all that is kept was read, or, if it
// follows, when the host closes; when ctx ends its last item is an error.
type Observer interface {
	// WatchEvents returns what happened to plugins and instances.
	WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error]
	// TailLogs returns what plugins wrote. Errors: not_found.
	TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error]
	// Stats returns the statistics of a plugin's tools, or of all if plugin is empty, ordered by name. Errors: not_found.
	Stats(ctx context.Context, plugin string) ([]tool.Stats, error)
	// Calls returns one page of the calls of all principals, the newest first. Errors: invalid_argument.
	Calls(ctx context.Context, q tool.CallQuery) (tool.CallPage, error)
}
