package serve

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth"
	"github.com/toolhost/toolhost/tool"
)

// loginsFolder is the folder of the state folder with the logins at MCP servers. `toolhost backup`
// does not copy it: a restored refresh token that was rotated would make the authorization server
// end the login.
const loginsFolder = "mcp-logins"

// logins implements hostserver.Logins for the MCP servers among the plugins.
type logins struct {
	oauth  *mcpauth.Logins
	known  *catalog.Catalog
	host   *host.Host // set before the first RPC
	logger *slog.Logger
}

// openLogins makes the launcher send the tokens of principals to MCP servers. The caller must call
// close.
func openLogins(state string, plugins *launch.Launcher, redactor *secrets.Redactor, logger *slog.Logger) (l *logins, close func()) {
	l = &logins{logger: logger}
	l.oauth = mcpauth.New(mcpauth.Config{
		Folder: filepath.Join(state, loginsFolder),
		HTTP:   plugins.AuthorizationTransport,
		Secrets: func(plugin, principal string, names []string) (map[string]string, error) {
			return plugins.Secrets().View(principal).Values(plugin, names)
		},
		Learn:  redactor.LearnAt,
		Logger: logger,
	})
	plugins.Authorize(func(p *catalog.Plugin, owner supervisor.Owner, next http.RoundTripper) http.RoundTripper {
		server, ok := loginServer(p)
		if !ok {
			return next
		}
		principal := owner.Principal
		if server.OAuth.Grant == mcpauth.GrantClient {
			principal = launch.PrincipalOf(owner)
		}
		return l.oauth.Transport(server, principal, next)
	})
	return l, l.oauth.Close
}

// loginServer returns how principals log in to the MCP server that a plugin is. ok is false if the
// plugin is none that requires a login.
func loginServer(p *catalog.Plugin) (s mcpauth.Server, ok bool) {
	if !p.Manifest.Remote() || p.Manifest.MCP.OAuth == nil {
		return s, false
	}
	m := p.Manifest.MCP
	return mcpauth.Server{Plugin: p.Info.Name, URL: m.URL, OAuth: mcpauth.OAuth{
		Grant: m.OAuth.Grant, ClientID: m.OAuth.ClientID, ClientSecret: m.OAuth.ClientSecret, PrivateKey: m.OAuth.PrivateKey,
		Issuer: m.OAuth.Issuer, ClientMetadata: m.OAuth.ClientMetadata, Scopes: m.OAuth.Scopes,
	}}, true
}

// NeedsLogin reports whether an examined plugin is an MCP server whose tools can be read only with
// the login of a person. A toolhost has such logins, and Examine has none.
func NeedsLogin(p *catalog.Plugin) bool {
	s, ok := loginServer(p)
	return ok && s.OAuth.Grant != mcpauth.GrantClient && LacksLogin(p.Info.Name, p.Problem)
}

// LacksLogin reports whether the reason why a plugin cannot be used is that nobody is logged in to
// it.
func LacksLogin(plugin, reason string) bool {
	return strings.HasSuffix(reason, LoginCommand(plugin))
}

// LoginCommand returns the command that logs a person in to the server of a plugin.
func LoginCommand(plugin string) string { return mcpauth.LoginCommand(plugin) }

// personal reports whether each principal has a login at the MCP server that a plugin is, so that
// its sessions must not be shared.
func personal(known *catalog.Catalog, plugin string) bool {
	p := pluginOf(known, plugin)
	if p == nil {
		return false
	}
	s, ok := loginServer(p)
	return ok && s.OAuth.Grant != manifest.GrantClient
}

// pluginOf returns a plugin, also one that cannot be used, because toolhost may need a login to
// read its tools. nil: there is none.
func pluginOf(known *catalog.Catalog, name string) *catalog.Plugin {
	for _, p := range known.Snapshot().Plugins() {
		if p.Info.Name == name {
			return p
		}
	}
	return nil
}

// find returns the MCP server that a plugin is. A plugin that waits for the operator's trust is not
// used, because a tool may have written its URL.
func (l *logins) find(plugin string) (mcpauth.Server, error) {
	p := pluginOf(l.known, plugin)
	if p == nil {
		return mcpauth.Server{}, tool.Errorf(tool.KindNotFound, "there is no plugin %q", plugin)
	}
	if p.Untrusted {
		return mcpauth.Server{}, tool.Errorf(tool.KindUnavailable, "the plugin %q cannot be used: %s", plugin, p.Problem)
	}
	s, ok := loginServer(p)
	if !ok {
		return s, tool.Errorf(tool.KindNotFound, "the plugin %q is not an MCP server that requires a login: its plugin.yaml has no mcp.oauth", plugin)
	}
	return s, nil
}

// Logins implements hostserver.Logins.
func (l *logins) Logins(_ context.Context, principal, plugin string) ([]tool.Login, error) {
	if plugin != "" {
		s, err := l.find(plugin)
		if err != nil {
			return nil, err
		}
		found, err := l.oauth.Status(s, principal)
		return []tool.Login{found}, err
	}
	var all []tool.Login
	for _, p := range l.known.Snapshot().Plugins() {
		s, ok := loginServer(p)
		if !ok || p.Untrusted {
			continue
		}
		found, err := l.oauth.Status(s, principal)
		if err != nil {
			found = tool.Login{Plugin: s.Plugin, URL: s.URL, Problem: err.Error()}
		}
		all = append(all, found)
	}
	return all, nil
}

// BeginLogin implements hostserver.Logins.
func (l *logins) BeginLogin(ctx context.Context, principal, plugin, redirectURI string, describes bool) (tool.LoginStart, error) {
	s, err := l.find(plugin)
	if err != nil {
		return tool.LoginStart{}, err
	}
	return l.oauth.Begin(ctx, mcpauth.Request{Server: s, Principal: principal, RedirectURI: redirectURI, Describes: describes})
}

// FinishLogin implements hostserver.Logins. If the tools of the server could not be read without
// the login, toolhost reads them now.
func (l *logins) FinishLogin(ctx context.Context, principal, plugin, id string, answer tool.LoginAnswer) (tool.Login, error) {
	if _, err := l.find(plugin); err != nil {
		return tool.Login{}, err
	}
	done, err := l.oauth.Finish(ctx, plugin, principal, id, answer)
	if err != nil {
		return done, err
	}
	if p := pluginOf(l.known, plugin); p != nil && p.Problem != "" {
		if _, err := l.host.ReloadPlugins(ctx); err != nil {
			l.logger.WarnContext(ctx, "the tools of a server could not be read after a login", "plugin", plugin, "error", err)
		}
	}
	return done, nil
}

// Logout implements hostserver.Logins.
func (l *logins) Logout(ctx context.Context, principal, plugin string) (tool.Logout, error) {
	s, err := l.find(plugin)
	if err != nil {
		return tool.Logout{}, err
	}
	return l.oauth.Logout(ctx, s, principal)
}
