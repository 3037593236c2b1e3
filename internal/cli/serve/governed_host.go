package serve

import (
	"context"

	"github.com/toolhost/toolhost/internal/gomaxprocs"
	"github.com/toolhost/toolhost/internal/rpc/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// governedHost is a host that tells the governor of GOMAXPROCS when a call begins.
type governedHost struct {
	hostserver.Host
	governor *gomaxprocs.Governor
}

// Open implements hostserver.Tools.
func (h governedHost) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	h.governor.Work()
	return h.Host.Open(ctx, call, complete)
}

// Do implements hostserver.Tools.
func (h governedHost) Do(ctx context.Context, call tool.Call, opened func(tool.Execution), done func(tool.Event)) {
	h.governor.Work()
	h.Host.Do(ctx, call, opened, done)
}
