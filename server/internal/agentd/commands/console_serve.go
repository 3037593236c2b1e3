package commands

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/access/jsonapi"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/oidc"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/console"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// fronts are what one server offers beside gRPC: pages for browsers, and JSON over HTTP. The zero
// value has none.
type fronts struct {
	json   *jsonapi.Server     // nil: there is none
	nodes  *agentserver.Server // for other agentds; nil: there is none
	server *console.Server
	agent  *client.AgentClient
	served <-chan error // of the connection in memory
}

// consoleURL returns the origin of the pages at a listener; "" if there are none. Without
// console.url it has a name of its own below localhost: browsers send the cookies of localhost to
// every port.
func (s *setup) consoleURL(listeners *listen.Set) (*url.URL, error) {
	for _, l := range listeners.Listeners {
		if !l.Pages() {
			continue
		}
		if s.config.Console.URL != "" {
			return url.Parse(s.config.Console.URL)
		}
		_, port, err := net.SplitHostPort(l.Address().String())
		if err != nil {
			return nil, err
		}
		return &url.URL{Scheme: "http", Host: "agentd-" + strings.ToLower(rand.Text()[:16]) + ".localhost:" + port}, nil
	}
	return nil, nil
}

// openPages connects the pages at an origin to the server. The caller calls close after it has shut
// down both.
func (s *setup) openPages(at *url.URL, sessions *console.Sessions, server *agentserver.Server, log *slog.Logger) (p fronts, err error) {
	if at == nil {
		return p, nil
	}
	if p.agent, p.served, err = server.Connect(); err != nil {
		return p, err
	}
	c := &s.config.Console
	config := console.Config{
		Agent: p.agent, As: agentserver.As, Sessions: sessions, URL: at, Story: s.storyOf(p.agent), Proxies: c.Proxies(), Limits: s.config.Network.Limits(), Logger: log,
	}
	if c.Login.Issuer != "" {
		config.Login = s.consoleLogin()
	}
	p.server = console.New(config)
	return p, nil
}

// consoleLogin returns the login at the issuer. The secret is read again for each login.
func (s *setup) consoleLogin() *oidc.Login {
	c := &s.config.Console.Login
	login := &oidc.Login{Issuer: c.Issuer, ClientID: c.ClientID, Scopes: c.Scopes}
	for i := range s.config.Auth.Issuers {
		if known := &s.config.Auth.Issuers[i]; known.Issuer == c.Issuer {
			login.CAFile = known.CA
		}
	}
	if file := c.ClientSecretFile; file != "" {
		login.Secret = func() (string, error) {
			data, err := os.ReadFile(file)
			return strings.TrimSpace(string(data)), err
		}
	}
	return login
}

// storyOf returns the function that writes a run as `agentd show` does.
func (s *setup) storyOf(a *client.AgentClient) func(ctx context.Context, runID string, to *strings.Builder) error {
	return func(ctx context.Context, runID string, to *strings.Builder) error {
		p := cli.Process{Stdin: strings.NewReader(""), Stdout: to, Stderr: to, Getenv: func(string) string { return "" }}
		return (&history{AgentClient: a, served: true}).story(ctx, p, runID, false)
	}
}

// accept serves a listener for what its clients speak.
func (p *fronts) accept(server *agentserver.Server) func(net.Listener) error {
	return func(l net.Listener) error {
		of, ok := l.(*listen.Listener)
		switch {
		case ok && of.Pages():
			return p.server.Serve(l)
		case ok && of.Nodes():
			return p.nodes.Serve(l)
		case ok && of.JSON():
			return p.json.Serve(l)
		}
		return server.Serve(l)
	}
}

// shutdownNodes ends the watches of other agentds.
func (p *fronts) shutdownNodes(ctx context.Context) {
	if p.nodes != nil {
		_ = p.nodes.Shutdown(ctx)
	}
}

// shutdown ends the requests over HTTP.
func (p *fronts) shutdown(ctx context.Context) {
	if p.json != nil {
		_ = p.json.Shutdown(ctx)
	}
	if p.server != nil {
		_ = p.server.Shutdown(ctx) // browsers whose requests were cut see that
	}
}

// close ends the connection in memory. The server has been shut down.
func (p *fronts) close() error {
	if p.agent == nil {
		return nil
	}
	if err := errors.Join(p.agent.Close(), <-p.served); err != nil {
		return fmt.Errorf("ending the pages: %w", err)
	}
	return nil
}
