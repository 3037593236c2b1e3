// Package peercred finds out what a gRPC server can know about the other end of a connection: the
// user of a unix socket, or the certificate of a client with TLS. Its credentials encrypt the
// connections of listeners with TLS; unix sockets and plain listeners do not leave the machine. The
// package does not decide what a caller may do.
package peercred

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/listen"
)

// Info is what a server knows about a connection. A server that knows more embeds Info in its own
// type and creates it in a Hook.
type Info struct {
	credentials.CommonAuthInfo
	// Principal is the user at the other end, such as uid:1000. Empty: the kernel does not say, as
	// for TCP.
	Principal string
	// OverTCP says that the connection is a TCP connection, which any user of this machine can
	// make.
	OverTCP bool
	// Conn is the connection of a listener of package listen. nil: a unix socket, or another
	// listener.
	Conn *listen.Conn
	// Caller is the same for package gate.
	Caller authn.Evidence
}

// Guest returns the connection if limits apply to it, or nil.
func (i Info) Guest() *listen.Conn {
	if i.Conn == nil || !i.Conn.Limited() {
		return nil
	}
	return i.Conn
}

// GuestOf returns the connection of an RPC if limits apply to it, or nil.
func GuestOf(ctx context.Context) *listen.Conn {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, ok := p.AuthInfo.(interface{ Guest() *listen.Conn })
	if !ok {
		return nil
	}
	return info.Guest()
}

// Evidence returns what the connection says about the caller.
func (i Info) Evidence() authn.Evidence { return i.Caller }

// AuthType implements credentials.AuthInfo.
func (Info) AuthType() string { return "peer" }

// Hook completes the handshake of a new connection. It returns the connection that the server uses,
// and the information that FromContext finds. It must not read from the connection or write to it.
// If it returns an error, gRPC closes the connection without an answer.
type Hook func(conn net.Conn, info Info) (net.Conn, credentials.AuthInfo, error)

// New returns the credentials of a server. A nil hook keeps the connection and the Info as they
// are.
func New(hook Hook) credentials.TransportCredentials { return serverCredentials{hook} }

// FromContext returns the information about the connection of an RPC. T is the type that the Hook
// returned, or Info without a Hook. ok is false if the connection has no such information.
func FromContext[T credentials.AuthInfo](ctx context.Context) (info T, ok bool) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return info, false
	}
	info, ok = p.AuthInfo.(T)
	return info, ok
}

type serverCredentials struct{ hook Hook }

// ServerHandshake implements credentials.TransportCredentials. It does the handshake of TLS on a
// listener with TLS, and reads and writes nothing on others.
func (c serverCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := know(conn)
	if err != nil {
		return nil, nil, err
	}
	if c.hook == nil {
		return conn, info, nil
	}
	return c.hook(conn, info)
}

// Forwarded is a connection in memory for the RPCs of a client of another server of this process.
// No client can make one. Info is what that server knows about its client.
type Forwarded struct {
	net.Conn
	Info Info
}

// know returns the connection that the server uses, and what is known about its other end.
func know(conn net.Conn) (net.Conn, Info, error) {
	if forwarded, ok := conn.(*Forwarded); ok {
		return forwarded.Conn, forwarded.Info, nil
	}
	guarded, ok := conn.(*listen.Conn)
	if !ok {
		return conn, Of(conn, nil), nil
	}
	secure, state, err := guarded.Secure()
	if err != nil {
		return nil, Info{}, err
	}
	return secure, Of(conn, state), nil
}

// Of returns what is known about the other end of an accepted connection, for servers that are no
// gRPC servers. state is the state of TLS on the connection. nil: it has no TLS.
func Of(conn net.Conn, state *tls.ConnectionState) Info {
	info := Info{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}}
	_, info.OverTCP = conn.LocalAddr().(*net.TCPAddr) // conn may be a wrapper, but its LocalAddr is that of the listener
	info.Caller.Plain, info.Caller.Listener = info.OverTCP, conn.LocalAddr().String()
	if remote, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		info.Caller.Address = remote.IP.String()
	}
	if uid, ok := address.PeerUID(conn); ok {
		info.Principal = authn.UserName(uid)
		info.Caller.UID, info.Caller.HasUID = uid, true
	}
	if info.Conn, _ = conn.(*listen.Conn); info.Conn != nil {
		l := info.Conn.Listener()
		info.Caller.Listener, info.Caller.Accepts = l.Address().String(), l.Accepts()
	}
	if state != nil {
		info.Caller.Plain, info.SecurityLevel = false, credentials.PrivacyAndIntegrity
		if len(state.VerifiedChains) > 0 {
			info.Caller.Certificate = state.PeerCertificates[0]
		}
	}
	return info
}

// ClientHandshake implements credentials.TransportCredentials and always fails.
func (serverCredentials) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("these credentials are for servers")
}

// Info implements credentials.TransportCredentials.
func (serverCredentials) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: Info{}.AuthType()}
}

// Clone implements credentials.TransportCredentials.
func (c serverCredentials) Clone() credentials.TransportCredentials { return c }

// OverrideServerName implements credentials.TransportCredentials and does nothing.
func (serverCredentials) OverrideServerName(string) error { return nil }
