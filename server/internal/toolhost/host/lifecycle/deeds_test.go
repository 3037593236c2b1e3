package lifecycle_test

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// The methods below are the events of a plugin, in the form in which a driver reports them.

func (w *world) acquire(session string) *call {
	w.lastCall++
	c := &call{ref: w.lastCall, session: session, state: waiting}
	w.calls[c.ref] = c
	w.does(fmt.Sprintf("call %d comes, of session %q", c.ref, session), w.machine.Acquire(w.now, c.ref, session))
	return c
}

func (w *world) leave(c *call) {
	if c.state == waiting {
		c.state = left
	}
	w.does(fmt.Sprintf("call %d leaves", c.ref), w.machine.Leave(w.now, c.ref))
}

func (w *world) release(c *call) {
	if c.state == assigned {
		c.state = released
		c.proc.calls--
		if c.stuck {
			c.proc.stuck--
		}
	}
	w.does(fmt.Sprintf("call %d is released", c.ref), w.machine.Release(w.now, c.ref))
}

func (w *world) ready(p *proc) {
	p.ready = !p.ending
	w.does(p.id+" is ready", w.machine.Ready(w.now, p.id))
}

func (w *world) launchFails(p *proc) {
	p.exited = true
	w.does(p.id+" does not start", w.machine.LaunchFailed(w.now, p.id, tool.Errorf(tool.KindUnavailable, "it is broken")))
}

// refused reports that no process is started because of a bound.
func (w *world) refused(p *proc) {
	p.exited = true
	full := tool.Errorf(tool.KindRateLimited, "a quota is full")
	full.RetryAfter = time.Minute
	w.does(p.id+" is refused", w.machine.LaunchRefused(w.now, p.id, full))
}

func (w *world) evict(p *proc) {
	w.does(p.id+" is evicted", w.machine.Evict(w.now, p.id, "another plugin needs its place"))
}

func (w *world) yield() { w.does("yield", w.machine.Yield(w.now, "another tenant needs its place")) }

func (w *world) exits(p *proc) {
	p.exited = true
	w.does(p.id+" exits", w.machine.Exited(w.now, p.id, "exit code 2"))
}

func (w *world) crashes(p *proc) {
	p.exited = true
	w.does(p.id+" crashes", w.machine.Crashed(w.now, p.id, "killed by SIGSEGV"))
}

func (w *world) unyielding(p *proc) {
	p.retired = true
	w.does(p.id+" has a call that does not yield", w.machine.Unyielding(w.now, p.id, "a call did not yield"))
}

func (w *world) stuck(c *call) {
	if c.state == assigned && !c.stuck {
		c.stuck = true
		c.proc.stuck++
	}
	w.does(fmt.Sprintf("call %d does not stop", c.ref), w.machine.Stuck(w.now, c.ref, "a call does not stop"))
}

func (w *world) pause() {
	w.paused = true
	w.does("pause", w.machine.Pause(w.now))
}

func (w *world) resume() {
	w.paused = false
	w.does("resume", w.machine.Resume(w.now))
}

func (w *world) clear() { w.does("clear", w.machine.Clear(w.now)) }

func (w *world) drain() { w.does("drain", w.machine.Drain(w.now, "an operator drains it")) }

func (w *world) disable(reason string) {
	w.disabled = w.closed || reason != ""
	w.does(fmt.Sprintf("disable %q", reason), w.machine.Disable(w.now, reason))
}

func (w *world) restart(force bool) string {
	w.operator = true
	instance, actions := w.machine.Restart(w.now, force)
	w.does(fmt.Sprintf("restart, force %v: %s", force, instance), actions)
	w.operator = false
	return instance
}

func (w *world) replace(revision string) error {
	w.operator = true
	actions, err := w.machine.Replace(w.now, revision)
	w.does(fmt.Sprintf("replace by %s: %v", revision, err), actions)
	w.operator = false
	return err
}

func (w *world) rollback(revision string) error {
	w.operator = true
	actions, err := w.machine.Rollback(w.now, revision)
	w.does(fmt.Sprintf("go back to %s: %v", revision, err), actions)
	w.operator = false
	return err
}

func (w *world) adopt(revision string) {
	w.adopting = true
	w.does("adopt "+revision, w.machine.Adopt(w.now, revision))
	w.adopting = false
}

// reconfigure changes the configuration. processes says that processes now start in another way.
func (w *world) reconfigure(cfg lifecycle.Config, processes bool) {
	if cfg.Isolation != w.cfg.Isolation {
		for _, p := range w.procs {
			p.shared = true // its calls were not separated as they are now
		}
	}
	drain := w.cfg.DrainTimeout
	w.cfg = bounds(cfg)
	w.cfg.DrainTimeout = max(cfg.DrainTimeout, drain)                    // an instance that drains keeps its time
	w.cfg.MaxQueue = max(w.cfg.MaxQueue, w.machine.Report(w.now).Queued) // calls that wait may go on waiting
	w.does(fmt.Sprintf("reconfigure, processes %v: %+v", processes, cfg), w.machine.Reconfigure(w.now, cfg, processes))
}

func (w *world) retire() { w.does("retire", w.machine.Retire(w.now, "it is disabled")) }

func (w *world) close() {
	w.closed, w.disabled = true, true
	w.does("close", w.machine.Close(w.now))
}

// tick advances the time and calls Tick.
func (w *world) tick(d time.Duration) {
	w.now = w.now.Add(d)
	w.does("tick", w.machine.Tick(w.now))
	if wake := w.machine.Wake(); !wake.IsZero() && !wake.After(w.now) {
		w.failf("the machine was told the time, and wants to be woken %v ago", w.now.Sub(wake))
	}
}

// sleep advances the time like a driver: it calls Tick at each time that Wake returns.
func (w *world) sleep(d time.Duration) {
	end := w.now.Add(d)
	for wake := w.machine.Wake(); !wake.IsZero() && !wake.After(end); wake = w.machine.Wake() {
		w.tick(max(wake.Sub(w.now), 0))
		if w.fault != nil {
			return
		}
	}
	w.now = end
}

// obey ends the processes that the machine wants to end and starts those that it wants to start,
// until the machine wants nothing more.
func (w *world) obey() {
	for again := true; again && w.fault == nil; {
		again = false
		for _, p := range w.procs {
			switch {
			case p.exited:
			case p.stopped:
				w.releaseAll(p)
				w.exits(p)
				again = true
			case !p.ready:
				w.ready(p)
				again = true
			}
		}
	}
}

// releaseAll releases the calls of a process.
func (w *world) releaseAll(p *proc) {
	for _, c := range w.callsThat(assigned) {
		if c.proc == p {
			w.release(c)
		}
	}
}
