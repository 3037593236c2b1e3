package serve

import (
	"context"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/fairness/pace"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// pacedHost is a host that records of which tenant each call is, so that large results of a tenant
// give way to the calls of others.
type pacedHost struct {
	hostserver.Host
	tenants *pace.Tenants
}

// Open implements hostserver.Tools.
func (h pacedHost) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	h.tenants.Called(identity.TenantOf(call.Principal))
	return h.Host.Open(ctx, call, complete)
}
