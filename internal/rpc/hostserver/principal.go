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

// anonymous is the principal of every call over TCP, because any user of the machine can connect.
const anonymous = "anonymous"

// unverified marks a name that a caller claims over a connection whose user is unknown.
func unverified(words string) string {
	if words == "" {
		return "" // the host refuses an approval without a name
	}
	return words + " (unverified)"
}

// peerCredentials derives the principal of each new connection from the user at its other end. It
// does not encrypt, because unix sockets and loopback do not leave the machine.
type peerCredentials struct {
	refuse func(pid int) error // may be nil
	budget *budget.Budget      // nil: the memory of connections is not limited
	logger *slog.Logger
}

// identity is what peerCredentials knows about a connection.
type identity struct {
	credentials.CommonAuthInfo
	principal string
	tcp       bool    // any user of this machine may have connected
	refused   error   // why all RPCs are refused; nil: they are not
	intake    *intake // nil: the memory of the connection is not limited
}

// AuthType implements credentials.AuthInfo.
func (identity) AuthType() string { return "peer" }

// ServerHandshake implements credentials.TransportCredentials. It reads and writes nothing. It
// opens the memory account of the connection, which the connection closes.
func (c peerCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	id := identity{
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity},
		principal:      anonymous,
	}
	_, id.tcp = conn.LocalAddr().(*net.TCPAddr) // conn may be a wrapper, but its LocalAddr is that of the listener
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
	if err != nil { // the connection is closed, so the caller cannot receive the error
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

// refused returns why the caller must not make an RPC, or nil. AdminService is available on unix
// sockets only, where the permissions of the socket decide who can connect.
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

// overTCP reports whether an RPC arrived over TCP.
func overTCP(ctx context.Context) bool {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return false
	}
	id, ok := p.AuthInfo.(identity)
	return ok && id.tcp
}

// intakeOf returns the connection of an RPC, or nil.
func intakeOf(ctx context.Context) *intake {
	if p, ok := peer.FromContext(ctx); ok {
		if id, ok := p.AuthInfo.(identity); ok {
			return id.intake
		}
	}
	return nil
}

// withAccount returns a context with the memory account of the connection, for the host.
func withAccount(ctx context.Context) context.Context {
	c := intakeOf(ctx)
	if c == nil {
		return ctx
	}
	return budget.NewContext(ctx, c.account)
}

// principalOf returns the principal of an RPC.
func principalOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		if id, ok := p.AuthInfo.(identity); ok {
			return id.principal
		}
	}
	return anonymous
}
