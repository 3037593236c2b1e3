package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

func TestCrashes(t *testing.T) {
	tellAll(t, []chapter{
		{"the first restart is immediate, the next calls wait out a backoff", lifecycle.Config{InitialBackoff: time.Minute, MaxBackoff: time.Minute}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			p-1 exits     -> !instance_crashed
			1 is released ->
			is enabled
			call 2        -> launch p-2 of A
			p-2 is ready  -> assign 2 to p-2
			p-2 exits     -> !instance_crashed, !plugin_backing_off
			2 is released ->
			is backing_off
			call 3        ->
			call 4        ->
			4 leaves      ->
			after 1m      -> launch p-3 of A
			p-3 is ready  -> assign 3 to p-3
			is enabled
		`},
		{"what runs takes calls during a backoff", lifecycle.Config{MaxInstances: 3, MaxCallsPerInstance: 1, InitialBackoff: time.Minute, MaxBackoff: time.Minute}, `
			call 1        -> launch p-1 of A
			call 2        -> launch p-2 of A
			call 3        -> launch p-3 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  -> assign 2 to p-2
			p-3 is ready  -> assign 3 to p-3
			p-1 crashes   ->
			p-2 crashes   -> !plugin_backing_off
			is enabled
			call 4        ->
			3 is released -> assign 4 to p-3
			after 1m      ->
			call 5        -> launch p-4 of A
		`},
		{"an instance that was stable ends the row", lifecycle.Config{}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			p-1 exits     ->
			call 2        -> launch p-2 of A
			p-2 is ready  -> assign 2 to p-2
			after 10s     ->
			p-2 exits     ->
			is enabled
			call 3        -> launch p-3 of A
			p-3 fails     -> reject 3, !plugin_backing_off
		`},
		{"a launch that fails counts, and tells those who wait", lifecycle.Config{}, `
			call 1        -> launch p-1 of A
			call 2        ->
			p-1 fails     -> reject 1, reject 2, !launch_failed
			call 3        -> launch p-2 of A
			p-2 exits     -> reject 3, !launch_failed, !plugin_backing_off
			call 4        ->
			after 1s      -> launch p-3 of A
			p-3 fails     -> reject 4
		`},
		{"who may be served by another goes on waiting", lifecycle.Config{MaxInstances: 3, MaxCallsPerInstance: 1}, `
			call 1        -> launch p-1 of A
			call 2        -> launch p-2 of A
			p-1 fails     -> launch p-3 of A
			p-2 is ready  -> assign 1 to p-2
			p-3 fails     -> !plugin_backing_off
			1 is released -> assign 2 to p-2
		`},
		{"a process for one call is of no use to another", lifecycle.Config{Isolation: perCall, Prewarmed: -1}, `
			call 1        -> launch p-1 of A
			call 2        -> launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 fails     -> reject 2
		`},
		{"the minimum comes back after the backoff, without a call", lifecycle.Config{MinInstances: 1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			p-1 exits     -> launch p-2 of A
			1 is released ->
			p-2 is ready  ->
			p-2 exits     -> !plugin_backing_off
			after 1s      -> launch p-3 of A
		`},
	})
}

func TestQuarantine(t *testing.T) {
	three := lifecycle.Config{MaxCrashes: 3, ProbeAfter: time.Minute}
	const quarantined = `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			p-1 exits     ->
			call 2        -> launch p-2 of A
			p-2 fails     -> reject 2
			call 3        ->
			after 1s      -> launch p-3 of A
			p-3 fails     -> reject 3, !plugin_quarantined
			is quarantined
			call 4        -> reject 4
	`
	tellAll(t, []chapter{
		{"five crashes in ten minutes, by default", lifecycle.Config{MinInstances: 1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			p-1 exits     -> launch p-2 of A
			p-2 fails     ->
			after 2m      -> launch p-3 of A
			p-3 fails     ->
			after 2m      -> launch p-4 of A
			p-4 fails     ->
			after 2m      -> launch p-5 of A
			p-5 fails     -> !plugin_quarantined
			after 299s    ->
			after 1s      -> launch p-6 of A
		`},
		{"not if they are further apart", lifecycle.Config{MinInstances: 1, MaxCrashes: 3}, `
			call 1        -> launch p-1 of A
			p-1 fails     -> reject 1, launch p-2 of A
			after 5m      ->
			p-2 fails     ->
			after 5m1s    -> launch p-3 of A
			p-3 fails     -> !plugin_backing_off
		`},
		{"a probe that lives ends it", three, quarantined + `
			after 1m      -> launch p-4 of A, !plugin_probing
			p-4 is ready  ->
			call 5        -> reject 5
			after 9s      ->
			is quarantined
			after 1s      -> !plugin_enabled
			is enabled
			call 6        -> assign 6 to p-4
			p-4 exits     ->
			is enabled
		`},
		{"a probe that crashes does not, and the next comes later", three, quarantined + `
			after 1m      -> launch p-4 of A
			p-4 fails     -> !plugin_quarantined
			after 119s    ->
			after 1s      -> launch p-5 of A
			p-5 is ready  ->
			p-5 exits     -> !plugin_quarantined
			after 239s    ->
			after 1s      -> launch p-6 of A
			is quarantined
		`},
		{"there is no probe, if so wished", lifecycle.Config{MaxCrashes: 1, ProbeAfter: -1}, `
			call 1        -> launch p-1 of A
			p-1 fails     -> reject 1, !plugin_quarantined
			after 240h    ->
			clear         -> !plugin_enabled
			call 2        -> launch p-2 of A
		`},
		{"an operator clears it, and the crashes are forgotten", three, quarantined + `
			clear         -> !plugin_enabled
			is enabled
			call 5        -> launch p-4 of A
			p-4 fails     -> reject 5
			call 6        -> launch p-5 of A
			p-5 fails     -> reject 6, !plugin_backing_off
			clear         ->
			call 7        -> launch p-6 of A
		`},
		{"an operator clears it while a probe runs", three, quarantined + `
			after 1m      -> launch p-4 of A
			clear         ->
			call 5        ->
			p-4 is ready  -> assign 5 to p-4
			p-4 exits     ->
			is enabled
		`},
		{"those who wait are rejected, those who are served are not", lifecycle.Config{MaxCrashes: 1, MaxInstances: 2, MaxCallsPerInstance: 1}, `
			call 1        -> launch p-1 of A
			call 2        -> launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  -> assign 2 to p-2
			call 3        ->
			p-1 crashes   -> reject 3, !instance_draining
			p-2 hangs     ->
			2 is released -> stop p-2 by force
		`},
		{"a probe that is stopped shows nothing, and another comes", three, quarantined + `
			after 1m      -> launch p-4 of A
			disable       -> stop p-4
			p-4 fails     -> !instance_exited
			enable        ->
			is quarantined
			after 2m      -> launch p-5 of A
		`},
		{"a probe that is drained comes again, and not at once", three, quarantined + `
			after 1m      -> launch p-4 of A
			drain         -> stop p-4
			after 1m      ->
			p-4 fails     ->
			after 119s    ->
			after 1s      -> launch p-5 of A
		`},
		{"there is no probe while the plugin is paused", three, quarantined + `
			pause         ->
			after 1h      ->
			resume        ->
			after 1ms     -> launch p-4 of A
		`},
		{"a restart that comes up ends it", three, quarantined + `
			restart       -> launch p-4 of A
			after 2m      ->
			is quarantined
			p-4 is ready  -> !plugin_enabled, !restart_finished
			call 5        -> assign 5 to p-4
		`},
		{"a restart that fails does not", three, quarantined + `
			restart       -> launch p-4 of A
			after 2m      ->
			p-4 fails     -> !restart_failed
			is quarantined
			after 1ms     -> launch p-5 of A, !plugin_probing
		`},
		{"another revision ends it once it is ready", three, quarantined + `
			replace by B  -> launch p-4 of B
			is quarantined
			call 5        -> reject 5
			p-4 is ready  -> flip from A to B, !plugin_enabled
			call 6        -> assign 6 to p-4
		`},
		{"another revision that is adopted ends it at once", three, quarantined + `
			adopt B       -> flip from A to B, !plugin_enabled
			call 5        -> launch p-4 of B
		`},
		{"another revision is let come while the old one falls", lifecycle.Config{MaxCrashes: 1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			replace by B  -> launch p-2 of B
			p-1 exits     -> !plugin_quarantined
			call 2        -> reject 2
			p-2 is ready  -> flip from A to B, !plugin_enabled
			call 3        -> assign 3 to p-2
		`},
		{"what crashes after it was replaced does not count", lifecycle.Config{MaxCrashes: 1}, `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			replace by B  -> launch p-2 of B
			p-2 is ready  -> flip from A to B
			p-1 exits     -> !instance_crashed
			is enabled
		`},
	})
}

func TestBackoffDoublesWithJitter(t *testing.T) {
	const rows = 12
	var longest [rows]time.Duration
	for seed := range uint64(300) {
		w := newWorld(lifecycle.Config{MinInstances: 1, MaxCrashes: 100}, seed)
		w.acquire("")
		for row := range rows {
			p := w.procs[len(w.procs)-1]
			w.launchFails(p)
			if row > 0 {
				longest[row] = max(longest[row], w.backoff.Sub(w.now))
			}
			w.sleep(time.Minute)
		}
		w.report(t, fmt.Sprintf("seed %d", seed))
	}
	bound := 200 * time.Millisecond
	for row := 1; row < rows; row++ {
		if got := longest[row]; got > bound || got < bound*9/10 {
			t.Errorf("after %d crashes in a row the longest of many pauses is %v, want nearly %v", row+1, got, bound)
		}
		bound = min(2*bound, 30*time.Second)
	}
}

func TestProbesGrowRare(t *testing.T) {
	w := newWorld(lifecycle.Config{MaxCrashes: 1, ProbeAfter: time.Minute}, 1)
	w.acquire("")
	for probe, pauses := 0, []time.Duration{1, 2, 4, 8, 16, 32, 64, 64, 64}; probe < len(pauses); probe++ {
		w.launchFails(w.procs[len(w.procs)-1])
		if got := w.machine.Wake().Sub(w.now); got != pauses[probe]*time.Minute {
			t.Errorf("probe %d comes after %v, want %d minutes", probe, got, pauses[probe])
		}
		w.awaitWake("the plugin is quarantined")
	}
	w.report(t, "")
	if n := w.machine.Report(w.now).Launches; n != 0 {
		t.Errorf("%d instances are said to have become ready", n)
	}
	w.obey()
	if n := w.machine.Report(w.now).Launches; n != 1 {
		t.Errorf("%d instances are said to have become ready, and one has", n)
	}
}

func TestNoProbeNoRetryAfter(t *testing.T) {
	w := newWorld(lifecycle.Config{MaxCrashes: 1, ProbeAfter: -1}, 1)
	w.acquire("")
	w.launchFails(w.procs[0])
	if c := w.acquire(""); c.rejected == nil || c.rejected.RetryAfter != 0 {
		t.Errorf("a call is told %+v, and only an operator ends this", c.rejected)
	}
}

func TestRejectionsSayWhy(t *testing.T) {
	cause := tool.Errorf(tool.KindUnavailable, "it is broken")
	cause.Exit = &tool.Exit{Code: 3}
	w := newWorld(lifecycle.Config{MaxCrashes: 3, ProbeAfter: time.Minute, StableAfter: time.Second}, 1)
	fail := func() (first, second *call) {
		first, second = w.acquire(""), w.acquire("")
		w.sleep(time.Second)
		p := w.procs[len(w.procs)-1]
		p.exited = true
		w.does(p.id+" fails", w.machine.LaunchFailed(w.now, p.id, cause))
		w.report(t, "")
		return first, second
	}
	a, b := fail()
	if a.rejected.Exit != cause.Exit || a.rejected.Message != cause.Message || a.rejected.RetryAfter != 0 {
		t.Errorf("after the first failure a call is told %+v", a.rejected)
	}
	if a.rejected == b.rejected || a.rejected == cause {
		t.Error("two calls share an error, to which the driver may add")
	}
	if a, _ := fail(); a.rejected.RetryAfter <= 0 || a.rejected.RetryAfter != w.backoff.Sub(w.now) {
		t.Errorf("a call is told to try again in %v, and the backoff ends in %v", a.rejected.RetryAfter, w.backoff.Sub(w.now))
	}
	if cause.RetryAfter != 0 {
		t.Error("the driver's error was changed")
	}
	fail()
	w.sleep(20 * time.Second)
	if c := w.acquire(""); c.rejected == nil || c.rejected.Kind != tool.KindUnavailable || c.rejected.RetryAfter != 41*time.Second {
		t.Errorf("in quarantine a call is told %+v; a probe comes in 40 s and takes 1 s", c.rejected)
	}
	w.sleep(40 * time.Second)
	w.obey()
	w.now = w.now.Add(time.Second / 4)
	if c := w.acquire(""); c.rejected == nil || c.rejected.RetryAfter != time.Second*3/4 {
		t.Errorf("during a probe a call is told %+v; it ends in 750 ms", c.rejected)
	}
}
