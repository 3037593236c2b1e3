package passing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
)

// Authenticator identifies the principals for which other servers pass requests on. Use it only for
// a listener that demands certificates of these servers' CA: it believes who has one.
type Authenticator struct {
	Program string         // the name of the servers, for messages
	Node    string         // the id of this server; a request for another one is refused
	Rights  rpcright.Table // of the RPCs that may be passed on
	Logger  *slog.Logger
}

// Authenticate implements gate.Authenticator.
func (a *Authenticator) Authenticate(ctx context.Context, e authn.Evidence) (authn.Verified, error) {
	if e.Certificate == nil {
		return authn.Verified{}, authn.ErrUnidentified
	}
	node := "serial " + e.Certificate.SerialNumber.Text(16)
	if names := authn.Names(e.Certificate); len(names) > 0 {
		node = names[0]
	}
	if err := a.checkTarget(ctx); err != nil {
		return authn.Verified{}, fmt.Errorf("the %s %s: %w", a.Program, node, err)
	}
	p, err := callerOf(ctx)
	method, _ := grpc.Method(ctx)
	if _, passed := a.Rights[method]; err == nil && !passed {
		err = fmt.Errorf("%ss do not pass this RPC on", a.Program)
	}
	if err != nil {
		return authn.Verified{}, fmt.Errorf("the %s %s: %w", a.Program, node, err)
	}
	if guest := peercred.GuestOf(ctx); guest != nil && !guest.Admit(a.Program+" "+node) {
		return authn.Verified{}, fmt.Errorf("the %s %s has too many connections", a.Program, node)
	}
	p.From += " through the " + a.Program + " " + node
	a.Logger.InfoContext(ctx, "another "+a.Program+" passes a request on", "method", method, "principal", p.Key(), "node", node, "peer", e.Address)
	return authn.Verified{Principal: p}, nil
}

// checkTarget returns an error if a request is for another server. An address says less than an id:
// another server may have got it, and one of loopback leads back to who uses it. Such a server
// would answer that there is no such call. A server of before names none.
func (a *Authenticator) checkTarget(ctx context.Context) error {
	for _, id := range metadata.ValueFromIncomingContext(ctx, targetKey) {
		if id != a.Node {
			return fmt.Errorf("%w, %.32q, and this is %s", authn.ErrMisdirected, id, a.Node)
		}
	}
	return nil
}

// callerOf returns the principal in the metadata of a request. A member that this version does not
// know may limit the principal, so it is an error.
func callerOf(ctx context.Context) (p identity.Principal, err error) {
	values := metadata.ValueFromIncomingContext(ctx, callerKey)
	if len(values) != 1 {
		return p, fmt.Errorf("the request has %d principals for which it is passed on", len(values))
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(values[0])))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, fmt.Errorf("the principal for which the request is passed on cannot be read: %w", err)
	}
	return p, p.Check()
}
