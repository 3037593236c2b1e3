package lifecycle_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// serving is the beginning of most stories in this file: a plugin with an instance that serves
// calls.
const serving = `
			call 1        -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
`

func TestPauseAndDrain(t *testing.T) {
	tellAll(t, []chapter{
		{"a pause rejects what waits and comes, and lets the rest end", lifecycle.Config{MaxCallsPerInstance: 1}, serving + `
			call 2        ->
			pause         -> reject 2, !plugin_paused
			is paused
			call 3        -> reject 3
			pause         -> silence
			1 is released ->
			resume        -> !plugin_enabled
			resume        -> silence
			call 4        -> assign 4 to p-1
		`},
		{"nothing is started during a pause", lifecycle.Config{MinInstances: 1}, serving + `
			pause         ->
			p-1 exits     ->
			after 1m      ->
			resume        -> launch p-2 of A
		`},
		{"drain lets calls end for so long", lifecycle.Config{DrainTimeout: time.Minute}, serving + `
			call 2        -> assign 2 to p-1
			drain         -> !instance_draining
			2 is released ->
			call 3        -> launch p-2 of A
			after 59s     ->
			after 1s      -> cancel p-1, stop p-1
			1 is released ->
			p-1 exits     -> !instance_exited
		`},
		{"drain does not wait for calls that are not there", lifecycle.Config{}, serving + `
			1 is released ->
			drain         -> stop p-1
			drain         ->
		`},
		{"drain does not forget those who wait", lifecycle.Config{}, `
			call 1        -> launch p-1 of A
			drain         -> stop p-1, launch p-2 of A
			p-1 is ready  ->
			p-2 is ready  -> assign 1 to p-2
			p-1 exits     ->
		`},
		{"a drained pool stays empty until the next call", lifecycle.Config{MinInstances: 2, MaxInstances: 2}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			1 is released ->
			drain         -> stop p-1, stop p-2
			p-1 exits     ->
			after 1h      ->
			call 2        -> launch p-3 of A, launch p-4 of A
		`},
		{"a hung call makes an instance unhealthy, the others end", lifecycle.Config{}, serving + `
			call 2        -> assign 2 to p-1
			call 3        -> assign 3 to p-1
			p-1 hangs     -> !instance_unhealthy
			1 is released ->
			call 4        -> launch p-2 of A
			2 is released ->
			p-1 hangs     ->
			3 is released -> stop p-1 by force
		`},
		{"a hung call that holds on is ended with the instance", lifecycle.Config{}, serving + `
			p-1 hangs     -> !instance_unhealthy
			after 30s     -> cancel p-1, stop p-1
			p-1 exits     -> !instance_exited
			1 is released ->
		`},
		{"disabled, and back", lifecycle.Config{MaxCallsPerInstance: 1}, serving + `
			call 2        ->
			disable       -> reject 2, !plugin_disabled, !instance_draining
			disable       -> silence
			is disabled
			call 3        -> reject 3
			restart       ->
			1 is released -> stop p-1
			enable        -> !plugin_enabled
			enable        -> silence
			call 4        -> launch p-2 of A
		`},
		{"who was disabled is warm again with the next call", lifecycle.Config{MinInstances: 1}, serving + `
			1 is released ->
			disable       -> stop p-1
			p-1 exits     ->
			enable        ->
			call 2        -> launch p-2 of A
		`},
		{"who waits for a hung instance gets another", lifecycle.Config{MaxCallsPerInstance: 1}, serving + `
			call 2        ->
			p-1 hangs     -> launch p-2 of A
			after 20s     ->
			p-1 hangs     -> silence
			after 10s     -> cancel p-1, stop p-1
		`},
		{"close stops all, and nothing comes after it", lifecycle.Config{MaxCallsPerInstance: 1, MaxInstances: 2}, serving + `
			call 2        -> launch p-2 of A
			call 3        ->
			close         -> reject 2, reject 3, cancel p-1, stop p-1, stop p-2
			enable        ->
			resume        ->
			clear         ->
			restart       ->
			force         ->
			replace by B  -> !refused
			is disabled
			call 4        -> reject 4
			p-1 exits     ->
			p-2 fails     ->
			1 is released ->
			after 240h    ->
		`},
	})
}

func TestRestart(t *testing.T) {
	tellAll(t, []chapter{
		{"costs no call, however long it takes", lifecycle.Config{IdleTimeout: -1}, serving + `
			restart       -> launch p-2 of A
			p-2 is ready  -> !restart_finished, !instance_draining
			after 9m      ->
			restart       -> launch p-3 of A
			p-3 is ready  -> stop p-2
			1 is released -> stop p-1
		`},
		{"the new one is ready before the old one drains", lifecycle.Config{}, serving + `
			restart       -> launch p-2 of A, !restart_started
			call 2        -> assign 2 to p-1
			p-2 is ready  -> !restart_finished, !instance_draining
			call 3        -> assign 3 to p-2
			1 is released ->
			2 is released -> stop p-1
		`},
		{"all of a pool", lifecycle.Config{MinInstances: 2, MaxInstances: 2}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			p-2 is ready  ->
			restart       -> launch p-3 of A
			p-3 is ready  -> stop p-2, launch p-4 of A
			1 is released -> stop p-1
		`},
		{"goes back, and says so", lifecycle.Config{MaxCrashes: 9}, serving + `
			replace by B  -> launch p-2 of B
			p-2 is ready  -> flip from A to B
			1 is released -> stop p-1
			p-1 exits     ->
			rollback to A -> launch p-3 of A, !rollback_started
			rollback to A -> !refused
			p-3 fails     -> !rollback_failed
			rollback to A -> launch p-4 of A, !rollback_started
			p-4 is ready  -> flip from B to A, stop p-2, !rollback_finished
			rollback to A -> silence
		`},
		{"the old one stays if the new one fails", lifecycle.Config{MaxCrashes: 1}, serving + `
			restart       -> launch p-2 of A
			p-2 fails     -> !restart_failed
			is enabled
			call 2        -> assign 2 to p-1
			restart       -> launch p-3 of A
			p-3 exits     -> !restart_failed
			is enabled
		`},
		{"one at a time", lifecycle.Config{}, serving + `
			restart       -> launch p-2 of A
			restart       ->
			force         ->
			replace by B  -> !refused
			p-2 is ready  ->
			restart       -> launch p-3 of A
		`},
		{"by force", lifecycle.Config{}, serving + `
			force         -> cancel p-1, stop p-1 by force, launch p-2 of A
			call 2        ->
			p-1 exits     -> !instance_exited
			1 is released ->
			p-2 is ready  -> assign 2 to p-2, !restart_finished
		`},
		{"by force, and the new one fails", lifecycle.Config{}, serving + `
			force         -> cancel p-1, stop p-1 by force, launch p-2 of A
			call 2        ->
			p-2 fails     -> reject 2, !restart_failed
			restart       -> launch p-3 of A
		`},
		{"by force, all of a pool", lifecycle.Config{MinInstances: 2}, `
			call 1        -> launch p-1 of A, launch p-2 of A
			p-1 is ready  -> assign 1 to p-1
			force         -> cancel p-1, stop p-1 by force, stop p-2 by force, launch p-3 of A, launch p-4 of A
			p-3 is ready  ->
			p-4 is ready  ->
		`},
		{"of nothing, which starts one that takes calls", lifecycle.Config{}, `
			restart       -> launch p-1 of A
			call 1        ->
			p-1 is ready  -> assign 1 to p-1, !restart_finished
		`},
		{"ends a backoff", lifecycle.Config{InitialBackoff: time.Hour, MaxBackoff: time.Hour}, `
			call 1        -> launch p-1 of A
			p-1 fails     -> reject 1
			call 2        -> launch p-2 of A
			p-2 fails     -> reject 2, !plugin_backing_off
			call 3        ->
			is backing_off
			restart       -> launch p-3 of A
			is enabled
			p-3 is ready  -> assign 3 to p-3
		`},
		{"for the newest session", lifecycle.Config{Isolation: perSession}, `
			call 1 of a   -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			restart       -> launch p-2 of A
			p-2 is ready  ->
			call 2 of a   -> assign 2 to p-2
			1 is released -> stop p-1
		`},
		{"is over when its instance is stopped", lifecycle.Config{}, serving + `
			restart       -> launch p-2 of A
			disable       -> stop p-2, !restart_failed
			p-2 fails     ->
			enable        ->
			restart       -> launch p-3 of A
		`},
		{"is not hindered by a drain", lifecycle.Config{}, serving + `
			1 is released ->
			restart       -> launch p-2 of A
			drain         -> stop p-1
			p-2 is ready  -> !restart_finished
			call 2        -> assign 2 to p-2
		`},
	})
}

func TestReplace(t *testing.T) {
	tellAll(t, []chapter{
		{"costs no call, however long it takes, unless a drain comes", lifecycle.Config{IdleTimeout: -1}, serving + `
			replace by B  -> launch p-2 of B
			p-2 is ready  -> flip from A to B, !instance_draining
			call 2        -> assign 2 to p-2
			after 5m      ->
			rollback to A -> launch p-3 of A
			p-3 is ready  -> flip from B to A
			2 is released -> stop p-2
			after 4m      ->
			drain         -> stop p-3
			after 30s     -> cancel p-1, stop p-1
		`},
		{"flips once the new one is ready, and back", lifecycle.Config{}, serving + `
			replace by A  ->
			replace by B  -> launch p-2 of B, !upgrade_started
			call 2        -> assign 2 to p-1
			p-2 is ready  -> flip from A to B, !upgrade_finished, !instance_draining
			call 3        -> assign 3 to p-2
			1 is released ->
			2 is released -> stop p-1
			replace by A  -> launch p-3 of A
			p-1 exits     ->
			p-3 is ready  -> flip from B to A
			call 4        -> assign 4 to p-3
		`},
		{"the old one stays if the new one fails", lifecycle.Config{MaxCrashes: 1}, serving + `
			replace by B  -> launch p-2 of B
			p-2 fails     -> !upgrade_failed
			call 2        -> assign 2 to p-1
			replace by B  -> launch p-3 of B
			p-3 exits     -> !upgrade_failed
			is enabled
			call 3        -> assign 3 to p-1
		`},
		{"warm also if nothing runs, and not for longer than it is idle", lifecycle.Config{MinInstances: 1, IdleTimeout: time.Minute}, `
			replace by B  -> launch p-1 of B
			p-1 is ready  -> flip from A to B, !upgrade_finished
			after 1m      -> stop p-1
			p-1 exits     ->
			call 1        -> launch p-2 of B
		`},
		{"not by what does not start, also if nothing runs", lifecycle.Config{MaxCrashes: 1}, `
			replace by B  -> launch p-1 of B
			p-1 fails     -> !upgrade_failed
			is enabled
			call 1        -> launch p-2 of A
		`},
		{"the old one is started for calls that come meanwhile", lifecycle.Config{}, `
			replace by B  -> launch p-1 of B
			call 1        -> launch p-2 of A
			p-2 is ready  -> assign 1 to p-2
			p-1 is ready  -> flip from A to B
			1 is released -> stop p-2
		`},
		{"warm while the old one can no longer be used", lifecycle.Config{}, serving + `
			drain         ->
			replace by B  -> launch p-2 of B
			p-2 is ready  -> flip from A to B
			call 2        -> assign 2 to p-2
			1 is released -> stop p-1
		`},
		{"out of a backoff, which is not the new one's", lifecycle.Config{InitialBackoff: time.Hour, MaxBackoff: time.Hour}, `
			call 1        -> launch p-1 of A
			p-1 fails     -> reject 1
			call 2        -> launch p-2 of A
			p-2 fails     -> reject 2
			call 3        ->
			replace by B  -> launch p-3 of B
			p-3 is ready  -> flip from A to B, assign 3 to p-3
		`},
		{"what is on its way is stopped, and who waits is served", lifecycle.Config{}, `
			call 1        -> launch p-1 of A
			replace by B  -> launch p-2 of B
			p-2 is ready  -> flip from A to B, stop p-1, assign 1 to p-2
			p-1 is ready  ->
			p-1 exits     ->
		`},
		{"the old one is started again if it crashes meanwhile", lifecycle.Config{}, serving + `
			replace by B  -> launch p-2 of B
			p-1 exits     ->
			call 2        -> launch p-3 of A
			p-3 is ready  -> assign 2 to p-3
			p-2 is ready  -> flip from A to B
			2 is released -> stop p-3
		`},
		{"during a pause, so that the resumed plugin is the new one", lifecycle.Config{}, serving + `
			pause         ->
			replace by B  -> launch p-2 of B
			p-2 is ready  -> flip from A to B
			is paused
			resume        ->
			call 2        -> assign 2 to p-2
		`},
		{"is over when its plugin is disabled", lifecycle.Config{}, serving + `
			replace by B  -> launch p-2 of B
			disable       -> stop p-2, !upgrade_failed
			p-2 exits     ->
			replace by B  -> !refused
			enable        ->
			call 2        -> launch p-3 of A
		`},
		{"is no comfort to those who wait for the old one", lifecycle.Config{}, `
			call 1        -> launch p-1 of A
			replace by B  -> launch p-2 of B
			p-1 fails     -> reject 1
			call 2        -> launch p-3 of A
			p-2 is ready  -> flip from A to B, stop p-3, assign 2 to p-2
		`},
		{"takes no session's place", lifecycle.Config{Isolation: perSession, MaxInstances: 2}, `
			call 1 of a   -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			replace by B  -> launch p-2 of B
			call 2 of b   -> launch p-3 of A
			p-1 exits     ->
			call 3 of a   -> launch p-4 of A
		`},
		{"while it closes", lifecycle.Config{}, serving + `
			replace by B  -> launch p-2 of B
			close         -> cancel p-1, stop p-1, stop p-2, !upgrade_failed
			p-2 is ready  ->
		`},
	})
}
