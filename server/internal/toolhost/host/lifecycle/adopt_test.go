package lifecycle_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

func TestAdopt(t *testing.T) {
	tellAll(t, []chapter{
		{"costs no call either", lifecycle.Config{}, serving + `
			adopt B       -> flip from A to B, !instance_draining
			after 9m      ->
			1 is released -> stop p-1
		`},
		{"flips at once, and what runs drains", lifecycle.Config{}, serving + `
			adopt A       -> silence
			adopt B       -> flip from A to B, !upgrade_finished, !instance_draining
			call 2        -> launch p-2 of B
			1 is released -> stop p-1
			p-2 is ready  -> assign 2 to p-2
		`},
		{"who waits is served by the new one", lifecycle.Config{}, `
			call 1        -> launch p-1 of A
			adopt B       -> flip from A to B, stop p-1, launch p-2 of B
			p-2 is ready  -> assign 1 to p-2
		`},
		{"while the plugin is disabled", lifecycle.Config{}, serving + `
			disable       -> !instance_draining
			adopt B       -> flip from A to B
			enable        ->
			call 2        -> launch p-2 of B
		`},
		{"ends what another revision was on its way to", lifecycle.Config{}, serving + `
			replace by C  -> launch p-2 of C
			adopt B       -> flip from A to B, stop p-2, !upgrade_failed, !upgrade_finished
			p-2 is ready  ->
			call 2        -> launch p-3 of B
		`},
		{"ends a restart", lifecycle.Config{}, serving + `
			restart       -> launch p-2 of A
			adopt B       -> flip from A to B, stop p-2, !restart_failed
		`},
		{"not after the end", lifecycle.Config{}, serving + `
			close         -> cancel p-1, stop p-1
			adopt B       -> silence
		`},
	})
}
