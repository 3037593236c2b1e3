package client

import (
	"context"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
)

// Principal is the principal that a delegate acts for.
type Principal struct {
	// Tenant is the tenant of the principal. Empty: the default tenant.
	Tenant string
	// Name is the name in the tenant. A principal without a name stands for the client itself.
	Name string
	// Groups are the groups of the principal in its tenant.
	Groups []string
}

type principalKey struct{}

// OnBehalfOf returns a context for requests to toolhost that a delegate makes for another
// principal: tools are listed for it, and calls and artifacts belong to it. toolhost refuses the
// requests with KindDenied unless the client has the right to delegate in the tenant of the
// principal. Requests to AdminService and agentd ignore the principal. The caller must not change
// p.Groups afterwards.
func OnBehalfOf(ctx context.Context, p Principal) context.Context {
	if p.Name == "" {
		return ctx
	}
	return context.WithValue(ctx, principalKey{}, &toolv1.Principal{Tenant: p.Tenant, Name: p.Name, Groups: p.Groups})
}

// onBehalfOf returns the principal that a request is for; nil: the client itself. Requests share
// the message, and do not change it.
func onBehalfOf(ctx context.Context) *toolv1.Principal {
	p, _ := ctx.Value(principalKey{}).(*toolv1.Principal)
	return p
}
