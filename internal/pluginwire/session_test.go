package pluginwire_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/toolhost/toolhost/internal/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// TestHostThatLeavesCancelsItsCalls also shows, by the server's wait for its handlers, that Connect waits for calls.
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

func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	conn := open(t, plugin{call: func(context.Context, *pluginwire.ServerCall) (tool.Result, error) {
		runtime.Goexit()
		return tool.Result{}, nil
	}}, pluginwire.ConnConfig{})
	wantKind(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true})), tool.KindInternal)
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
