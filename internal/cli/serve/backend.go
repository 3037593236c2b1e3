package serve

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/rpc/credential"
	"github.com/toolhost/toolhost/internal/rpc/workspaceproxy"
	"github.com/toolhost/toolhost/tool"
)

// workspaceVariable names the socket of its workspace to a plugin. Package sdk reads it.
const workspaceVariable = "TOOLHOST_WORKSPACE"

// memoryQuota bounds a workspace in memory if the operator sets no quota.
const memoryQuota = 64 << 20

// openProxy opens the sockets of workspaces that are not folders of this machine. It returns nil if the
// workspaces are such folders.
func openProxy(w config.Workspace, runDir string, logger *slog.Logger) (*workspaceproxy.Proxy, error) {
	var backend workspaceproxy.Backend
	switch w.Backend {
	case config.MemoryBackend:
		backend = workspaceproxy.NewMemory(cmp.Or(int64(w.Quota), memoryQuota))
	case config.RemoteBackend:
		server, err := workspaceproxy.NewServer(serverOf(w.Remote, logger))
		if err != nil {
			return nil, fmt.Errorf("the server of the workspaces cannot be used: %w; correct workspace.remote", err)
		}
		backend = server
	default:
		return nil, nil
	}
	return workspaceproxy.New(filepath.Join(runDir, "w"), backend, logger)
}

func serverOf(r config.RemoteWorkspace, logger *slog.Logger) workspaceproxy.ServerConfig {
	server := workspaceproxy.ServerConfig{Address: r.Address, TokenFile: r.TokenFile, Logger: logger}
	files := credential.TLS{CA: r.Authorities, Certificate: r.Certificate, Key: r.Key, ServerName: r.ServerName}
	if files != (credential.TLS{}) {
		server.TLS = &files
	}
	return server
}

// claimSocket claims the socket at which a process gets the workspace of an owner, and puts it into the
// Config of the process. The claim is nil if there is none: the workspaces are folders of this machine,
// or the plugin has no access to them.
func (l *launcher) claimSocket(cfg *process.Config, owner host.Owner) (*workspaceproxy.Claim, error) {
	access := cfg.Sandbox.WorkspaceAccess
	whose, known := l.workspaceOwner(owner)
	if l.proxy == nil || !known || access != tool.AccessRead && access != tool.AccessWrite {
		return nil, nil
	}
	name := ""
	if l.separate {
		name = whose.Name()
	}
	claim, err := l.proxy.Claim(name, access == tool.AccessRead)
	if err != nil {
		return nil, err
	}
	cfg.Env = append(cfg.Env, workspaceVariable+"="+claim.Socket())
	cfg.Sandbox.Read = append(slices.Clone(cfg.Sandbox.Read), claim.Folder()) // the slice belongs to the configuration
	cfg.Sandbox.Elsewhere = l.current.Load().config.Workspace.Backend
	return claim, nil
}
