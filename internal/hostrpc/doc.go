// Package hostrpc serves a host over gRPC: toolhost.v1.ToolService and AdminService, health and reflection.
//
// It translates and decides nothing: what a call means is the host's, how words become messages is hostpb's. What it
// owns is what a connection brings: who calls, when the caller has left, how many calls share one stream, and the
// bounds of messages and windows.
package hostrpc

import (
	"context"

	"github.com/toolhost/toolhost/tool"
)

// Host is what is served. Errors are, or wrap, *tool.Error. All methods are safe for concurrent use.
type Host interface {
	Tools
	Admin
}

// Tools lists and calls tools.
type Tools interface {
	// ListTools returns the tools that match, ordered by name.
	ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error)
	// GetTool returns one tool as the session sees it.
	GetTool(ctx context.Context, name, session string) (tool.Info, error)
	// Open begins a call. ctx bounds only the opening. If complete, call.Arguments are all the arguments, else their
	// beginning, and Send on the execution brings the rest.
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
}

// Admin shows and steers plugins.
type Admin interface {
	// Plugins returns all plugins, ordered by name.
	Plugins(ctx context.Context) ([]tool.PluginInfo, error)
	// Instances returns the running processes of a plugin, or of all if plugin is empty. Errors: not_found.
	Instances(ctx context.Context, plugin string) ([]tool.InstanceInfo, error)
	// Restart replaces a plugin's processes.
	Restart(ctx context.Context, plugin string, force bool) (tool.Restarted, error)
}
