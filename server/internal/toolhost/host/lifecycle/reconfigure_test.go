package lifecycle_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// No call fails because of a changed configuration, and no call gets an outdated instance once a
// new one was ready or has failed.
func TestReconfigure(t *testing.T) {
	tellAll(t, []chapter{
		{"a new instance takes over", lifecycle.Config{}, serving + `
			reconfigure   -> launch p-2 of A, !restart_started
			call 2        -> assign 2 to p-1
			p-2 is ready  -> !restart_finished, !instance_draining
			call 3        -> assign 3 to p-2
			1 is released ->
			2 is released -> stop p-1
		`},
		{"a plugin without instances is not started", lifecycle.Config{}, `
			reconfigure   -> silence
			call 1        -> launch p-1 of A
		`},
		{"the outdated instances leave if the new one does not start", lifecycle.Config{}, serving + `
			reconfigure   -> launch p-2 of A
			p-2 fails     -> !restart_failed, !instance_draining
			call 2        -> launch p-3 of A
			p-3 is ready  -> assign 2 to p-3
			1 is released -> stop p-1
		`},
		{"an outdated instance that starts is replaced, and its calls wait for the new one", lifecycle.Config{}, `
			call 1        -> launch p-1 of A
			reconfigure   -> launch p-2 of A
			p-2 is ready  -> stop p-1, assign 1 to p-2
			p-1 exits     ->
		`},
		{"an upgrade that runs goes first", lifecycle.Config{}, serving + `
			replace by B  -> launch p-2 of B
			reconfigure   -> silence
			p-2 is ready  -> flip from A to B, launch p-3 of B, !upgrade_finished, !restart_started
			p-3 is ready  -> stop p-2, !restart_finished
			1 is released -> stop p-1
		`},
		{"an upgrade that fails goes first too", lifecycle.Config{}, serving + `
			replace by B  -> launch p-2 of B
			reconfigure   -> silence
			p-2 fails     -> launch p-3 of A
			p-3 is ready  -> !restart_finished
			1 is released -> stop p-1
		`},
		{"a second change replaces the new instance", lifecycle.Config{}, serving + `
			reconfigure   -> launch p-2 of A
			reconfigure   -> silence
			p-2 is ready  -> launch p-3 of A
			p-3 is ready  -> stop p-2
			1 is released -> stop p-1
		`},
		{"a paused plugin gets no new instance", lifecycle.Config{}, serving + `
			pause         ->
			reconfigure   -> !instance_draining
			1 is released -> stop p-1
			p-1 exits     ->
			resume        ->
			call 2        -> launch p-2 of A
		`},
		{"a retired plugin ends no call, and starts again for one that began before", lifecycle.Config{}, serving + `
			retire        -> !instance_draining
			call 2        -> launch p-2 of A
			after 50m     ->
			1 is released -> stop p-1
		`},
	})
}

// Changed limits apply to the instances that run.
func TestReconfigureLimits(t *testing.T) {
	const two = `
		call 1        -> launch p-1 of A
		p-1 is ready  -> assign 1 to p-1
		call 2        -> launch p-2 of A
		p-2 is ready  -> assign 2 to p-2
	`
	one := lifecycle.Config{MaxCallsPerInstance: 1, MaxInstances: 2}
	w := tell(t, one, two)
	w.reconfigure(lifecycle.Config{MaxCallsPerInstance: 1, MaxInstances: 1}, false)
	w.release(w.calls[2])
	if standing := w.standing(); len(standing) != 1 || standing[0].id != "p-1" {
		t.Errorf("%d instances stand, with at most one", len(standing))
	}
	w = tell(t, one, two)
	w.reconfigure(lifecycle.Config{MaxInstances: 2, RecycleAfterCalls: 1}, false)
	w.release(w.calls[1])
	w.release(w.calls[2])
	c := w.acquire("")
	w.settles()
	if c.state != released {
		t.Errorf("a call is %s after all instances have had their number of calls", c.state)
	}
	w.report(t, "")
}

// An instance that served other calls while the isolation was another gets no calls of its session
// any more, also if the isolation is restored before a new instance is ready.
func TestASessionDoesNotReturnToASharedInstance(t *testing.T) {
	private, shared := lifecycle.Config{Isolation: lifecycle.PerSession, MaxInstances: 3}, lifecycle.Config{}
	w := newWorld(private, 1)
	w.release(w.begin("a"))
	w.reconfigure(shared, true)
	other := w.acquire("b")
	w.reconfigure(private, true)
	again := w.acquire("a")
	if other.proc == nil || again.proc != nil {
		t.Errorf("the call of another session has %v, and then one of the session has %v", other.proc, again.proc)
	}
	w.release(other)
	w.obey()
	w.sleep(time.Second)
	w.obey()
	if again.proc == nil || again.proc == other.proc || w.fault != nil {
		t.Errorf("the call of the session gets %v in the end; %v", again.proc, w.fault)
	}
}

// begin makes a call of a session that has an instance of its own.
func (w *world) begin(session string) *call {
	c := w.acquire(session)
	w.obey()
	return c
}
