package agentserver

import (
	"context"
	"errors"
	"net"
	"strconv"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/toolhost/toolhost/internal/address"
)

// peerCredentials asks the kernel which user made each connection. It does not encrypt, because
// unix sockets and loopback do not leave the machine.
type peerCredentials struct{}

// peerInfo is what the kernel says about a connection.
type peerInfo struct {
	credentials.CommonAuthInfo
	principal string // such as uid:1000; empty if unknown, as for TCP
}

// AuthType implements credentials.AuthInfo.
func (peerInfo) AuthType() string { return "peer" }

// ServerHandshake implements credentials.TransportCredentials. It reads and writes nothing.
func (peerCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	info := peerInfo{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}}
	if uid, ok := address.PeerUID(conn); ok {
		info.principal = "uid:" + strconv.Itoa(uid)
	}
	return conn, info, nil
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

// peerOf returns the user that makes an RPC, or "" if the kernel does not say, and whether the RPC
// arrived over TCP. Any user of this machine can make a TCP connection.
func peerOf(ctx context.Context) (principal string, overTCP bool) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", false
	}
	if info, ok := p.AuthInfo.(peerInfo); ok {
		principal = info.principal
	}
	return principal, p.Addr.Network() == "tcp"
}
