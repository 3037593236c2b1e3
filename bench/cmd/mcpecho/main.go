// Command mcpecho serves the benchmark's work over MCP with the official Go SDK:
//
//	mcpecho stdio              a server on standard input and output
//	mcpecho http SOCKET        a server over streamable HTTP, on a unix socket
//	mcpecho proxy SOCKET CMD…  a proxy over streamable HTTP for the stdio server CMD
//	mcpecho proxy - CMD…       the same on standard input and output
//
// Over HTTP, a server has two handlers as the SDK requires it: one for the versions of MCP with
// sessions, and one for those without.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/bench/internal/work"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "mcpecho:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "stdio":
		return worker().Run(ctx, &mcp.StdioTransport{})
	case len(args) == 2 && args[0] == "http":
		return serve(ctx, args[1], worker())
	case len(args) > 2 && args[0] == "proxy":
		server, err := proxy(ctx, args[2:])
		if err != nil {
			return err
		}
		if args[1] == "-" {
			return server.Run(ctx, &mcp.StdioTransport{})
		}
		return serve(ctx, args[1], server)
	}
	return errors.New("usage: mcpecho stdio | http SOCKET | proxy SOCKET|- COMMAND…")
}

func worker() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Answers with a text of the size asked for.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in work.Request) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Answer()}}}, nil, nil
		})
	return s
}

// proxy offers the tools of the stdio server, as MCP gateways do.
func proxy(ctx context.Context, command []string) (*mcp.Server, error) {
	behind := exec.Command(command[0], command[1:]...)
	behind.Stderr = os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "proxy", Version: "1.0.0"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: behind}, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to the server behind: %w", err)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "proxy", Version: "1.0.0"}, nil)
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("listing the tools behind: %w", err)
		}
		s.AddTool(t, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return session.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
		})
	}
	return s, nil
}

func serve(ctx context.Context, socket string, s *mcp.Server) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	handler := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
			&mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: true, DisableLocalhostProtection: true})
	}
	sessions, single := handler(false), handler(true)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			single.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	return server.Serve(listener)
}
