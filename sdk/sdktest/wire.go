package sdktest

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// connect serves handler over gRPC in memory, and returns a handler that calls it. The connection
// ends with the test.
func connect(t testing.TB, handler transport.Handler) transport.Handler {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(append(pluginwire.ServerOptions(), grpc.WaitForHandlers(true))...)
	pluginwire.Register(server, transport.OverWire(handler), pluginwire.ServerConfig{})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends with Stop, below
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	cc, err := grpc.NewClient("passthrough:memory", append(pluginwire.DialOptions(),
		grpc.WithContextDialer(dial), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatalf("connecting to the plugin: %v", err)
	}
	conn := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	t.Cleanup(func() {
		_ = conn.Close()
		_ = cc.Close()
		server.Stop()
		serving.Wait()
	})
	if err := conn.Open(t.Context()); err != nil {
		t.Fatalf("connecting to the plugin: %v", err)
	}
	return remote{conn, handler}
}

// remote is a plugin behind a gRPC connection.
type remote struct {
	conn  *pluginwire.Conn
	tools transport.Handler
}

// Describe implements transport.Handler.
func (r remote) Describe(ctx context.Context, req transport.DescribeRequest) (tool.Description, error) {
	return r.conn.Describe(ctx, pluginwire.DescribeRequest{Tools: req.Tools, Session: req.Session, Context: req.Context})
}

// Call implements transport.Handler.
func (r remote) Call(ctx context.Context, info transport.Info, local transport.Call) (tool.Result, error) {
	start := pluginwire.Start{
		CallID: info.CallID, Tool: info.Tool, Attempt: info.Attempt, EffectKey: info.EffectKey, Session: info.Session, Workspace: info.Workspace,
		Values: info.Values, Secrets: info.Secrets, Traceparent: info.Traceparent,
		Artifacts: local.ReadArtifact,
	}
	if deadline, ok := ctx.Deadline(); ok {
		start.Timeout = time.Until(deadline)
	}
	call, err := r.conn.Start(ctx, start)
	if err != nil {
		return tool.Result{}, tool.AsError(err)
	}
	defer call.Close()
	sending, stop := context.WithCancel(ctx)
	var sender sync.WaitGroup
	sender.Go(func() { sendArguments(sending, local, call) }) // ends with the call, below
	defer sender.Wait()
	defer stop()
	defer context.AfterFunc(ctx, func() {
		// The plugin itself observes a deadline.
		if errors.Is(ctx.Err(), context.Canceled) {
			call.Cancel(context.Cause(ctx).Error())
		}
	})()
	return receive(context.WithoutCancel(ctx), local, call)
}

// Settle implements transport.Handler.
func (r remote) Settle(ctx context.Context, info transport.Info, local transport.Call) (tool.Settlement, error) {
	return r.tools.Settle(ctx, info, local)
}

func sendArguments(ctx context.Context, local transport.Call, call *pluginwire.Call) {
	for {
		text, complete, err := local.NextArguments(ctx)
		switch {
		case err != nil:
			return
		case complete:
			if err := call.Complete(ctx, text); err != nil {
				call.Cancel(err.Error())
			}
			return
		default:
			if err := call.Append(ctx, text); err != nil {
				call.Cancel(err.Error())
				return
			}
		}
	}
}

func receive(ctx context.Context, local transport.Call, call *pluginwire.Call) (tool.Result, error) {
	for {
		event, err := call.Next(ctx)
		if err != nil {
			return tool.Result{}, tool.AsError(err)
		}
		if event.Ended == nil {
			_ = local.Send(ctx, event) // keeps it; cannot fail
			continue
		}
		if event.Ended.Err != nil {
			return tool.Result{}, event.Ended.Err
		}
		return event.Ended.Result, nil
	}
}
