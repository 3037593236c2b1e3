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

// MCPStdio calls an MCP server over standard input and output.
func (f *Field) MCPStdio(ctx context.Context) (Contender, error) {
	cmd := exec.Command(f.program("mcpecho"), "stdio")
	cmd.Stderr = os.Stderr
	session, err := f.connect(ctx, &mcp.CommandTransport{Command: cmd})
	if err != nil {
		return Contender{}, err
	}
	return Contender{Key: "mcp-stdio", Title: "MCP over stdio", Processes: load.Processes{cmd.Process.Pid}, Do: callTool(session)}, nil
}

// MCPHTTP calls an MCP server over streamable HTTP.
func (f *Field) MCPHTTP(ctx context.Context) (Contender, error) {
	return f.overHTTP(ctx, "mcp-http", "MCP over HTTP", "http")
}

// MCPProxy calls an MCP server on standard input and output through an HTTP proxy.
func (f *Field) MCPProxy(ctx context.Context) (Contender, error) {
	return f.overHTTP(ctx, "mcp-proxy", "MCP proxy, then stdio", "proxy", f.program("mcpecho"), "stdio")
}

func (f *Field) overHTTP(ctx context.Context, key, title, role string, behind ...string) (Contender, error) {
	dir, err := f.Folder(key)
	if err != nil {
		return Contender{}, err
	}
	socket := filepath.Join(dir, "s")
	pid, _, err := f.start(ctx, socket, "mcpecho", append([]string{role, socket}, behind...)...)
	if err != nil {
		return Contender{}, err
	}
	transport := &http.Transport{MaxIdleConns: 128, MaxIdleConnsPerHost: 128, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	f.owns(func() error { transport.CloseIdleConnections(); return nil })
	session, err := f.connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://localhost", DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return Contender{}, err
	}
	return Contender{Key: key, Title: title, Processes: load.Processes{pid}, Do: callTool(session)}, nil
}

func (f *Field) connect(ctx context.Context, t mcp.Transport) (*mcp.ClientSession, error) {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil).Connect(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting over MCP: %w", err)
	}
	f.owns(session.Close)
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
