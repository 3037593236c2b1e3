package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpclient"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginclient"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// mcpServer is the MCP server that a process is to be. Its zero value is that of a native plugin.
type mcpServer struct {
	session *mcpclient.Conn // set by the launch
	server  bool
}

// mcpServer makes cfg start the MCP server that p describes, for an owner. It changes nothing for a
// native plugin.
func (l *Launcher) mcpServer(cfg *process.Config, p *catalog.Plugin, owner supervisor.Owner) (*mcpServer, error) {
	s := &mcpServer{}
	if p.Manifest == nil || p.Manifest.MCP == nil {
		return s, nil
	}
	m, in := p.Manifest.MCP, l.current.Load()
	s.server = true
	values, err := in.Secrets.View(PrincipalOf(owner)).Values(cfg.Plugin, m.SecretNames())
	if err != nil {
		return nil, fmt.Errorf("starting the MCP server: %w", err)
	}
	for _, variable := range slices.Sorted(maps.Keys(m.Secrets)) {
		cfg.Env = append(cfg.Env, variable+"="+values[m.Secrets[variable]])
	}
	session := l.mcpSession(in, p, m)
	granted := in.Places.Sandbox(in.Config.Plugin(cfg.Plugin).Sandbox)
	session.MaxResultBytes = cfg.Conn.MaxResultBytes
	cfg.Pipes = func(ctx context.Context, pipes process.Pipes) (process.Session, error) {
		session.Log, session.Roots = pipes.Log, rootsOf(granted, cfg.Sandbox.Workspace)
		opened, err := mcpclient.OpenPipes(ctx, session, pipes.In, pipes.Out, pipes.Stray)
		if err != nil && !errors.Is(err, mcpclient.ErrEnded) {
			return nil, &process.UnusableError{Err: err}
		}
		if err != nil {
			return nil, err
		}
		s.session = opened
		return opened, nil
	}
	return s, nil
}

// rootsOf returns the folders and files that a sandbox grants, which an MCP server gets as its
// roots. A process without a sandbox gets none, because its own arguments decide what it works on.
// workspace, if not empty, is the workspace of the process, which can be that of a tenant or
// session. A process that only describes itself gets the same roots as one for calls, so that it
// declares the same tools.
func rootsOf(granted sandbox.Config, workspace string) []string {
	if granted.Mode == sandbox.ModeOff {
		return nil
	}
	var roots []string
	if workspace = cmp.Or(workspace, granted.Workspace); workspace != "" && granted.WorkspaceAccess != tool.AccessNone {
		roots = append(roots, workspace)
	}
	for _, path := range slices.Concat(granted.Write, granted.Read) {
		if !slices.Contains(roots, path) {
			roots = append(roots, path)
		}
	}
	return roots
}

// mcpSession returns how to use the MCP server of a plugin. Once the plugin has described itself, a
// session keeps to that description, or to the one that the operator trusts later.
func (l *Launcher) mcpSession(in *Settings, p *catalog.Plugin, m *manifest.MCP) mcpclient.Config {
	cfg := mcpclient.Config{
		Plugin: p.Info.Name, Prefix: m.Prefix, TrustAnnotations: m.Annotations == manifest.AnnotationsTrusted,
		Secrets: m.SecretNames(), Protocol: m.Protocol, Trace: m.URL == "" || m.Trace, Asks: in.Config.Plugin(p.Info.Name).MayAsk(),
		Memory: l.cfg.Memory.Inner(),
	}
	if p.Problem != "" {
		return cfg
	}
	cfg.Pinned = func() []tool.Spec {
		if known := l.known.Load(); known != nil {
			if now := known.Snapshot().Plugin(p.Info.Name); now != nil && now.Digest == p.Digest && now.Problem == "" {
				return now.Info.Tools
			}
		}
		return p.Info.Tools // of a revision that is not in service
	}
	return cfg
}

// conn returns the connection to the process.
func (s *mcpServer) conn(started *process.Process) pluginconn.Conn {
	if s.server {
		return s.session
	}
	return pluginclient.New(started.Conn())
}

// PrincipalOf returns the key of the principal whose secrets an instance gets: its own, or any of
// its tenant, which has the secrets of the tenant.
func PrincipalOf(owner supervisor.Owner) string {
	if owner.Principal != "" || owner.Tenant == identity.DefaultTenant {
		return owner.Principal
	}
	return owner.Tenant + "/"
}
