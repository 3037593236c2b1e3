package host_test

import (
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// A tenant that makes many calls does not hide the calls of another one.
func TestRecentCallsOfTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), nil)
		of := func(principal string) {
			c := call("echo", `{"text":"x"}`)
			c.Principal = principal
			outcome(t, r, c)
		}
		for range 3 {
			of("blue/ada")
		}
		for range 1500 {
			of("red/bob")
		}
		for tenant, want := range map[string]int{"blue": 3, "red": 997} {
			if got := statesOf(t, r, tool.CallQuery{Tenants: tool.Tenants{tenant}}); len(got) != want {
				t.Errorf("%d calls of %s are listed, want %d", len(got), tenant, want)
			}
		}
		r.Close()
	})
}
