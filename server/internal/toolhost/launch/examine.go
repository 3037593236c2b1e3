package launch

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

// MCPServer is a running MCP server with its session, for an examination.
type MCPServer struct {
	pluginconn.Conn
	process *process.Process
	stray   *strayLines
}

// Process returns how to start a process of a plugin for an examination. The process may write its
// bytecode cache.
func (l *Launcher) Process(p *catalog.Plugin, instance string) process.Config {
	cfg := l.process(l.current.Load(), p, instance)
	writeBytecode(&cfg, p)
	return cfg
}

// LaunchMCP starts an MCP server with the settings and the secrets of the plugin, and begins a
// session. The caller ends the server. cfg says how to start the process, as Process does.
func (l *Launcher) LaunchMCP(ctx context.Context, plugin *catalog.Plugin, cfg process.Config) (*MCPServer, error) {
	server, err := l.mcpServer(&cfg, plugin, supervisor.Owner{Tenant: identity.DefaultTenant})
	if err != nil {
		return nil, err
	}
	stray := &strayLines{}
	open := cfg.Pipes
	cfg.Pipes = func(ctx context.Context, pipes process.Pipes) (process.Session, error) {
		pipes.Stray = io.MultiWriter(stray, pipes.Stray)
		return open(ctx, pipes)
	}
	started, err := process.Launch(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &MCPServer{Conn: server.conn(started), process: started, stray: stray}, nil
}

// Printed returns the first lines of standard output that are no messages.
func (s *MCPServer) Printed() []string { return s.stray.lines() }

// StderrTail returns the last lines of standard error.
func (s *MCPServer) StderrTail() []string { return s.process.StderrTail() }

// Sandbox returns the sandbox of the process.
func (s *MCPServer) Sandbox() tool.Sandbox { return s.process.Sandbox() }

// End ends the process, and returns when it is gone.
func (s *MCPServer) End(ctx context.Context) { _ = s.process.Stop(ctx, 0) }

// strayLines keeps the first bytes of what a server prints. It is safe for concurrent use.
type strayLines struct {
	mu   sync.Mutex
	text []byte
}

// mostStray bounds what strayLines keeps, in bytes.
const mostStray = 4 << 10

// Write implements io.Writer.
func (s *strayLines) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p[:min(len(p), mostStray-len(s.text))]...)
	return len(p), nil
}

func (s *strayLines) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for line := range bytes.Lines(s.text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, string(line))
		}
	}
	return lines
}
