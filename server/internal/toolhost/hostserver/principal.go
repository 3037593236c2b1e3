package hostserver

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/intake"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/tool"
)

// remote is what the server knows about the other end of a connection, and after gate.Admit about
// its caller.
type remote struct {
	peercred.Info // Principal is the key of who; before gate.Admit, of the user at the other end
	who           identity.Principal
	refused       error        // why all RPCs are refused; nil: they are not
	reported      *sync.Once   // reports the first refused RPC of the connection; nil if refused is nil
	intake        *intake.Conn // nil: the memory of the connection is not limited
}

// identify returns the hook that creates the remote of each new connection. It opens the memory
// account of the connection, which the connection closes. refuse and memory may be nil: no process
// is refused, and the memory of connections is not limited.
func identify(refuse func(pid int) error, memory *budget.Budget, logger *slog.Logger) peercred.Hook {
	return func(conn net.Conn, info peercred.Info) (net.Conn, credentials.AuthInfo, error) {
		id := remote{Info: info}
		id.Principal = cmp.Or(id.Principal, authn.Anonymous)
		if pid, ok := address.PeerPID(conn); ok && refuse != nil {
			if id.refused = refuse(pid); id.refused != nil {
				id.reported = &sync.Once{}
			}
		}
		if memory == nil {
			return conn, id, nil
		}
		var err error
		if id.intake, err = intake.Open(conn, info, memory, logger); err != nil {
			return nil, nil, err
		}
		return id.intake, id, nil
	}
}

// refused returns why the connection of an RPC must not be used, or nil. It reports the first RPC
// of a connection that must not be used.
func (g guard) refused(ctx context.Context, method string) error {
	id, ok := peercred.FromContext[remote](ctx)
	if !ok || id.refused == nil {
		return nil
	}
	id.reported.Do(func() {
		g.gate.Report(ctx, gate.Refusal{Method: method, Target: id.Principal, Reason: id.refused.Error()})
	})
	return tool.Errorf(tool.KindDenied, "%w", id.refused)
}

// intakeOf returns the connection of an RPC, or nil.
func intakeOf(ctx context.Context) *intake.Conn {
	id, _ := peercred.FromContext[remote](ctx)
	return id.intake
}

// withAccount returns a context with the memory account of the connection, for the host.
func withAccount(ctx context.Context) context.Context {
	c := intakeOf(ctx)
	if c == nil {
		return ctx
	}
	return budget.NewContext(ctx, c.Account())
}

// callerOf returns what the server knows about the caller of an RPC.
func callerOf(ctx context.Context) remote {
	id, _ := peercred.FromContext[remote](ctx)
	id.Principal = cmp.Or(id.Principal, authn.Anonymous)
	if p, ok := identity.FromContext(ctx); ok {
		id.Principal, id.who = p.Key(), p
	}
	return id
}
