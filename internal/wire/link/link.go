// Package link connects a client to one toolhost or agentd and makes RPCs on the connection. It
// owns the gRPC connections and translates gRPC errors. It does not know any service.
package link

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"iter"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/wirecode"
	"github.com/toolhost/toolhost/tool"
)

var (
	// ErrNoServer is wrapped by errors that say that no server answers at the address, or that the
	// connection was lost.
	ErrNoServer = errors.New("no server answers")
	// ErrClosed is wrapped by errors of RPCs after Close.
	ErrClosed = errors.New("the client is closed")
)

// windowBytes is the flow-control window of streams and connections, the same as the server's.
const windowBytes = 1 << 20

// One of several servers is given up when it has been silent for pingAfter, with calls under way,
// and does not answer a ping in pingWait. Servers accept pings as often.
const (
	pingAfter = 30 * time.Second
	pingWait  = 10 * time.Second
)

// Link makes RPCs to one server. All methods are safe for concurrent use.
//
// After a failed connection attempt, gRPC waits for a second or more and meanwhile fails RPCs with
// the old error. So a link uses a gRPC connection only until an RPC finds that no server answers on
// it, and opens a new connection for the next RPC. The old connection is closed when its last RPC
// has ended, because a server that is shutting down still answers old RPCs.
type Link struct {
	addr   address.Address
	by     func(context.Context) (net.Conn, error) // makes connections to addr
	server string                                  // the name of the program that should answer, for errors
	limit  int                                     // maximum bytes of a received message

	transport credentials.TransportCredentials
	authority string            // name of the server in requests
	secure    bool              // transport is TLS
	tokens    *credential.Cache // nil: the link sends no tokens

	mutex   sync.Mutex
	current *Conn              // for new RPCs; nil: none
	all     map[*Conn]struct{} // all open connections
	closed  bool

	refusal atomic.Pointer[error] // why the last connection attempt failed; nil if it succeeded

	// For a Fleet:
	keepalive bool        // notice also a server whose machine has vanished
	away      atomic.Bool // the server did not answer since it was last reached
	probing   atomic.Bool
	probed    time.Time // when probing began; the mutex of the fleet guards it
}

// Conn is a gRPC connection that counts its RPCs.
type Conn struct {
	*grpc.ClientConn
	users   int
	retired bool // accepts no more RPCs
}

// New returns a link to the program named server at addr, with credentials that were resolved for
// this address. It connects with the first RPC. limit is the maximum size of a received message in
// bytes. It returns an error if the files of TLS cannot be used. The caller must call Close.
func New(addr address.Address, server string, limit int, with credential.Resolved) (*Link, error) {
	l := &Link{addr: addr, by: addr.Dial, server: server, limit: limit, authority: with.Authority(), secure: with.Secure(), all: map[*Conn]struct{}{}}
	var err error
	if l.transport, err = with.Transport(l.shaken); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	l.tokens = with.Tokens()
	return l, nil
}

// DialWith makes the link connect with a function instead of by its address. Call it before the
// first RPC.
func (l *Link) DialWith(dial func(context.Context) (net.Conn, error)) { l.by = dial }

// Share makes the link one of several. They have the tokens of the first one. The link gives up on
// a server earlier. Call it before the first RPC.
func (l *Link) Share(first *Link) {
	l.tokens, l.by, l.keepalive = first.tokens, impatient(l.by), !l.addr.IsUnix()
}

// Addr returns the address of the server.
func (l *Link) Addr() string { return l.addr.String() }

// Server returns the name of the program that should answer.
func (l *Link) Server() string { return l.server }

// Acquire returns the connection for one RPC. The caller must call Release.
func (l *Link) Acquire() (*Conn, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return nil, tool.Errorf(tool.KindCancelled, "%w", ErrClosed)
	}
	if l.current == nil {
		options := []grpc.DialOption{
			grpc.WithContextDialer(l.dial),
			grpc.WithTransportCredentials(l.transport),
			grpc.WithAuthority(l.authority),
			grpc.WithStaticStreamWindowSize(windowBytes),
			grpc.WithStaticConnWindowSize(windowBytes),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(l.limit), grpc.ForceCodecV2(wirecode.NewCodec())),
			grpc.WithDisableServiceConfig(),
			grpc.WithIdleTimeout(0),
		}
		if l.keepalive {
			options = append(options, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingWait}))
		}
		conn, err := grpc.NewClient("passthrough:///localhost", options...)
		if err != nil {
			return nil, tool.Errorf(tool.KindInternal, "connecting to %s: %w", l.addr, err)
		}
		l.current = &Conn{ClientConn: conn}
		l.all[l.current] = struct{}{}
	}
	l.current.users++
	return l.current, nil
}

// Release ends an RPC that returned err.
func (l *Link) Release(c *Conn, err error) {
	l.Retire(c, err)
	l.mutex.Lock()
	c.users--
	_, open := l.all[c]
	done := open && c.retired && c.users == 0
	if done {
		delete(l.all, c)
	}
	l.mutex.Unlock()
	if done {
		_ = c.Close() // it has no more RPCs that could fail
	}
}

// Retire makes later RPCs use another connection if err says that no server answers on this one.
// Call it before the error is reported to a caller, so that a retry does not use the same
// connection.
func (l *Link) Retire(c *Conn, err error) {
	if unanswered(err) {
		l.away.Store(true)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	c.retired = c.retired || unanswered(err)
	if c.retired && l.current == c {
		l.current = nil
	}
}

// Connected reports whether there is a connection for new RPCs.
func (l *Link) Connected() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.current != nil
}

// Close closes all connections; RPCs on them fail. It may be called more than once.
func (l *Link) Close() error {
	l.mutex.Lock()
	conns := l.all
	l.closed, l.current, l.all = true, nil, nil
	l.mutex.Unlock()
	var errs []error
	for c := range conns {
		errs = append(errs, c.Close())
	}
	if l.tokens != nil {
		l.tokens.Close()
	}
	return errors.Join(errs...)
}

func (l *Link) dial(ctx context.Context, _ string) (net.Conn, error) {
	conn, err := l.by(ctx)
	if err != nil {
		l.refusal.Store(&err)
	} else {
		l.refusal.Store(nil)
	}
	return conn, err
}

// shaken records the result of a TLS handshake.
func (l *Link) shaken(err error) {
	if err != nil {
		l.refusal.Store(&err)
	}
}

// unanswered reports whether err says that no server answered an RPC. A server that answers
// UNAVAILABLE adds details.
func unanswered(err error) bool {
	st, ok := status.FromError(err)
	return ok && st.Code() == codes.Unavailable && len(st.Details()) == 0
}

// Failure returns the error of an RPC as a *tool.Error. It wraps ErrNoServer if no server answered,
// and also the *tls.CertificateVerificationError if the client did not accept the server's
// certificate.
func (l *Link) Failure(err error) *tool.Error {
	if err == nil {
		return nil
	}
	if failure, ok := errors.AsType[*tool.Error](err); ok {
		return failure
	}
	if unanswered(err) {
		if refusal := l.refusal.Load(); refusal != nil {
			if unverified, ok := errors.AsType[*tls.CertificateVerificationError](*refusal); ok {
				return tool.Errorf(tool.KindUnavailable, "the certificate of the %s at %s cannot be verified: %s%w",
					l.server, l.addr, unverified.Err, hidden{errors.Join(err, unverified)})
			}
		}
		return tool.Errorf(tool.KindUnavailable, "no %s answers at %s: %s%w", l.server, l.addr, l.reason(err), hidden{err})
	}
	return l.refusalOf(err)
}

// reason says briefly why no server answers. It prefers the error of the operating system, because
// gRPC wraps it in several layers of text.
func (l *Link) reason(err error) string {
	refusal := l.refusal.Load()
	if refusal == nil {
		message := status.Convert(err).Message()
		if !l.secure && !l.addr.IsUnix() && strings.Contains(message, "server preface") {
			message += "; if the server uses TLS, configure it for this client, too"
		}
		return message
	}
	if errno, ok := errors.AsType[syscall.Errno](*refusal); ok {
		return errno.Error()
	}
	return (*refusal).Error()
}

// NoServer returns an error that wraps ErrNoServer and cause and has no text. Append it to a
// message with %w.
func NoServer(cause error) error { return hidden{cause} }

type hidden struct{ cause error }

func (hidden) Error() string { return "" }

func (h hidden) Unwrap() []error { return []error{ErrNoServer, h.cause} }

// Invoke makes a unary RPC. Errors are *tool.Error.
func Invoke[R any](ctx context.Context, to Route, rpc func(grpc.ClientConnInterface) (R, error)) (R, error) {
	if l, ok := to.(*Link); ok {
		return invoke(ctx, l, rpc)
	}
	var none R
	links, failure := to.links(ctx)
	for _, l := range links {
		resp, err := invoke(ctx, l, rpc)
		if err == nil || !elsewhere(err) {
			return resp, err
		}
		failure = better(failure, err)
	}
	return none, failure
}

func invoke[R any](ctx context.Context, l *Link, rpc func(grpc.ClientConnInterface) (R, error)) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, tool.AsError(err)
	}
	conn, err := l.Acquire()
	if err != nil {
		return none, err
	}
	authorized, err := l.Authorize(ctx, conn)
	var resp R
	if err == nil {
		resp, err = rpc(authorized)
	}
	if err != nil && l.Renewed(ctx, authorized, err) {
		resp, err = rpc(authorized)
	}
	l.Release(conn, err)
	if err != nil {
		return none, l.Failure(err)
	}
	return resp, nil
}

// Receive returns an iterator that makes a server-streaming RPC and yields item of each message.
// Each loop makes a new RPC. An error, a *tool.Error, is the last element. Leaving the loop ends
// the RPC.
func Receive[M, T any](ctx context.Context, to Route,
	open func(context.Context, grpc.ClientConnInterface) (grpc.ServerStreamingClient[M], error), item func(*M) T,
) iter.Seq2[T, error] {
	if l, ok := to.(*Link); ok {
		return receive(ctx, l, open, item)
	}
	return func(yield func(T, error) bool) {
		links, failure := to.links(ctx)
		for _, l := range links {
			begun := false
			var err error
			for t, next := range receive(ctx, l, open, item) {
				if err = next; err != nil {
					break
				}
				begun = true
				if !yield(t, nil) {
					return
				}
			}
			if err == nil || begun || !elsewhere(err) {
				failure = err
				break
			}
			failure = better(failure, err)
		}
		if failure != nil {
			var none T
			yield(none, failure)
		}
	}
}

func receive[M, T any](ctx context.Context, l *Link,
	open func(context.Context, grpc.ClientConnInterface) (grpc.ServerStreamingClient[M], error), item func(*M) T,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := ctx.Err(); err != nil {
			yield(none, tool.AsError(err))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		conn, err := l.Acquire()
		if err != nil {
			yield(none, err)
			return
		}
		defer func() { l.Release(conn, err) }()
		authorized, err := l.Authorize(ctx, conn)
		var stream grpc.ServerStreamingClient[M]
		if err == nil {
			stream, err = open(ctx, authorized)
		}
		for begun := false; ; begun = true {
			var m *M
			if err == nil {
				m, err = stream.Recv()
			}
			if err != nil && !begun && l.Renewed(ctx, authorized, err) {
				if stream, err = open(ctx, authorized); err == nil {
					m, err = stream.Recv()
				}
			}
			if err != nil {
				break
			}
			if !yield(item(m), nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(none, l.Failure(err))
		}
	}
}
