package host_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/tool"
)

// A call that was made again under another id, as a person decided, is not executed any more: its
// tool is not asked, and would not be believed. What has succeeded is not made again either.
func TestACallThatWasMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newPayments(), openMemory(t)
		r := newRig(t, p.tools(), func(cfg *host.Config) { cfg.Calls = store })
		p.saysAlways(textSettlement(tool.VerdictDidNotHappen, ""))
		p.lose(t, r, 0, payment())
		p.finish.Store(true)
		again := payment()
		again.ID, again.Supersedes = "p1.a2", []string{"p1"}
		if got := outcome(t, r, again); got.Err != nil {
			t.Fatalf("it ended with %v", got.Err)
		}
		repeats := func(r *rig) {
			t.Helper()
			for _, got := range []tool.Outcome{outcome(t, r, payment()), watched(t, r, paymentKey)} {
				if got.Err == nil || got.Err.Kind != tool.KindOutcomeUnknown {
					t.Errorf("the former call ended with %+v", got)
				}
			}
			p.want(t, 2, 0)
		}
		repeats(r)
		once := payment()
		once.ID, once.Supersedes = "p1.a3", []string{"p1", "p1.a2"}
		if got := outcome(t, r, once); got.Err == nil || got.Err.Kind != tool.KindConflict {
			t.Errorf("a repeat of what succeeded ended with %+v", got)
		}
		repeats(r)
		r.Close()
		repeats(newRig(t, p.tools(), func(cfg *host.Config) { cfg.Calls = store.Reopen() }))
	})
}

// A call names the ones that it repeats in full, or it is refused.
func TestInvalidSupersedes(t *testing.T) {
	r := newRig(t, newPayments().tools(), nil)
	for name, change := range map[string]func(*tool.Call){
		"itself":        func(c *tool.Call) { c.Supersedes = []string{c.ID} },
		"one twice":     func(c *tool.Call) { c.Supersedes = []string{"a", "a"} },
		"no id":         func(c *tool.Call) { c.Supersedes = []string{"a b"} },
		"without an id": func(c *tool.Call) { c.ID, c.Supersedes = "", []string{"a"} },
		"too many":      func(c *tool.Call) { c.Supersedes = slices.Repeat([]string{"a"}, tool.MaxSupersedes+1) },
	} {
		c := payment()
		change(&c)
		if _, err := r.Open(t.Context(), c, true); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}
