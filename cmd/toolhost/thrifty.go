package main

import (
	"context"

	"github.com/toolhost/toolhost/internal/processors"
	"github.com/toolhost/toolhost/internal/rpc/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// thrifty is a host whose calls are known to what gives the process its processors.
type thrifty struct {
	hostserver.Host
	processors *processors.Governor
}

// Open implements hostserver.Tools.
func (h thrifty) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	h.processors.Work()
	return h.Host.Open(ctx, call, complete)
}

// Do implements hostserver.Tools.
func (h thrifty) Do(ctx context.Context, call tool.Call, opened func(tool.Execution), done func(tool.Event)) {
	h.processors.Work()
	h.Host.Do(ctx, call, opened, done)
}
