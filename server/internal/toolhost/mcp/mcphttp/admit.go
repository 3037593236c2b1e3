package mcphttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
)

// Method is the name of a request of an MCP client for the gate, its log and the audit log.
const Method = "/mcp"

// Rights returns the right that a request needs. Calls and large results need further rights, which
// the host and the tools of a member check.
func Rights() rpcright.Table { return rpcright.Table{Method: {authz.ToolsList}} }

// connection is what is known about a connection.
type connection struct {
	peer    *peer.Peer
	info    peercred.Info
	refused error // why no request of the connection is served; nil: they are
}

type connectionKey struct{}

// connContext returns the context of the requests of a connection.
func (f *Front) connContext(ctx context.Context, c net.Conn) context.Context {
	conn := &connection{}
	var state *tls.ConnectionState
	inner := c
	if secure, ok := c.(*tls.Conn); ok {
		done := secure.ConnectionState() // the handshake is complete; see handshakes
		state, inner = &done, secure.NetConn()
	}
	conn.info = peercred.Of(inner, state)
	conn.peer = &peer.Peer{Addr: c.RemoteAddr(), LocalAddr: c.LocalAddr(), AuthInfo: conn.info}
	if pid, ok := address.PeerPID(inner); ok && f.config.Refuse != nil {
		conn.refused = f.config.Refuse(pid)
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// admit returns the context of a request with its principal. The error is a gRPC status.
//
// To the gate, a request is an RPC: its connection is the peer of the RPC, and its Authorization
// headers are the metadata. So an HTTP client is identified, limited and reported by the code that
// identifies, limits and reports a gRPC client.
func (f *Front) admit(r *http.Request) (context.Context, error) {
	conn, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return nil, status.Error(codes.Unauthenticated, "the caller is not authenticated")
	}
	if conn.refused != nil {
		return nil, status.Error(codes.PermissionDenied, conn.refused.Error())
	}
	if guest := conn.info.Guest(); guest != nil && !guest.Start() {
		return nil, status.Error(codes.ResourceExhausted, "there are too many requests; try again later")
	}
	ctx := peer.NewContext(r.Context(), conn.peer)
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		ctx = metadata.NewIncomingContext(ctx, metadata.MD{"authorization": values})
	}
	return f.config.Gate.Admit(ctx, Method, nil)
}

// mark puts where the caller is into the header that the MCP server reads, instead of what the
// client sent in it, and removes the credential.
func mark(r *http.Request, ctx context.Context) {
	p, _ := identity.FromContext(ctx)
	r.Header.Set(mcpserver.FromHeader, p.From)
	r.Header.Del("Authorization")
}

// lasting is the answer to a request whose credential can become invalid. After that, it sends
// nothing more. The MCP SDK writes from goroutines of sessions, so Write must not panic.
type lasting struct {
	http.ResponseWriter
	ctx   context.Context
	valid func(context.Context) bool
}

var errInvalid = errors.New("the credential of the request is not valid any more")

// Write implements http.ResponseWriter.
func (w *lasting) Write(data []byte) (int, error) {
	if !w.valid(w.ctx) {
		return 0, errInvalid
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap returns the writer for http.ResponseController.
func (w *lasting) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *lasting) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// bodyOf returns a body that was read.
func bodyOf(body []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(body)) }
