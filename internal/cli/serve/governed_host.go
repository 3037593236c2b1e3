package serve

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/internal/gomaxprocs"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/pace"
	"github.com/toolhost/toolhost/internal/rpc/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// governedHost is a host that tells the governor of GOMAXPROCS when a call begins, and of which
// tenant the call is.
type governedHost struct {
	hostserver.Host
	governor *gomaxprocs.Governor
	tenants  *pace.Tenants
}

func (h governedHost) begin(call *tool.Call) {
	h.governor.Work()
	h.tenants.Called(identity.TenantOf(call.Principal))
}

// Open implements hostserver.Tools.
func (h governedHost) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	h.begin(&call)
	return h.Host.Open(ctx, call, complete)
}

// Do implements hostserver.Tools.
func (h governedHost) Do(ctx context.Context, call tool.Call, received time.Time, opened func(tool.Execution), done func(tool.Event)) {
	h.begin(&call)
	h.Host.Do(ctx, call, received, opened, done)
}
