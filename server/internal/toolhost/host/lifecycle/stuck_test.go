package lifecycle_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// An instance with a call that has not stopped after a cancel takes no calls, and may take calls
// again later.
func TestCallsThatDoNotStop(t *testing.T) {
	tellAll(t, []chapter{
		{"the next call gets another, and none is needed twice", lifecycle.Config{}, serving + `
			1 is stuck    -> !instance_unhealthy
			1 is stuck    -> silence
			call 2        -> launch p-2 of A
			p-2 is ready  -> assign 2 to p-2
			p-1 hangs     -> !instance_unhealthy
			1 is released -> stop p-1 by force
		`},
		{"it is ready again once all have stopped", lifecycle.Config{}, serving + `
			call 2        -> assign 2 to p-1
			1 is stuck    -> !instance_unhealthy
			2 is stuck    -> silence
			1 is released ->
			2 is released -> !instance_ready
			call 3        -> assign 3 to p-1
		`},
		{"others end their calls meanwhile", lifecycle.Config{}, serving + `
			call 2        -> assign 2 to p-1
			1 is stuck    -> !instance_unhealthy
			2 is released ->
			1 is released -> !instance_ready
		`},
		{"who is on its way takes its place", lifecycle.Config{}, serving + `
			1 is stuck    -> !instance_unhealthy
			call 2        -> launch p-2 of A
			1 is released -> stop p-1, !instance_draining
			p-2 is ready  -> assign 2 to p-2
		`},
		{"in a pool with room both stay", lifecycle.Config{MaxInstances: 2}, serving + `
			1 is stuck    ->
			call 2        -> launch p-2 of A
			1 is released -> assign 2 to p-1, !instance_ready
			p-2 is ready  ->
			call 3        -> assign 3 to p-2
		`},
		{"the minimum does not grow by a call that takes its time", lifecycle.Config{MinInstances: 1}, serving + `
			1 is stuck    -> !instance_unhealthy
			1 is released -> !instance_ready
			call 2        -> assign 2 to p-1
			2 is stuck    ->
			p-1 hangs     -> launch p-2 of A
		`},
		{"a session gets another, and keeps one", lifecycle.Config{Isolation: perSession, MaxInstances: 2}, `
			call 1 of s   -> launch p-1 of A
			p-1 is ready  -> assign 1 to p-1
			1 is stuck    -> !instance_unhealthy
			call 2 of s   -> launch p-2 of A
			p-2 is ready  -> assign 2 to p-2
			1 is released -> stop p-1
		`},
		{"a call of its own", lifecycle.Config{Isolation: perCall, Prewarmed: -1}, serving + `
			1 is stuck    -> !instance_unhealthy
			1 is released -> stop p-1
		`},
		{"what is replaced is not ready again", lifecycle.Config{}, serving + `
			1 is stuck    ->
			replace by B  -> launch p-2 of B
			p-2 is ready  -> flip from A to B, !instance_draining
			1 is released -> stop p-1
		`},
		{"what is restarted neither", lifecycle.Config{}, serving + `
			1 is stuck    ->
			restart       -> launch p-2 of A
			p-2 is ready  -> !instance_draining, !restart_finished
			1 is released -> stop p-1
		`},
		{"what drains goes on draining", lifecycle.Config{}, serving + `
			drain         -> !instance_draining
			1 is stuck    -> silence
			1 is released -> stop p-1
		`},
		{"a drain waits no longer for what is stuck", lifecycle.Config{}, serving + `
			1 is stuck    ->
			drain         -> !instance_draining
			after 30s     -> cancel p-1, stop p-1
		`},
		{"it may reach its age meanwhile", lifecycle.Config{RecycleAfterAge: time.Minute}, serving + `
			1 is stuck    ->
			after 2m      ->
			1 is released -> !instance_ready
			after 1s      -> stop p-1
		`},
		{"it may end its number of calls meanwhile", lifecycle.Config{RecycleAfterCalls: 1}, serving + `
			1 is stuck    ->
			1 is released -> stop p-1
		`},
		{"one that dies has crashed", lifecycle.Config{}, serving + `
			1 is stuck    ->
			p-1 exits     -> !instance_crashed
			1 is released ->
		`},
	})
}
