package jsonapi

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
)

// connection is a connection of an HTTP client. Its RPCs go over a gRPC connection of its own, in
// memory. At the other end, the gRPC server sees the client: its address, its limits, and no
// evidence but the bearer credential of each RPC.
type connection struct {
	peer   *peer.Peer
	info   peercred.Info
	memory *memory

	mu     sync.Mutex
	rpcs   *grpc.ClientConn // nil: no request was admitted yet
	closed bool
}

type connectionKey struct{}

// connContext returns the context of the requests of a connection.
func (s *Server) connContext(ctx context.Context, c net.Conn) context.Context {
	var state *tls.ConnectionState
	inner := c
	if secure, ok := c.(*tls.Conn); ok {
		done := secure.ConnectionState() // the handshake is complete; see listen.Handshaken
		state, inner = &done, secure.NetConn()
	}
	of := &connection{info: peercred.Of(inner, state), memory: s.memory}
	// Only bearer credentials count. Whoever has none is not anonymous, but refused.
	of.info.Principal, of.info.OverTCP = "", false
	of.info.Caller = authn.Evidence{
		Address: of.info.Caller.Address, Listener: of.info.Caller.Listener, Accepts: []string{authn.Token, authn.JWT},
	}
	of.peer = &peer.Peer{Addr: c.RemoteAddr(), LocalAddr: c.LocalAddr(), AuthInfo: of.info}
	s.mu.Lock()
	s.open[c] = of
	s.mu.Unlock()
	return context.WithValue(ctx, connectionKey{}, of)
}

// connState closes the gRPC connection of a connection that has ended.
func (s *Server) connState(c net.Conn, state http.ConnState) {
	if state != http.StateClosed {
		return
	}
	s.mu.Lock()
	of := s.open[c]
	delete(s.open, c)
	s.mu.Unlock()
	if of != nil {
		of.close()
	}
}

// admit admits a request as an RPC before its body is read. The error is a gRPC status.
func (c *connection) admit(r *http.Request, by *gate.Gate, method string) (context.Context, error) {
	if guest := c.info.Guest(); guest != nil && !guest.Start() {
		return nil, status.Error(codes.ResourceExhausted, "there are too many requests; try again later")
	}
	return by.AdmitUnread(c.incoming(r.Context(), r.Header), method)
}

// incoming returns the context of a request as the gate has that of an RPC: with the peer, and the
// Authorization headers as metadata.
func (c *connection) incoming(ctx context.Context, h http.Header) context.Context {
	ctx = peer.NewContext(ctx, c.peer)
	if values := h.Values("Authorization"); len(values) > 0 {
		ctx = metadata.NewIncomingContext(ctx, metadata.MD{"authorization": values})
	}
	return ctx
}

// client returns the gRPC connection.
func (c *connection) client() (*grpc.ClientConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, status.Error(codes.Canceled, "the connection of the request has ended")
	}
	if c.rpcs != nil {
		return c.rpcs, nil
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return c.memory.dial(ctx, c.info) }
	var err error
	c.rpcs, err = grpc.NewClient("passthrough:///this-process",
		grpc.WithContextDialer(dial), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
	)
	return c.rpcs, err
}

func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.rpcs != nil {
		_ = c.rpcs.Close()
	}
}

// memory is a listener for connections in memory, which no other process can reach.
type memory struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// dial connects to the server. At the other end, the connection is one of the client that info
// describes.
func (m *memory) dial(ctx context.Context, info peercred.Info) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.dialed <- &peercred.Forwarded{Conn: there, Info: info}:
		return here, nil
	case <-m.closed:
		return nil, errors.New("the server stops")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.dialed:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }
