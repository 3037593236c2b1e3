package process

import (
	"context"

	"github.com/toolhost/toolhost/internal/sandbox"
)

// gate is where a process waits behind its walls.
type gate struct {
	open    chan struct{} // closed when its own program is to run
	current chan bool     // of capacity 1: whether its walls are those that it would get now
}

// wait is a waiter. Whether the walls still are the right ones is found out while the plugin starts, which takes longer.
func (g *gate) wait(ctx context.Context, walls *sandbox.Plan) error {
	select {
	case <-g.open:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	go func() { // ends at once
		select {
		case g.current <- walls.Current():
		default: // it had to try again without a wall, and nothing had changed since
		}
	}()
	return nil
}
