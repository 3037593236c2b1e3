package process

import (
	"context"

	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

// gate is where a prestarted process waits, sandboxed.
type gate struct {
	open    chan struct{} // closed when the plugin's program is to run
	current chan bool     // of capacity 1: whether the sandbox is the one that the process would get now
}

// wait returns nil when the gate is open, and ctx's cause if ctx ends before.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// check finds out whether the sandbox is still the right one. That takes less time than the
// plugin's start, which goes on meanwhile. It is called once, and does not block.
func (g *gate) check(layers *sandbox.Plan) {
	go func() { g.current <- layers.Current() }() // ends soon: the channel has room
}
