package process

import (
	"context"
	"sync"

	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
)

// resources bounds what a process uses while it runs. The kernel or a goroutine enforces the
// limits.
type resources struct {
	holder *limits.Holder

	oomKills uint64         // oomKills before the process began
	watchers sync.WaitGroup // the goroutines that begin starts
}

// begin bounds a process that has started, and calls kill if it exceeds a limit that the kernel
// does not enforce. The error says why the process is not bounded as it should be.
func (r *resources) begin(c *child, kill func(reason string)) error {
	preferAsVictim(c.id.PID)
	err := r.holder.Started(c.id.PID)
	r.watchLimits(c, kill)
	return err
}

// watchLimits watches the limits that the kernel does not enforce. It ends before the process is
// released.
func (r *resources) watchLimits(c *child, kill func(reason string)) {
	ctx, cancel := context.WithCancel(context.Background())
	roots := []int{c.id.PID}
	if c.namespace != nil {
		roots = append(roots, c.namespace.PID())
	}
	r.watchers.Go(func() { r.holder.Watch(ctx, roots, kill) })
	r.watchers.Go(func() { // ends with the process
		<-c.exited
		cancel()
	})
}

// outOfMemory returns why memory ran out, and whether the kernel therefore killed a process. The
// process has ended. outOfMemory waits for the goroutines that begin started.
func (r *resources) outOfMemory() (reason string, killed bool) {
	r.watchers.Wait()
	reason, killed = r.holder.OutOfMemory()
	if !killed && len(r.holder.Groups()) == 0 && oomKills() > r.oomKills {
		return "the machine, or the control group that toolhost is in, ran out of memory while it ran", true
	}
	return reason, killed
}
