package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/secrets"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/internal/workspaces"
	"github.com/toolhost/toolhost/tool"
)

// sharedWorkspace returns the workspace of all calls; empty if tenants or sessions have their own, or
// if the files are not on this machine.
func (o *Options) sharedWorkspace() string {
	if o.Workspace.Mode != config.SharedWorkspace || o.Workspace.Backend != config.LocalBackend {
		return ""
	}
	return o.Workspace.Folder
}

// openWorkspaces opens the workspaces of tenants or sessions. It returns nil if all calls share one, or
// if they are not on this machine.
func openWorkspaces(options *Options, logger *slog.Logger) (*workspaces.Store, error) {
	w := options.Workspace
	if w.Mode == config.SharedWorkspace || w.Backend != config.LocalBackend {
		return nil, nil
	}
	return workspaces.Open(workspaces.Config{Folder: w.Folder, Quota: int64(w.Quota), Keep: w.Keep, Logger: logger})
}

// isolation returns what the calls of a plugin share: what the configuration says, or less. A plugin
// that may get a secret of a single principal, and an MCP server to which principals log in, has an
// instance for each principal. If sessions have
// their own workspaces, a plugin with access to them has an instance for each session.
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

// workspaceOwner returns whose workspace the calls of an owner have. It returns false for a process
// that belongs to no session yet: a probe of a quarantined plugin, which gets no call.
func (l *launcher) workspaceOwner(owner host.Owner) (whose workspaces.Owner, known bool) {
	whose.Tenant = owner.Tenant
	if l.perSession {
		whose.Principal, whose.Session = owner.Principal, owner.Session
	}
	return whose, owner.OneSession || !l.perSession
}

// claimWorkspace claims the workspace of the calls that a process will get, and puts it into the
// Config of the process. The claim is nil if there is nothing to claim: all calls share a workspace,
// the plugin has no access to it, or the process belongs to no session yet.
func (l *launcher) claimWorkspace(cfg *process.Config, owner host.Owner) (*workspaces.Claim, error) {
	if l.workspaces == nil || cfg.Sandbox.WorkspaceAccess == tool.AccessNone {
		return nil, nil
	}
	whose, known := l.workspaceOwner(owner)
	if !known {
		return nil, nil
	}
	claim, err := l.workspaces.Claim(whose)
	if err != nil {
		return nil, err
	}
	cfg.Sandbox.Workspace = claim.Path()
	// A limit of the kernel stops a single large file at once.
	switch quota := uint64(claim.Quota()); {
	case claim.Limited():
		cfg.Limits.FileBytes = 1
	case quota > 0 && (cfg.Limits.FileBytes == 0 || cfg.Limits.FileBytes > quota):
		cfg.Limits.FileBytes = quota
	}
	return claim, nil
}

// guardWorkspace releases a claim when its process is gone, and ends the process if the quota demands
// that.
func (l *launcher) guardWorkspace(claim *workspaces.Claim, started *process.Process) {
	go func() { // ends with the process, which the host stops and waits for
		defer claim.Release()
		select {
		case <-started.Done():
		case <-claim.Over():
			reason := fmt.Sprintf("its workspace holds more than its quota of %v; tools can remove files, but write none, until it is a tenth below the quota",
				config.Size(claim.Quota()))
			if claim.Limited() {
				reason = "its workspace is below the quota again, so that the next process can write"
			}
			started.Withdraw(reason)
			<-started.Done()
		}
	}()
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
			if within(folder, granted) || within(granted, folder) {
				return fmt.Errorf("the workspaces of tenants and sessions in %s would be in the reach of a plugin that may access %s; name another folder with workspace.folder, or grant less", folder, granted)
			}
		}
	}
	return nil
}

// launchOwned starts a process for an owner. It puts the owner's workspace into cfg.
func (l *launcher) launchOwned(ctx context.Context, cfg *process.Config, owner host.Owner) (*process.Process, error) {
	claim, err := l.claimWorkspace(cfg, owner)
	if err != nil {
		return nil, err
	}
	socket, err := l.claimSocket(cfg, owner)
	if err != nil {
		return nil, err
	}
	started, err := process.Launch(ctx, *cfg)
	switch {
	case socket == nil:
	case err != nil:
		socket.Release()
	default:
		go func() { // ends with the process, which the host stops and waits for
			<-started.Done()
			socket.Release()
		}()
	}
	switch {
	case claim == nil:
	case err != nil:
		claim.Release()
	default:
		l.guardWorkspace(claim, started)
	}
	return started, err
}
