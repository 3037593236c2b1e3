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
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/internal/rpc/wirecode"
	"github.com/toolhost/toolhost/tool"
)

// ErrNoServer is wrapped by errors that say that nobody answers at the address, or that the connection broke.
var ErrNoServer = errors.New("no server answers")

var errClosed = errors.New("the client is closed")

// windowBytes is the flow-control window of streams and connections, as the server's.
const windowBytes = 1 << 20

// link is how a server is reached. It connects when that is first needed, and anew after a failure: left to itself,
// gRPC would rest for a second or longer and answer in the meantime what was true before.
type link struct {
	addr   address.Address
	server string // what should answer there, for errors
	limit  int    // bytes of one message

	mutex   sync.Mutex
	current *connection
	all     map[*connection]struct{} // that are not closed; more than one while calls end on an old one
	closed  bool

	refusal atomic.Pointer[error] // why the last dial failed; nil if it did not
}

// connection is a gRPC connection with the number of RPCs on it.
type connection struct {
	*grpc.ClientConn
	users   int
	retired bool // takes no more RPCs
}

func newLink(addr address.Address, server string, limit int) *link {
	return &link{addr: addr, server: server, limit: limit, all: map[*connection]struct{}{}}
}

// acquire returns the connection for one RPC, which ends with release.
func (l *link) acquire() (*connection, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return nil, tool.Errorf(tool.KindCancelled, "%w", errClosed)
	}
	if l.current == nil {
		conn, err := grpc.NewClient("passthrough:///localhost",
			grpc.WithContextDialer(l.dial),
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithStaticStreamWindowSize(windowBytes),
			grpc.WithStaticConnWindowSize(windowBytes),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(l.limit), grpc.ForceCodecV2(wirecode.NewCodec())),
			grpc.WithDisableServiceConfig(),
			grpc.WithIdleTimeout(0),
		)
		if err != nil {
			return nil, tool.Errorf(tool.KindInternal, "connecting to %s: %w", l.addr, err)
		}
		l.current = &connection{ClientConn: conn}
		l.all[l.current] = struct{}{}
	}
	l.current.users++
	return l.current, nil
}

// release ends an RPC that returned err. A connection on which nobody answers takes no more RPCs; it is closed when
// the last one on it has ended, because a server that shuts down still answers old ones.
func (l *link) release(c *connection, err error) {
	l.retire(c, err)
	l.mutex.Lock()
	c.users--
	_, open := l.all[c]
	done := open && c.retired && c.users == 0
	if done {
		delete(l.all, c)
	}
	l.mutex.Unlock()
	if done {
		_ = c.Close() // nobody is left on it
	}
}

// retire lets a connection take no more RPCs if err says that nobody answers on it. It comes before anybody is told of err,
// so that who calls again at once gets another connection.
func (l *link) retire(c *connection, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	c.retired = c.retired || unanswered(err)
	if c.retired && l.current == c {
		l.current = nil
	}
}

// close ends all connections, and with them the RPCs on them.
func (l *link) close() error {
	l.mutex.Lock()
	conns := l.all
	l.closed, l.current, l.all = true, nil, nil
	l.mutex.Unlock()
	var errs []error
	for c := range conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
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

// unanswered reports whether err says that no server answered an RPC.
func unanswered(err error) bool {
	st, ok := status.FromError(err)
	return ok && st.Code() == codes.Unavailable && len(st.Details()) == 0
}

// failure returns what an RPC returned as a *tool.Error, which wraps ErrNoServer if no server said it.
func (l *link) failure(err error) *tool.Error {
	if err == nil {
		return nil
	}
	if unanswered(err) {
		return tool.Errorf(tool.KindUnavailable, "no %s answers at %s: %s%w", l.server, l.addr, l.reason(err), hidden{err})
	}
	return toolpb.FromStatusError(err)
}

// reason says in few words why nobody answers: in the operating system's where it was that which refused.
func (l *link) reason(err error) string {
	refusal := l.refusal.Load()
	if refusal == nil {
		return status.Convert(err).Message()
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
func invoke[R any](ctx context.Context, l *link, rpc func(grpc.ClientConnInterface) (R, error)) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, tool.AsError(err)
	}
	conn, err := l.acquire()
	if err != nil {
		return none, err
	}
	resp, err := rpc(conn)
	l.release(conn, err)
	if err != nil {
		return none, l.failure(err)
	}
	return resp, nil
}
