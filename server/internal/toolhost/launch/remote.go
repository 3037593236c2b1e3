package launch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/sdk/egress"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpclient"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/remote"
	"github.com/toolhost/toolhost/tool"
)

// openRemote begins a session with the MCP server at the URL of a plugin, for an owner.
func (l *Launcher) openRemote(ctx context.Context, in *Settings, p *catalog.Plugin, instance string, owner supervisor.Owner) (*remote.Instance, error) {
	name, m := p.Info.Name, p.Manifest.MCP
	settings := in.Config.Plugin(name).HTTP
	pool, err := remoteTransport(m.URL, settings)
	if err != nil {
		return nil, err
	}
	logger := l.cfg.Logger.With("plugin", name, "instance", instance)
	if owner.Tenant != identity.DefaultTenant {
		logger = logger.With("tenant", owner.Tenant)
	}
	lines := remote.NewLog(remote.LogConfig{
		Logger: logger, Redact: l.cfg.Redact, LineBytes: int(in.Config.Logs.LineBytes), LinesPerSecond: in.Config.Logs.LinesPerSecond,
	})
	var transport http.RoundTripper = &staticHeaders{launcher: l, plugin: name, server: m, owner: owner, next: pool}
	if l.authorize != nil {
		transport = l.authorize(p, owner, transport)
	}
	cfg := l.mcpSession(in, p, m)
	cfg.MaxResultBytes, cfg.Log = int(in.Config.Calls.MaxResultBytes), lines
	session, err := mcpclient.OpenHTTP(ctx, cfg, mcpclient.HTTPConfig{
		URL: m.URL, RoundTripper: transport, AnswerTimeout: settings.AnswerTimeout, IdleTimeout: settings.IdleTimeout,
	})
	if err != nil {
		pool.CloseIdleConnections()
		lines.Close()
		// The lack of credentials is no fault of the server, and other principals may have them.
		if denied, ok := errors.AsType[*tool.Error](err); ok && denied.Kind == tool.KindDenied {
			return nil, supervisor.RefuseLaunch(denied)
		}
		return nil, err
	}
	return remote.New(remote.Config{
		Session: session, URL: m.URL, Log: lines, Release: pool.CloseIdleConnections,
		Harmless: func(err error) bool { return errors.Is(err, mcpclient.ErrSessionGone) },
	}), nil
}

// describeRemote asks the MCP server at the URL of a plugin what it offers.
func (l *Launcher) describeRemote(ctx context.Context, in *Settings, p *catalog.Plugin, instance string) (tool.Description, error) {
	session, err := l.openRemote(ctx, in, p, instance, supervisor.Owner{Tenant: identity.DefaultTenant})
	if err != nil {
		return tool.Description{}, err
	}
	defer session.Stop(context.WithoutCancel(ctx))
	return session.Conn().Describe(ctx, pluginconn.DescribeRequest{})
}

// remoteTransport returns the pooled connections to a server.
func remoteTransport(url string, settings config.HTTP) (*http.Transport, error) {
	grants, err := egress.ParseGrants(settings.Addresses)
	if err != nil {
		return nil, err
	}
	cfg := egress.Config{
		Rules:          egress.Rules{Allow: grants, GrantedOnly: strings.HasPrefix(strings.ToLower(url), "http:")},
		ConnectTimeout: settings.ConnectTimeout, MaxConnections: settings.MaxConnections,
	}
	if settings.Authorities != "" {
		text, err := os.ReadFile(settings.Authorities)
		if err != nil {
			return nil, fmt.Errorf("reading http.authorities: %w", err)
		}
		if cfg.RootCAs = x509.NewCertPool(); !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("the file %s of http.authorities has no certificate in PEM", settings.Authorities)
		}
	}
	if settings.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(settings.Certificate, settings.Key)
		if err != nil {
			return nil, fmt.Errorf("reading http.certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg.Transport(), nil
}

// staticHeaders adds the headers of plugin.yaml to each request, with the values that the secrets
// have at that moment for the owner of the instance. Calls of other principals with other values
// get other instances.
type staticHeaders struct {
	launcher *Launcher
	plugin   string
	server   *manifest.MCP
	owner    supervisor.Owner
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (h *staticHeaders) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(h.server.Headers) == 0 {
		return h.next.RoundTrip(req)
	}
	values, err := h.launcher.current.Load().Secrets.View(PrincipalOf(h.owner)).Values(h.plugin, h.server.SecretNames())
	if err != nil {
		return nil, tool.Errorf(tool.KindDenied, "the MCP server gets no request: %w", err)
	}
	req = req.Clone(req.Context())
	for name, value := range h.server.Headers {
		req.Header.Set(name, strings.TrimSpace(manifest.ExpandHeader(value, values)))
	}
	return h.next.RoundTrip(req)
}

// AuthorizationTransport returns what connects to the authorization servers of a plugin, by the
// address rules of the plugin. It keeps no connection, because such requests are rare. A
// certificate of the operator for the MCP server is not presented, because the MCP server chooses
// the authorization server.
func (l *Launcher) AuthorizationTransport(plugin string) http.RoundTripper {
	settings := l.current.Load().Config.Plugin(plugin).HTTP
	settings.Certificate, settings.Key = "", ""
	transport, err := remoteTransport("https:", settings)
	if err != nil {
		return refusing{err}
	}
	transport.DisableKeepAlives = true
	return transport
}

// refusing is a transport whose requests fail.
type refusing struct{ err error }

// RoundTrip implements http.RoundTripper.
func (r refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }
