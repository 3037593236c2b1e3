package pluginwire_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

func TestHostThatLeavesCancelsItsCalls(t *testing.T) {
	started, cause := make(chan struct{}), make(chan error, 2)
	conn, stop := openStoppable(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		started <- struct{}{}
		if call.Start().Complete {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return tool.Result{}, nil
		}
		_, err := whole(context.WithoutCancel(ctx), call)
		cause <- err
		return tool.Result{}, err
	}})
	start(t, conn, pluginwire.Start{Complete: true})
	start(t, conn, pluginwire.Start{})
	<-started
	<-started
	_ = conn.Close()
	for range 2 {
		if err := <-cause; tool.KindOf(err) != tool.KindCancelled {
			t.Errorf("a call ended with %v", err)
		}
	}
	stop()
}

// Connect returns only after its calls have ended. The test observes it through the server's wait
// for handlers.
func TestConnectWaitsForItsCalls(t *testing.T) {
	var ended atomic.Bool
	started, stopping := make(chan struct{}), make(chan struct{})
	conn, stop := openStoppable(t, plugin{call: func(ctx context.Context, _ *pluginwire.ServerCall) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		<-stopping
		for range 10_000 { // gives a Connect that does not wait the chance to return first
			runtime.Gosched()
		}
		ended.Store(true)
		return tool.Result{}, nil
	}})
	start(t, conn, pluginwire.Start{Complete: true})
	<-started
	_ = conn.Close()
	close(stopping)
	stop()
	if !ended.Load() {
		t.Error("Connect returned before its call")
	}
}

// A host that sends all its frames and then half-closes the stream still receives all outcomes.
func TestHalfClosedStreamStillGetsItsEnds(t *testing.T) {
	const calls = 100
	cc, _ := serve(t, register(plugin{call: func(ctx context.Context, _ *pluginwire.ServerCall) (tool.Result, error) {
		<-ctx.Done()
		return tool.TextResult("stopped"), nil
	}}))
	stream, err := pluginv1.NewToolPluginServiceClient(cc).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		frame := &pluginv1.ConnectRequest_Start{Start: &pluginv1.StartCall{Complete: true}}
		if err := stream.Send(&pluginv1.ConnectRequest{Call: uint32(i + 1), Frame: frame}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	ends := 0
	for {
		frame, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		if frame.GetEnd() != nil {
			ends++
		}
	}
	if ends != calls {
		t.Errorf("%d calls ended, want %d", ends, calls)
	}
}

func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	conn := open(t, plugin{call: func(context.Context, *pluginwire.ServerCall) (tool.Result, error) {
		runtime.Goexit()
		return tool.Result{}, nil
	}}, pluginwire.ConnConfig{})
	out := outcome(t, start(t, conn, pluginwire.Start{Complete: true}))
	wantKind(t, out, tool.KindInternal)
	if out.Err != nil && !strings.Contains(out.Err.Message, "Goexit") {
		t.Errorf("message %q", out.Err.Message)
	}
}

// Goroutines of one call send small and large frames at the same time. A large frame uses more
// credit than is left. No small frame may arrive after it without credit.
func TestGoroutinesOfACallShareItsCredit(t *testing.T) {
	const goroutines, frames = 4, 300
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		var sending sync.WaitGroup
		for i := range goroutines {
			message := strings.Repeat("x", 1+i%2*2000)
			sending.Go(func() { // ends after its frames, or with the call
				for range frames {
					if call.Send(ctx, tool.Event{Log: &tool.LogRecord{Message: message}}) != nil {
						return
					}
				}
			})
		}
		sending.Wait()
		return tool.TextResult("sent"), nil
	}}, pluginwire.ConnConfig{CallWindow: 4 << 10})
	records := 0
	call := start(t, conn, pluginwire.Start{Complete: true})
	for {
		event, err := call.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if event.Log != nil {
			records++
		}
		if event.Ended == nil {
			continue
		}
		if records != goroutines*frames || event.Ended.Err != nil {
			t.Errorf("%d records arrived, want %d; the call ended with %v", records, goroutines*frames, event.Ended.Err)
		}
		return
	}
}

func BenchmarkEcho(b *testing.B) {
	conn := open(b, echo, pluginwire.ConnConfig{})
	arguments := make([]byte, 200)
	run := func() {
		call, err := conn.Start(b.Context(), pluginwire.Start{CallID: "c", Tool: "echo", Arguments: arguments, Complete: true})
		if err != nil {
			b.Error(err)
			return
		}
		defer call.Close()
		if event, err := call.Next(b.Context()); err != nil || event.Ended == nil {
			b.Errorf("%+v, %v", event, err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			run()
		}
	})
	b.Run("many", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				run()
			}
		})
	})
}
