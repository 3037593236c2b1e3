package process

import (
	"context"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/limits"
)

// resources bounds what a process uses while it runs: the limits, which the kernel or a goroutine
// enforces, and the larger share of the processors that the process has only while it starts.
type resources struct {
	holder *limits.Holder
	boost  boost

	oomKills uint64         // oomKills before the process began
	watchers sync.WaitGroup // the goroutines that begin starts
}

// begin bounds a process that has started, and calls kill if it exceeds a limit that the kernel
// does not enforce. launched is closed when the launch of the process has ended. The error says why
// the process is not bounded as it should be.
func (r *resources) begin(c *child, launched <-chan struct{}, kill func(reason string)) error {
	preferAsVictim(c.id.PID)
	err := r.holder.Started(c.id.PID)
	r.watchLimits(c, kill)
	r.boost.begin(c.id.PID)
	r.watchers.Go(func() { r.endBoostLater(c, launched) }) // ends with the launch
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

// endBoostLater ends the boost of a launch after boostFor.
func (r *resources) endBoostLater(c *child, launched <-chan struct{}) {
	timer := time.NewTimer(boostFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-launched:
	case <-c.exited:
	}
	r.boost.end()
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
