package lifecycle_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

const (
	shared     = lifecycle.Shared
	perSession = lifecycle.PerSession
	perCall    = lifecycle.PerCall
)

type chapter struct {
	name  string
	cfg   lifecycle.Config
	story string
}

func tellAll(t *testing.T, chapters []chapter) {
	t.Helper()
	for _, c := range chapters {
		t.Run(c.name, func(t *testing.T) { tell(t, c.cfg, c.story) })
	}
}

func TestSharedPool(t *testing.T) {
	tellAll(t, []chapter{
		{"one process for all that come first", lifecycle.Config{}, `
			call 1       -> launch p-1 of A
			call 2       ->
			call 3       ->
			2 leaves     ->
			p-1 is ready -> assign 1 to p-1, assign 3 to p-1
			call 4       -> assign 4 to p-1
		`},
		{"a launch goes on when its first caller leaves", lifecycle.Config{}, `
			call 1       -> launch p-1 of A
			1 leaves     ->
			p-1 is ready ->
			call 2       -> assign 2 to p-1
			2 leaves     ->
		`},
		{"the minimum comes with the first call and again after a crash", lifecycle.Config{MinInstances: 2, MaxInstances: 3}, `
			call 1       -> launch p-1 of A, launch p-2 of A
			p-1 is ready -> assign 1 to p-1
			p-2 is ready ->
			p-2 exits    -> launch p-3 of A
		`},
		{"least loaded first, the oldest of several", lifecycle.Config{MinInstances: 2, MaxInstances: 2}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			call 2        -> assign 2 to p-2
			call 3        -> assign 3 to p-1
			2 is released ->
			call 4        -> assign 4 to p-2
			4 is released ->
			call 5        -> assign 5 to p-2
		`},
		{"a pool without a bound on calls grows when one meets another", lifecycle.Config{MaxInstances: 2}, `
			call 1       -> launch p-1 of A
			p-1 is ready -> assign 1 to p-1
			call 2       -> assign 2 to p-1, launch p-2 of A
			p-2 is ready ->
			call 3       -> assign 3 to p-2
			call 4       -> assign 4 to p-2
			call 5       -> assign 5 to p-1
		`},
		{"it grows too when they come at once", lifecycle.Config{MaxInstances: 3}, `
			call 1       -> launch p-1 of A
			call 2       ->
			p-1 is ready -> assign 1 to p-1, assign 2 to p-1, launch p-2 of A
		`},
		{"the minimum lifts the maximum", lifecycle.Config{MinInstances: 2}, `
			call 1       -> launch p-1 of A, launch p-2 of A
		`},
		{"so many calls an instance, then another, then they wait", lifecycle.Config{MaxInstances: 2, MaxCallsPerInstance: 2}, `
			call 1        -> launch p-1 of A
			call 2        ->
			call 3        -> launch p-2 of A
			call 4        ->
			call 5        ->
			p-2 is ready  -> assign 1 to p-2, assign 2 to p-2
			p-1 is ready  -> assign 3 to p-1, assign 4 to p-1
			3 is released -> assign 5 to p-1
			3 is released ->
		`},
		{"the queue has a bound", lifecycle.Config{MaxQueue: 2}, `
			call 1       -> launch p-1 of A
			call 2       ->
			call 3       -> reject 3
			1 leaves     ->
			call 4       ->
			p-1 is ready -> assign 2 to p-1, assign 4 to p-1
		`},
	})
}

func TestIdle(t *testing.T) {
	tellAll(t, []chapter{
		{"the idle are reaped down to the minimum", lifecycle.Config{MinInstances: 1, MaxInstances: 3, IdleTimeout: time.Minute, MaxCallsPerInstance: 1}, `
			call 1        -> launch p-1 of A
			call 2        -> launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  -> assign 2 to p-2
			after 5m      ->
			1 is released ->
			2 is released ->
			after 59s     ->
			after 1s      -> stop p-1
			p-1 exits     ->
			after 1h      ->
			call 3        -> assign 3 to p-2
		`},
		{"the last one too, and the next call starts one", lifecycle.Config{IdleTimeout: time.Minute}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			1 is released ->
			after 1m      -> stop p-1
			call 2        -> launch p-2 of A
			p-1 exits     -> !instance_exited
			p-2 is ready  -> assign 2 to p-2
		`},
		{"never, if so wished", lifecycle.Config{IdleTimeout: -1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			1 is released ->
			after 240h    ->
		`},
		{"what is reaped does not come back for calls that others have", lifecycle.Config{MaxInstances: 2, IdleTimeout: time.Minute}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			call 2        -> assign 2 to p-1, launch p-2 of A
			p-2 is ready  ->
			after 1m      -> stop p-2
			p-2 exits     ->
			after 1h      ->
		`},
		{"a session", lifecycle.Config{Isolation: perSession, MinInstances: 3, IdleTimeout: time.Minute}, `
			call 1 of a   -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			1 is released ->
			after 1m      -> stop p-1
		`},
		{"the warm ones, when nobody called for so long", lifecycle.Config{Isolation: perCall, Prewarmed: 2, MinInstances: 2, IdleTimeout: time.Minute}, `
			call 1        -> launch p-1 of A, launch p-2 of A, launch p-3 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			p-3 is ready  ->
			1 is released -> stop p-1
			after 50s     ->
			call 2        -> assign 2 to p-2
			after 50s     -> launch p-4 of A
			p-4 is ready  ->
			after 10s     -> stop p-3
			after 50s     -> stop p-4
			2 is released -> stop p-2
			call 3        -> launch p-5 of A, launch p-6 of A, launch p-7 of A
		`},
	})
}

func TestSessions(t *testing.T) {
	tellAll(t, []chapter{
		{"a process each", lifecycle.Config{Isolation: perSession}, `
			call 1 of a  -> launch p-1 of A
			call 2 of b  -> launch p-2 of A
			call 3 of a  ->
			p-2 is ready -> assign 2 to p-2
			p-1 is ready -> assign 1 to p-1, assign 3 to p-1
			call 4 of b  -> assign 4 to p-2
		`},
		{"the longest idle makes room", lifecycle.Config{Isolation: perSession, MaxInstances: 2}, `
			call 1 of a   -> launch p-1 of A
			call 2 of b   -> launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  -> assign 2 to p-2
			call 3 of c   ->
			2 is released -> stop p-2, launch p-3 of A
			p-3 is ready  -> assign 3 to p-3
			3 is released ->
			after 1s      ->
			1 is released ->
			call 4 of d   -> stop p-3, launch p-4 of A
			call 5 of a   -> assign 5 to p-1
		`},
		{"a busy session keeps to its process", lifecycle.Config{Isolation: perSession, MaxCallsPerInstance: 1}, `
			call 1 of a   -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			call 2 of a   ->
			1 is released -> assign 2 to p-1
		`},
		{"who came first takes the place of an idle process that a later one wants", lifecycle.Config{Isolation: perSession, MaxInstances: 1, MaxCallsPerInstance: 1}, `
			call 1 of a   -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			call 2 of b   ->
			call 3 of a   ->
			1 is released -> stop p-1, launch p-2 of A
			p-2 is ready  -> assign 2 to p-2
			2 is released -> stop p-2, launch p-3 of A
			p-3 is ready  -> assign 3 to p-3
		`},
		{"a full queue of others does not keep a session from its process", lifecycle.Config{Isolation: perSession, MaxInstances: 1, MaxQueue: 1}, `
			call 1 of a  -> launch p-1 of A
			p-1 is ready -> assign 1 to p-1
			call 2 of b  ->
			call 3 of b  -> reject 3
			call 4 of a  -> assign 4 to p-1
		`},
		{"one that cannot start disappoints its own session alone", lifecycle.Config{Isolation: perSession}, `
			call 1 of a  -> launch p-1 of A
			call 2 of b  -> launch p-2 of A
			p-1 fails    -> reject 1
			p-2 is ready -> assign 2 to p-2
		`},
	})
}

func TestACallEach(t *testing.T) {
	tellAll(t, []chapter{
		{"each makes one call, and the pool is filled again", lifecycle.Config{Isolation: perCall}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			call 2        -> assign 2 to p-2, launch p-3 of A
			1 is released -> stop p-1
			p-1 exits     ->
			p-3 is ready  ->
			call 3        -> assign 3 to p-3, launch p-4 of A
		`},
		{"a call that is alone has the machine for itself", lifecycle.Config{Isolation: perCall}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			1 is released -> stop p-1
			p-1 exits     ->
			call 2        -> assign 2 to p-2
			2 is released -> stop p-2
			after 4ms     ->
			after 1ms     -> launch p-3 of A
			p-3 is ready  ->
			call 3        -> assign 3 to p-3
			after 24ms    ->
			after 1ms     -> launch p-4 of A
			p-4 is ready  ->
			call 4        -> assign 4 to p-4, launch p-5 of A
		`},
		{"a pool that was empty is filled at once", lifecycle.Config{Isolation: perCall}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			1 is released -> stop p-1
			call 2        -> assign 2 to p-2
			call 3        -> launch p-3 of A, launch p-4 of A
			p-3 is ready  -> assign 3 to p-3
			p-4 is ready  ->
			2 is released -> stop p-2
			3 is released -> stop p-3
			call 4        -> assign 4 to p-4, launch p-5 of A
			p-5 is ready  ->
			4 is released -> stop p-4
			after 1m      ->
			call 5        -> assign 5 to p-5
		`},
		{"at once, if so wished", lifecycle.Config{Isolation: perCall, RefillAfter: -1}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			1 is released -> stop p-1
			call 2        -> assign 2 to p-2, launch p-3 of A
		`},
		{"no more than the bound, however many come", lifecycle.Config{Isolation: perCall, MaxInstances: 2}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			call 2        ->
			call 3        ->
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  -> assign 2 to p-2
			1 is released -> stop p-1, launch p-3 of A
			p-3 is ready  -> assign 3 to p-3
		`},
		{"none is warmed, if so wished", lifecycle.Config{Isolation: perCall, Prewarmed: -1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			1 is released -> stop p-1
		`},
		{"a crash counts though the call ended before the exit was known", lifecycle.Config{Isolation: perCall, Prewarmed: -1, MaxCrashes: 1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			1 is released -> stop p-1
			p-1 crashes   -> !instance_crashed, !plugin_quarantined
		`},
	})
}

func TestRecycling(t *testing.T) {
	tellAll(t, []chapter{
		{"after so many calls", lifecycle.Config{RecycleAfterCalls: 2}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			call 2        -> assign 2 to p-1
			call 3        ->
			1 is released -> launch p-2 of A, !instance_draining
			p-2 is ready  -> assign 3 to p-2
			after 1h      ->
			2 is released -> stop p-1
		`},
		{"after so long, and its calls may end", lifecycle.Config{RecycleAfterAge: time.Minute, IdleTimeout: -1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			after 59s     ->
			call 2        -> assign 2 to p-1
			2 is released ->
			after 1h      -> !instance_draining
			call 3        -> launch p-2 of A
			1 is released -> stop p-1
			p-2 is ready  -> assign 3 to p-2
			3 is released ->
			after 1m      -> stop p-2
		`},
		{"an operator who drains is in more of a hurry", lifecycle.Config{RecycleAfterAge: time.Minute}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			after 1h      -> !instance_draining
			drain         ->
			after 29s     ->
			after 1s      -> cancel p-1, stop p-1
		`},
		{"so is a call that does not yield", lifecycle.Config{RecycleAfterAge: time.Minute}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			after 1h      -> !instance_draining
			p-1 hangs     -> !instance_unhealthy
			after 30s     -> cancel p-1, stop p-1
		`},
	})
}
