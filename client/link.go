package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/hostpb"
	"github.com/toolhost/toolhost/internal/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// ErrNoServer is wrapped by errors that say that nobody answers at the address, or that the connection broke.
var ErrNoServer = errors.New("no server answers")

var errClosed = errors.New("the client is closed")

// windowBytes is the flow-control window of streams and connections, as the server's.
const windowBytes = 1 << 20

// link is the gRPC connection to a server, made when it is first needed.
type link struct {
	addr   address.Address
	server string // what should answer there, for errors

	mutex  sync.Mutex
	conn   *grpc.ClientConn
	closed bool

	refusal atomic.Pointer[error] // why the last dial failed; nil if it did not
}

func newLink(addr address.Address, server string) *link { return &link{addr: addr, server: server} }

// get returns the connection. One that could not be made is replaced instead of waited for: gRPC would let it rest
// for a second or longer, and answer in the meantime what was true before.
func (l *link) get() (*grpc.ClientConn, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return nil, tool.Errorf(tool.KindCancelled, "%w", errClosed)
	}
	if l.conn != nil && l.conn.GetState() != connectivity.TransientFailure {
		return l.conn, nil
	}
	if l.conn != nil {
		_ = l.conn.Close() // it has no stream that could still answer
		l.conn = nil
	}
	conn, err := grpc.NewClient("passthrough:///localhost",
		grpc.WithContextDialer(l.dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(windowBytes),
		grpc.WithStaticConnWindowSize(windowBytes),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(hostpb.MaxMessageBytes)),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0),
	)
	if err != nil {
		return nil, tool.Errorf(tool.KindInternal, "connecting to %s: %w", l.addr, err)
	}
	l.conn = conn
	return conn, nil
}

func (l *link) dial(ctx context.Context, _ string) (net.Conn, error) {
	conn, err := l.addr.Dial(ctx)
	if err != nil {
		l.refusal.Store(&err)
	} else {
		l.refusal.Store(nil)
	}
	return conn, err
}

func (l *link) close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closed = true
	if l.conn == nil {
		return nil
	}
	conn := l.conn
	l.conn = nil
	return conn.Close()
}

// failure returns what an RPC returned as a *tool.Error, which wraps ErrNoServer if no server said it.
func (l *link) failure(err error) *tool.Error {
	if err == nil {
		return nil
	}
	st, ok := status.FromError(err)
	if ok && st.Code() == codes.Unavailable && len(st.Details()) == 0 {
		return tool.Errorf(tool.KindUnavailable, "no %s answers at %s: %s%w", l.server, l.addr, l.reason(st), hidden{err})
	}
	return toolpb.FromStatusError(err)
}

// reason says in few words why nobody answers: in the operating system's where it was that which refused.
func (l *link) reason(st *status.Status) string {
	refusal := l.refusal.Load()
	if refusal == nil {
		return st.Message()
	}
	if errno, ok := errors.AsType[syscall.Errno](*refusal); ok {
		return errno.Error()
	}
	return (*refusal).Error()
}

// hidden is ErrNoServer with its cause; it adds no words to the message that it is part of.
type hidden struct{ cause error }

func (hidden) Error() string { return "" }

func (h hidden) Unwrap() []error { return []error{ErrNoServer, h.cause} }

// invoke makes a unary RPC.
func invoke[R any](ctx context.Context, l *link, rpc func(*grpc.ClientConn) (R, error)) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, tool.AsError(err)
	}
	conn, err := l.get()
	if err != nil {
		return none, err
	}
	resp, err := rpc(conn)
	if err != nil {
		return none, l.failure(err)
	}
	return resp, nil
}
