package process

import (
	"context"

	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

// gate is where a process waits behind its layers.
type gate struct {
	open    chan struct{} // closed when its own program is to run
	current chan bool     // of capacity 1: whether its layers are those that it would get now
}

// wait returns when the gate is open. An error says that it is not to be, since ctx has ended.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// check finds out whether the layers still are the right ones, which takes less time than the plugin that has just begun to
// start behind them. It is called once, and returns at once.
func (g *gate) check(layers *sandbox.Plan) {
	go func() { g.current <- layers.Current() }() // ends soon; there is room for the answer
}
