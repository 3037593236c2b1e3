package hostserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/tool"
)

// anonymous is the principal of every call over loopback TCP: any user of this machine can make it.
const anonymous = "anonymous"

// unverified returns what a caller says about itself over a connection that does not say which user is at its other end.
func unverified(words string) string {
	if words == "" {
		return "" // an approval without a name is refused
	}
	return words + " (unverified)"
}

// peerCredentials learns from each new connection which user is at its other end. It encrypts nothing: a unix socket
// and loopback do not leave the machine.
type peerCredentials struct {
	refuse func(pid int) error // may be nil
	budget *budget.Budget      // nil: connections may make toolhost hold any memory
	logger *slog.Logger
}

// identity is what peerCredentials knows of a connection.
type identity struct {
	credentials.CommonAuthInfo
	principal string
	tcp       bool    // any user of this machine can have made the connection
	refused   error   // why nothing is answered; nil if it is
	intake    *intake // nil: its memory is not bounded
}

// AuthType implements credentials.AuthInfo.
func (identity) AuthType() string { return "peer" }

// ServerHandshake implements credentials.TransportCredentials; it reads and writes nothing. It opens the connection's account,
// which the connection closes.
func (c peerCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	id := identity{
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity},
		principal:      anonymous,
	}
	_, id.tcp = conn.LocalAddr().(*net.TCPAddr) // not of the connection itself: a listener may wrap it
	if uid, ok := address.PeerUID(conn); ok {
		id.principal = "uid:" + strconv.Itoa(uid)
	}
	if pid, ok := address.PeerPID(conn); ok && c.refuse != nil {
		id.refused = c.refuse(pid)
	}
	if c.budget == nil {
		return conn, id, nil
	}
	account, err := c.budget.Open(id.principal)
	if err != nil { // as the connection is closed, its caller cannot be told
		c.logger.Warn("a connection was closed at once", "error", err)
		return nil, nil, err
	}
	id.intake = newIntake(conn, account, c.logger)
	return id.intake, id, nil
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

// refused returns why an RPC must not be made by whoever makes it; nil if it may. AdminService is for the users whom the socket
// lets in.
func refused(ctx context.Context, method string) error {
	if strings.HasPrefix(method, "/"+toolhostv1.AdminService_ServiceDesc.ServiceName+"/") && overTCP(ctx) {
		return tool.Errorf(tool.KindDenied, "AdminService is served on unix sockets alone, because toolhost does not know who calls over TCP; let toolhost listen at unix:///PATH")
	}
	if p, ok := peer.FromContext(ctx); ok {
		if id, ok := p.AuthInfo.(identity); ok && id.refused != nil {
			return tool.Errorf(tool.KindDenied, "%w", id.refused)
		}
	}
	return nil
}

// overTCP reports whether an RPC came over TCP.
func overTCP(ctx context.Context) bool {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return false
	}
	id, ok := p.AuthInfo.(identity)
	return ok && id.tcp
}

// intakeOf returns the connection that an RPC came by, or nil.
func intakeOf(ctx context.Context) *intake {
	if p, ok := peer.FromContext(ctx); ok {
		if id, ok := p.AuthInfo.(identity); ok {
			return id.intake
		}
	}
	return nil
}

// withAccount returns a context of an RPC from which the host gets the connection's account.
func withAccount(ctx context.Context) context.Context {
	c := intakeOf(ctx)
	if c == nil {
		return ctx
	}
	return budget.NewContext(ctx, c.account)
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
