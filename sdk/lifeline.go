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
	// parentInterval is how often a plugin that nobody has connected to looks whether its parent lives: toolhost leaves
	// nothing behind for longer than a second.
	parentInterval = 250 * time.Millisecond
	// connectLimit is how long a plugin waits to be connected to. toolhost connects as soon as it has read the handshake;
	// longer than this takes nothing but a toolhost that is gone.
	connectLimit = 5 * time.Minute
)

// lifeline notices that toolhost is gone, however it went. Before toolhost has connected, its process is looked for;
// from then on the connection tells, since there is only one, and so does the stream that carries the calls.
type lifeline struct {
	parent    func() int // the parent's process number
	born      int        // what it was first
	connected chan struct{}
	lost      chan struct{}

	mu      sync.Mutex
	conns   int // open
	streams int // Connect streams that are open
	begun   bool
	ended   bool
}

// newLifeline remembers who the parent is, so that it has to be called before the handshake is printed: as soon as that
// is out, toolhost may be gone. parent is os.Getppid outside of tests.
func newLifeline(parent func() int) *lifeline {
	return &lifeline{parent: parent, born: parent(), connected: make(chan struct{}), lost: make(chan struct{})}
}

// guard calls stop once toolhost is gone. It returns then, or when ctx ends.
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

// add counts an open connection or stream, or, with -1, one that has ended. The last of its kind takes toolhost along.
func (l *lifeline) add(count *int, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*count += by
	if !l.begun {
		l.begun = true
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
		// The handler itself returns only when every call has, which a tool can delay.
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
