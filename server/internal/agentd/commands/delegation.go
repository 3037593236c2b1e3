package commands

import (
	"context"
	"os"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
)

// ownPrincipal returns the key of the principal of this process at a unix socket.
func ownPrincipal() string { return authn.UserName(os.Getuid()) }

// actFor returns the context for requests to toolhost on behalf of the principal of a run. agentd
// makes requests for its own user in its own name, which needs no right to delegate.
func actFor(ctx context.Context, principal string, groups []string) context.Context {
	if principal == "" || principal == ownPrincipal() {
		return ctx
	}
	tenant, name := identity.SplitKey(principal)
	return client.OnBehalfOf(ctx, client.Principal{Tenant: tenant, Name: name, Groups: groups})
}
