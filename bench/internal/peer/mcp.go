package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/bench/internal/load"
)

// The versions of MCP that are measured.
const (
	Sessions  = "2025-11-25" // the last version with sessions
	Stateless = "2026-07-28" // the first version without
)

// MCPStdio calls an MCP server over standard input and output.
func (f *Field) MCPStdio(ctx context.Context, version string) (Contender, error) {
	return f.overStdio(ctx, "mcp-stdio", "MCP over stdio", version, nil, f.program("mcpecho"), "stdio")
}

// MCPStdioProxy calls an MCP server on standard input and output through a proxy on standard input
// and output.
func (f *Field) MCPStdioProxy(ctx context.Context, version string) (Contender, error) {
	return f.overStdio(ctx, "mcp-proxy", "MCP proxy, then stdio", version, nil, f.program("mcpecho"), "proxy", "-", f.program("mcpecho"), "stdio")
}

// MCPHTTP calls an MCP server over streamable HTTP.
func (f *Field) MCPHTTP(ctx context.Context, version string) (Contender, error) {
	return f.overHTTP(ctx, "mcp-http", "MCP over HTTP", version, "http")
}

// MCPProxy calls an MCP server on standard input and output through an HTTP proxy.
func (f *Field) MCPProxy(ctx context.Context, version string) (Contender, error) {
	return f.overHTTP(ctx, "mcp-proxy", "MCP proxy, then stdio", version, "proxy", f.program("mcpecho"), "stdio")
}

func (f *Field) overHTTP(ctx context.Context, key, title, version, role string, behind ...string) (Contender, error) {
	dir, err := f.Folder(key)
	if err != nil {
		return Contender{}, err
	}
	socket := filepath.Join(dir, "s")
	pid, _, err := f.start(ctx, dir, socket, "mcpecho", append([]string{role, socket}, behind...)...)
	if err != nil {
		return Contender{}, err
	}
	return f.mcpAt(ctx, socket, key, title, version, load.Processes{pid})
}

// mcpAt calls the MCP server that listens on a unix socket.
func (f *Field) mcpAt(ctx context.Context, socket, key, title, version string, pids load.Processes) (Contender, error) {
	transport := &http.Transport{MaxIdleConns: 128, MaxIdleConnsPerHost: 128, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	f.owns(func() error { transport.CloseIdleConnections(); return nil })
	session, err := f.connect(ctx, version, &mcp.StreamableClientTransport{Endpoint: "http://localhost/mcp", DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return Contender{}, err
	}
	return Contender{Key: key, Title: title, Processes: pids, Do: callTool(session)}, nil
}

// overStdio starts an MCP server and calls it over its standard input and output. beside are
// processes that take part, besides those of the server.
func (f *Field) overStdio(ctx context.Context, key, title, version string, beside load.Processes, command ...string) (Contender, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	session, err := f.connect(ctx, version, &mcp.CommandTransport{Command: cmd})
	if err != nil {
		return Contender{}, err
	}
	return Contender{Key: key, Title: title, Processes: append(load.Processes{cmd.Process.Pid}, beside...), Do: callTool(session)}, nil
}

// connect begins a session in a version of MCP; empty: the newest one.
func (f *Field) connect(ctx context.Context, version string, t mcp.Transport) (*mcp.ClientSession, error) {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil).Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, fmt.Errorf("connecting over MCP: %w", err)
	}
	f.owns(session.Close)
	if got := session.InitializeResult().ProtocolVersion; version != "" && got != version {
		return nil, fmt.Errorf("the server speaks version %s of MCP, not %s", got, version)
	}
	return session, nil
}

func callTool(session *mcp.ClientSession) func(context.Context, []byte) (int, error) {
	return func(ctx context.Context, arguments []byte) (int, error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(arguments)})
		if err != nil {
			return 0, err
		}
		if text, ok := result.Content[0].(*mcp.TextContent); ok && !result.IsError {
			return len(text.Text), nil
		}
		return 0, errors.New("the tool did not answer with a text")
	}
}
