package lifecycle_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

func TestRefusedLaunches(t *testing.T) {
	tellAll(t, []chapter{
		{"a refusal is no crash, and holds for a second", lifecycle.Config{}, `
			call 1          -> launch p-1 of A
			call 2          ->
			p-1 is refused  -> reject 1, reject 2, !launch_refused
			is enabled
			call 3          -> reject 3
			after 1s        ->
			call 4          -> launch p-2 of A
			p-2 is refused  -> reject 4
			after 1s        ->
			call 5          -> launch p-3 of A
			p-3 is ready    -> assign 5 to p-3
		`},
		{"what another instance may serve goes on waiting", lifecycle.Config{MaxInstances: 2, MaxCallsPerInstance: 1}, `
			call 1          -> launch p-1 of A
			p-1 is ready    -> assign 1 to p-1
			call 2          -> launch p-2 of A
			p-2 is refused  -> !launch_refused
			call 3          ->
			1 is released   -> assign 2 to p-1
			after 1s        -> launch p-3 of A
			p-3 is ready    -> assign 3 to p-3
		`},
		{"a launch that no call waited for is not repeated soon", lifecycle.Config{Isolation: perCall}, `
			call 1          -> launch p-1 of A, launch p-2 of A
			p-1 is ready    -> assign 1 to p-1
			p-2 is refused  ->
			1 is released   -> stop p-1
			p-1 exits       ->
			after 29s       ->
			call 2          -> launch p-3 of A, launch p-4 of A
		`},
		{"a refusal concerns its session", lifecycle.Config{Isolation: perSession}, `
			call 1 of a     -> launch p-1 of A
			p-1 is refused  -> reject 1
			call 2 of a     -> reject 2
			call 3 of b     -> launch p-2 of A
			p-2 is ready    -> assign 3 to p-2
		`},
	})
}

func TestPlacesForOthers(t *testing.T) {
	tellAll(t, []chapter{
		{"only an idle instance is evicted", lifecycle.Config{}, `
			call 1          -> launch p-1 of A
			p-1 is ready    -> assign 1 to p-1
			p-1 is evicted  ->
			1 is released   ->
			p-1 is evicted  -> stop p-1
			p-1 exits       ->
			call 2          -> launch p-2 of A
		`},
		{"a pool without calls does not fill the place again", lifecycle.Config{MinInstances: 1}, `
			call 1          -> launch p-1 of A
			p-1 is ready    -> assign 1 to p-1
			1 is released   ->
			p-1 is evicted  -> stop p-1
			p-1 exits       ->
			after 1h        ->
		`},
		{"the instance with the fewest calls yields, and ends none", lifecycle.Config{MaxInstances: 2, MaxCallsPerInstance: 2}, `
			call 1          -> launch p-1 of A
			p-1 is ready    -> assign 1 to p-1
			call 2          -> assign 2 to p-1
			call 3          -> launch p-2 of A
			p-2 is ready    -> assign 3 to p-2
			yield           -> !instance_draining
			after 1h        ->
			call 4          -> launch p-3 of A
			3 is released   -> stop p-2
		`},
	})
}
