package supervisor

import (
	"context"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// ReportLaunch sets the state that operators see of an instance while it starts. ctx must come from
// the context of the LaunchFunc; with any other context ReportLaunch does nothing. It does not
// block.
func ReportLaunch(ctx context.Context, state tool.InstanceState) {
	if in, ok := ctx.Value(launchKey{}).(*Instance); ok {
		in.setDetail(state)
	}
}

// LaunchOwner returns whose calls the instance will serve that a LaunchFunc starts. ctx must come
// from the context of the LaunchFunc; with any other context, LaunchOwner returns the default
// tenant.
func LaunchOwner(ctx context.Context) Owner {
	if in, ok := ctx.Value(launchKey{}).(*Instance); ok {
		return in.owner
	}
	return Owner{Tenant: identity.DefaultTenant}
}
