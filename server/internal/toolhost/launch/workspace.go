package launch

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaceproxy"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaces"
	"github.com/toolhost/toolhost/tool"
)

// workspaceVariable names the socket of its workspace to a plugin. Package sdk reads it.
const workspaceVariable = "TOOLHOST_WORKSPACE"

// launchOwned starts a process for an owner. It puts the owner's workspace into cfg.
func (l *Launcher) launchOwned(ctx context.Context, cfg *process.Config, owner supervisor.Owner) (*process.Process, error) {
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

// workspaceOwner returns whose workspace the calls of an owner have. It returns false for a process
// that belongs to no session yet: a probe of a quarantined plugin, which gets no call.
func (l *Launcher) workspaceOwner(owner supervisor.Owner) (whose workspaces.Owner, known bool) {
	whose.Tenant = owner.Tenant
	if l.cfg.PerSession {
		whose.Principal, whose.Session = owner.Principal, owner.Session
	}
	return whose, owner.OneSession || !l.cfg.PerSession
}

// claimWorkspace claims the workspace of the calls that a process will get, and puts it into the
// Config of the process. The claim is nil if there is nothing to claim: all calls share a
// workspace, the plugin has no access to it, or the process belongs to no session yet.
func (l *Launcher) claimWorkspace(cfg *process.Config, owner supervisor.Owner) (*workspaces.Claim, error) {
	if l.cfg.Workspaces == nil || cfg.Sandbox.WorkspaceAccess == tool.AccessNone {
		return nil, nil
	}
	whose, known := l.workspaceOwner(owner)
	if !known {
		return nil, nil
	}
	claim, err := l.cfg.Workspaces.Claim(whose)
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

// guardWorkspace releases a claim when its process is gone, and ends the process if the quota
// demands that.
func (l *Launcher) guardWorkspace(claim *workspaces.Claim, started *process.Process) {
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

// claimSocket claims the socket at which a process gets the workspace of an owner, and puts it into
// the Config of the process. The claim is nil if there is none: the workspaces are folders of this
// machine, or the plugin has no access to them.
func (l *Launcher) claimSocket(cfg *process.Config, owner supervisor.Owner) (*workspaceproxy.Claim, error) {
	access := cfg.Sandbox.WorkspaceAccess
	whose, known := l.workspaceOwner(owner)
	if l.cfg.Proxy == nil || !known || access != tool.AccessRead && access != tool.AccessWrite {
		return nil, nil
	}
	name := ""
	if l.cfg.Separate {
		name = whose.Name()
	}
	claim, err := l.cfg.Proxy.Claim(name, access == tool.AccessRead)
	if err != nil {
		return nil, err
	}
	cfg.Env = append(cfg.Env, workspaceVariable+"="+claim.Socket())
	cfg.Sandbox.Read = append(slices.Clone(cfg.Sandbox.Read), claim.Folder()) // the slice belongs to the configuration
	cfg.Sandbox.Elsewhere = l.current.Load().Config.Workspace.Backend
	return claim, nil
}
