package pluginwire_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// plugin is a handler made of functions.
type plugin struct {
	describe func(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error)
	call     func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error)
}

func (p plugin) Describe(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error) {
	return p.describe(ctx, req)
}

func (p plugin) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	return p.call(ctx, call)
}

// serve serves what register registers on a unix socket and returns a connection. Both end with the
// test.
func serve(t testing.TB, register func(*grpc.Server)) (*grpc.ClientConn, *grpc.Server) {
	t.Helper()
	socket := filepath.Join(shortdir.Make(t), "s")
	lis, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(append(pluginwire.ServerOptions(), grpc.WaitForHandlers(true))...)
	if register != nil {
		register(server)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(lis) }()
	cc, err := grpc.NewClient("unix:"+socket, append(pluginwire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cc.Close()
		server.Stop()
		<-served
	})
	return cc, server
}

var quiet = pluginwire.ServerConfig{Logger: slog.New(slog.DiscardHandler)}

// open returns an open connection to a plugin.
func open(t testing.TB, p plugin, cfg pluginwire.ConnConfig) *pluginwire.Conn {
	t.Helper()
	cc, _ := serve(t, register(p))
	return openOn(t, cc, cfg)
}

// openStoppable is open with a function that ends the plugin.
func openStoppable(t testing.TB, p plugin) (conn *pluginwire.Conn, stop func()) {
	t.Helper()
	cc, server := serve(t, register(p))
	return openOn(t, cc, pluginwire.ConnConfig{}), server.Stop
}

func register(p plugin) func(*grpc.Server) {
	return func(s *grpc.Server) { pluginwire.Register(s, p, quiet) }
}

func openOn(t testing.TB, cc grpc.ClientConnInterface, cfg pluginwire.ConnConfig) *pluginwire.Conn {
	t.Helper()
	conn := pluginwire.NewConn(cc, cfg)
	if err := conn.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// start starts a call that must start.
func start(t testing.TB, conn *pluginwire.Conn, s pluginwire.Start) *pluginwire.Call {
	t.Helper()
	call, err := conn.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(call.Close)
	return call
}

// follow returns the events before the outcome, and the outcome. It also checks that nothing
// follows.
func follow(t testing.TB, call *pluginwire.Call) ([]tool.Event, tool.Outcome) {
	t.Helper()
	var events []tool.Event
	for {
		event, err := call.Next(t.Context())
		if err != nil {
			t.Fatalf("after %d events: %v", len(events), err)
		}
		if event.Ended != nil {
			if _, err := call.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("after the end: %v", err)
			}
			return events, *event.Ended
		}
		events = append(events, event)
	}
}

// outcome is follow for calls without events.
func outcome(t testing.TB, call *pluginwire.Call) tool.Outcome {
	t.Helper()
	events, out := follow(t, call)
	if len(events) > 0 {
		t.Errorf("%d events that nobody sent: %+v", len(events), events[0])
	}
	return out
}

// wantText checks that a call succeeded with a text.
func wantText(t testing.TB, out tool.Outcome, want string) {
	t.Helper()
	if out.Err != nil {
		t.Errorf("ended with %v: %v", out.Err.Kind, out.Err)
	} else if got := out.Result.Text(); got != want {
		t.Errorf("answered %q, want %q", clip(got), clip(want))
	}
}

// wantKind checks that a call ended with an error.
func wantKind(t testing.TB, out tool.Outcome, want tool.Kind) {
	t.Helper()
	if out.Err == nil {
		t.Errorf("answered %q, want an error of kind %s", clip(out.Result.Text()), want)
	} else if out.Err.Kind != want {
		t.Errorf("ended with %s: %v, want kind %s", out.Err.Kind, out.Err, want)
	}
}

func clip(s string) string { return s[:min(len(s), 80)] }

// whole returns the complete arguments of a call.
func whole(ctx context.Context, call *pluginwire.ServerCall) ([]byte, error) {
	for {
		text, complete, err := call.NextArguments(ctx)
		if err != nil || complete {
			return text, err
		}
	}
}

// echo answers with the arguments.
var echo = plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	arguments, err := whole(ctx, call)
	return tool.TextResult(string(arguments)), err
}}
