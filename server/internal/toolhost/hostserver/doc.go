// Package hostserver serves a host over gRPC: toolhost.v1.ToolService and AdminService, health and
// reflection.
//
// It only translates. The host decides what a call means, and package hostpb converts messages.
// This package owns what belongs to connections: the principal, the end of a call when its caller
// leaves, the number of calls per stream, and the limits of messages and memory.
package hostserver

import (
	"context"
	"iter"

	"github.com/toolhost/toolhost/tool"
)

// Host is the host that a server serves. Errors are, or wrap, *tool.Error. All methods are safe for
// concurrent use.
type Host interface {
	Tools
	Calls
	Admin
}

// Tools lists and calls tools.
type Tools interface {
	// LedgerID returns the id of the ledger in which the host records calls.
	LedgerID() string
	// Folders returns the folders in which plugins work.
	Folders() tool.Folders
	// ListPage returns the tools that match the query and whose names are greater than after,
	// ordered by name. after is empty for the first page.
	ListPage(ctx context.Context, query tool.Query, after string) ([]tool.Info, error)
	// Revision identifies what ListPage returns for the query: while it stays equal, so do all pages.
	// An empty one is not known. It must cost little however many tools there are.
	Revision(ctx context.Context, query tool.Query) (string, error)
	// GetTool returns one tool as the viewer sees it.
	GetTool(ctx context.Context, name string, viewer tool.Viewer) (tool.Info, error)
	// Open starts a call. If complete is set, call.Arguments are the whole arguments, otherwise
	// their beginning, and Execution.Send sends the rest. ctx limits only the start.
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
	// Review decides about a call with complete arguments as Open does, and executes nothing. It
	// returns the result with which the call would end unexecuted; nil: the tool would be executed.
	Review(ctx context.Context, call tool.Call) (*tool.Result, error)
	Finder
	Artifacts
	Resources
	Prompts
}

// Calls watches, cancels and answers calls by their ids. Errors: invalid_argument, not_found.
type Calls interface {
	// WatchCall returns the events of a call after a sequence number, up to its outcome. If ctx
	// ends, the last element is an error.
	WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error]
	// CancelCall requests the cancellation of a call and does not wait for its end.
	CancelCall(ctx context.Context, key tool.CallKey, reason string) error
	// AnswerQuestion answers an open question of a call.
	AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error
}

// Admin inspects and controls plugins.
type Admin interface {
	// Plugins returns all plugins, ordered by name.
	Plugins(ctx context.Context) ([]tool.PluginInfo, error)
	// Instances returns the running processes of a plugin. An empty plugin means all plugins.
	// Errors: not_found.
	Instances(ctx context.Context, plugin string) ([]tool.InstanceInfo, error)
	Operator
	Reloader
	Upgrader
	Observer
}

// Operator controls one plugin. The events of the plugin show the principal of ctx, and the reason
// that it gives, which may be empty. Errors: not_found.
type Operator interface {
	// Restart replaces the processes of a plugin.
	Restart(ctx context.Context, plugin, reason string, force bool) (tool.Restarted, error)
	// Drain lets the processes of a plugin finish their calls, stops them, and returns when they
	// have ended.
	Drain(ctx context.Context, plugin, reason string) error
	// Pause makes a plugin refuse calls until Resume.
	Pause(ctx context.Context, plugin, reason string) error
	// Resume ends a pause.
	Resume(ctx context.Context, plugin string) error
	// ClearQuarantine ends a quarantine or a backoff.
	ClearQuarantine(ctx context.Context, plugin string) error
}

// Reloader reads the configuration file and the plugin folders again.
type Reloader interface {
	// Reload applies the changes of the configuration file, and scans the plugin folders. It returns
	// when each change has succeeded or failed.
	Reload(ctx context.Context) (tool.Reloaded, error)
	// ReloadPlugins is Reload without the configuration file.
	ReloadPlugins(ctx context.Context) (tool.Reloaded, error)
	// DiffConfiguration returns what Reload would change in the configuration.
	DiffConfiguration(ctx context.Context) (tool.ConfigurationChange, error)
}

// Upgrader replaces executables. An executable that does not start changes nothing.
type Upgrader interface {
	// Upgrade switches a plugin to the executable in its folder. Errors: not_found, unavailable.
	Upgrade(ctx context.Context, plugin, reason string) (tool.Upgraded, error)
	// Rollback switches a plugin to the executable of a revision, or to its previous one if the
	// revision is 0. Errors: not_found, also if there is no such executable; unavailable.
	Rollback(ctx context.Context, plugin string, revision uint64, reason string) (tool.Upgraded, error)
	// Revisions returns which executables of a plugin came into service, the newest first. Errors:
	// not_found.
	Revisions(ctx context.Context, plugin string) ([]tool.Revision, error)
	// LockFile returns the path of the file that pins plugins to digests.
	LockFile(ctx context.Context) (tool.LockFile, error)
}

// Observer returns events, output and statistics of plugins. An iterator ends without an error
// after the stored elements or, if it follows, when the host closes. If ctx ends, its last element
// is an error.
type Observer interface {
	// WatchEvents returns events of plugins and instances.
	WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error]
	// TailLogs returns the output of plugins. Errors: not_found.
	TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error]
	// Stats returns the statistics of a plugin's tools, ordered by name. An empty plugin means all
	// plugins. Errors: not_found.
	Stats(ctx context.Context, q tool.StatsQuery) ([]tool.Stats, error)
	// Calls returns one page of the calls of all principals, newest first. Errors:
	// invalid_argument.
	Calls(ctx context.Context, q tool.CallQuery) (tool.CallPage, error)
}
