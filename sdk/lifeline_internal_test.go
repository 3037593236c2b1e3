package sdk

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/stats"
)

// The test checks, case by case, when a plugin concludes that toolhost is gone.
func TestLifeline(t *testing.T) {
	const long = 2 * connectLimit
	tests := []struct {
		name    string
		early   bool // the parent ends before guard starts
		happy   bool // the plugin continues
		happens func(l *lifeline, parent *atomic.Int64)
	}{
		{"nobody connects, soon after", false, true, func(*lifeline, *atomic.Int64) { time.Sleep(connectLimit - time.Second) }},
		{"nobody connects, for long", false, false, func(*lifeline, *atomic.Int64) { time.Sleep(long) }},
		{"the parent dies before anybody connects", false, false, func(_ *lifeline, parent *atomic.Int64) {
			parent.Store(1)
			time.Sleep(parentInterval)
		}},
		{"the parent dies as soon as the handshake is out", true, false, func(*lifeline, *atomic.Int64) { time.Sleep(parentInterval) }},
		{"connected for long", false, true, func(l *lifeline, _ *atomic.Int64) {
			l.HandleConn(context.Background(), &stats.ConnBegin{})
			time.Sleep(long)
		}},
		{"the connection ends before there is a stream", false, false, func(l *lifeline, _ *atomic.Int64) {
			l.HandleConn(context.Background(), &stats.ConnBegin{})
			l.HandleConn(context.Background(), &stats.ConnEnd{})
		}},
		{"one of two connections ends", false, true, func(l *lifeline, _ *atomic.Int64) {
			l.HandleConn(context.Background(), &stats.ConnBegin{})
			l.HandleConn(context.Background(), &stats.ConnBegin{})
			l.HandleConn(context.Background(), &stats.ConnEnd{})
			time.Sleep(long)
		}},
		{"the stream ends", false, false, func(l *lifeline, _ *atomic.Int64) {
			l.HandleConn(context.Background(), &stats.ConnBegin{})
			l.add(&l.streams, 1)
			l.add(&l.streams, -1)
			l.HandleConn(context.Background(), &stats.ConnEnd{})
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var parent, stopped atomic.Int64
				parent.Store(4711)
				l := newLifeline(func() int { return int(parent.Load()) })
				if test.early {
					parent.Store(1)
				}
				ctx, cancel := context.WithCancel(t.Context())
				guarded := make(chan struct{})
				go func() { // ends with ctx
					defer close(guarded)
					l.guard(ctx, func() { stopped.Add(1) })
				}()
				synctest.Wait()
				test.happens(l, &parent)
				synctest.Wait()
				if got := stopped.Load() == 0; got != test.happy {
					t.Errorf("the server was stopped %d times", stopped.Load())
				}
				cancel()
				<-guarded
			})
		})
	}
}
