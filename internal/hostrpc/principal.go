package hostrpc

import (
	"context"
	"errors"
	"net"
	"strconv"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/tool"
)

// anonymous is who calls over loopback TCP: any user of this machine.
const anonymous = "anonymous"

// peerCredentials learns from each new connection which user is at its other end. It encrypts nothing: a unix socket
// and loopback do not leave the machine.
type peerCredentials struct {
	refuse func(pid int) error // may be nil
}

// identity is what peerCredentials knows of a connection.
type identity struct {
	credentials.CommonAuthInfo
	principal string
	refused   error // why nothing is answered; nil if it is
}

// AuthType implements credentials.AuthInfo.
func (identity) AuthType() string { return "peer" }

// ServerHandshake implements credentials.TransportCredentials; it reads and writes nothing.
func (c peerCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	id := identity{
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity},
		principal:      anonymous,
	}
	if uid, ok := address.PeerUID(conn); ok {
		id.principal = "uid:" + strconv.Itoa(uid)
	}
	if pid, ok := address.PeerPID(conn); ok && c.refuse != nil {
		id.refused = c.refuse(pid)
	}
	return conn, id, nil
}

// ClientHandshake implements credentials.TransportCredentials and always fails.
func (peerCredentials) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("these credentials are for servers")
}

// Info implements credentials.TransportCredentials.
func (peerCredentials) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "peer"}
}

// Clone implements credentials.TransportCredentials.
func (c peerCredentials) Clone() credentials.TransportCredentials { return c }

// OverrideServerName implements credentials.TransportCredentials and does nothing.
func (peerCredentials) OverrideServerName(string) error { return nil }

// refused returns why an RPC must not be made by whoever makes it; nil if it may.
func refused(ctx context.Context) error {
	if p, ok := peer.FromContext(ctx); ok {
		if id, ok := p.AuthInfo.(identity); ok && id.refused != nil {
			return tool.Errorf(tool.KindDenied, "%w", id.refused)
		}
	}
	return nil
}

// principalOf returns who makes an RPC.
func principalOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		if id, ok := p.AuthInfo.(identity); ok {
			return id.principal
		}
	}
	return anonymous
}
