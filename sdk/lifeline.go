package sdk

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
)

const (
	// parentInterval is how often a plugin without a connection checks that its parent lives.
	// toolhost promises that no process survives it by more than a second.
	parentInterval = 250 * time.Millisecond
	// connectLimit is how long a plugin waits for a connection. toolhost connects as soon as it has
	// read the handshake, so a longer wait means that toolhost is gone.
	connectLimit = 5 * time.Minute
)

// lifeline ends the plugin when toolhost is gone. Before toolhost has connected, lifeline watches
// its process. After that, it watches the connection, of which there is only one, and the stream
// that carries the calls.
type lifeline struct {
	parent    func() int // returns the parent's process id
	connect   func()     // called when toolhost connects, before any RPC; nil: nothing
	born      int        // its first result
	connected chan struct{}
	lost      chan struct{}

	mu      sync.Mutex
	conns   int // open connections
	streams int // open Connect streams
	begun   bool
	ended   bool
}

// newLifeline records the parent. Call it before the handshake is printed, because toolhost may end
// at any time after it. parent is os.Getppid outside of tests.
func newLifeline(parent func() int) *lifeline {
	return &lifeline{parent: parent, born: parent(), connected: make(chan struct{}), lost: make(chan struct{})}
}

// guard calls stop when toolhost is gone. It returns then, or when ctx ends.
func (l *lifeline) guard(ctx context.Context, stop func()) {
	look := time.NewTicker(parentInterval)
	defer look.Stop()
	limit := time.NewTimer(connectLimit)
	defer limit.Stop()
	for connected := l.connected; ; {
		select {
		case <-ctx.Done():
			return
		case <-connected:
			connected = nil
			look.Stop()
			limit.Stop()
			continue
		case <-look.C:
			if l.parent() == l.born {
				continue
			}
		case <-limit.C:
		case <-l.lost:
		}
		stop()
		return
	}
}

// add counts an open connection or stream, or an ended one if n is -1. The end of the last one
// means that toolhost is gone.
func (l *lifeline) add(count *int, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*count += by
	if !l.begun {
		l.begun = true
		if l.connect != nil {
			l.connect()
		}
		close(l.connected)
	}
	if *count == 0 && !l.ended {
		l.ended = true
		close(l.lost)
	}
}

// intercept is a grpc.StreamServerInterceptor.
func (l *lifeline) intercept(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if info.FullMethod == pluginv1.ToolPluginService_Connect_FullMethodName {
		l.add(&l.streams, 1)
		// The handler returns only after every call, which a tool can delay.
		context.AfterFunc(stream.Context(), func() { l.add(&l.streams, -1) })
	}
	return handler(srv, stream)
}

// HandleConn implements stats.Handler.
func (l *lifeline) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		l.add(&l.conns, 1)
	case *stats.ConnEnd:
		l.add(&l.conns, -1)
	}
}

// TagConn implements stats.Handler.
func (l *lifeline) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// TagRPC implements stats.Handler.
func (l *lifeline) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (l *lifeline) HandleRPC(context.Context, stats.RPCStats) {}
