package serve

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaces"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// sharedWorkspace returns the workspace of all calls; empty if tenants or sessions have their own,
// or if the files are not on this machine.
func (o *Options) sharedWorkspace() string {
	if o.Workspace.Mode != config.SharedWorkspace || o.Workspace.Backend != config.LocalBackend {
		return ""
	}
	return o.Workspace.Folder
}

// openWorkspaces opens the workspaces of tenants or sessions. It returns nil if all calls share
// one, or if they are not on this machine.
func openWorkspaces(options *Options, logger *slog.Logger) (*workspaces.Store, error) {
	w := options.Workspace
	if w.Mode == config.SharedWorkspace || w.Backend != config.LocalBackend {
		return nil, nil
	}
	return workspaces.Open(workspaces.Config{Folder: w.Folder, Quota: int64(w.Quota), Keep: w.Keep, Logger: logger})
}

// isolation returns what the calls of a plugin share: what the configuration says, or less. A
// plugin that may get a secret of a single principal, and an MCP server to which principals log in,
// has an instance for each principal. If sessions have their own workspaces, a plugin with access
// to them has an instance for each session.
func (o *Options) isolation(plugin string, store *secrets.Store, personal func(plugin string) bool) lifecycle.Config {
	settings := o.Plugin(plugin)
	cfg := settings.Lifecycle()
	if cfg.Isolation == lifecycle.PerCall {
		return cfg
	}
	if cfg.Isolation == lifecycle.Shared && (store.PerPrincipal(plugin) || personal(plugin)) {
		cfg.Isolation, cfg.MinInstances = lifecycle.PerPrincipal, 0
	}
	if o.Workspace.Mode == config.SessionWorkspace && settings.Sandbox.Workspace != string(tool.AccessNone) {
		cfg.Isolation, cfg.MinInstances = lifecycle.PerSession, 0
	}
	return cfg
}

// checkWorkspaces returns an error if the folder of the workspaces cannot be used.
func checkWorkspaces(options *Options) error {
	folder := options.Workspace.Folder
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the folder of the workspaces cannot be used: %w; name another with workspace.folder", err)
	}
	if err := trust.Secure(folder); err != nil {
		return err
	}
	names := []string{""}
	for name := range options.ByPlugin {
		names = append(names, name)
	}
	for _, name := range names {
		s := options.Plugin(name).Sandbox
		for _, granted := range append(s.Read[:len(s.Read):len(s.Read)], s.Write...) {
			if launch.Within(folder, granted) || launch.Within(granted, folder) {
				return fmt.Errorf("the workspaces of tenants and sessions in %s would be in the reach of a plugin that may access %s; name another folder with workspace.folder, or grant less", folder, granted)
			}
		}
	}
	return nil
}
