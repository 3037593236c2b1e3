package serve

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaceproxy"
)

// memoryQuota bounds a workspace in memory if the operator sets no quota.
const memoryQuota = 64 << 20

// openProxy opens the sockets of workspaces that are not folders of this machine. It returns nil if
// the workspaces are such folders.
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
