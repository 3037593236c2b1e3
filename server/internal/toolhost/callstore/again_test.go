package callstore_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// A call that was free and begins again is found at any time, also between the commit of its new
// row and the moment in which Begin returns.
func TestACallThatBeginsAgainIsFound(t *testing.T) {
	cfg := config(t)
	var store *callstore.Store
	var seen []callstore.State
	cfg.Begun = func(int64) { // in the goroutine of the store, after the commit
		e, found, err := store.Find(t.Context(), key("x"))
		if err != nil || !found {
			e.State = ""
		}
		seen = append(seen, e.State)
	}
	store = open(t, cfg)
	e := entry("x")
	e.Arguments = []byte("{}")
	must(t, store.Begin(t.Context(), e))
	must(t, store.End(t.Context(), key("x"), tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "lost")}))
	lost := wantState(t, store, "x", callstore.StateEnded)
	must(t, store.Settle(t.Context(), key("x"), lost.Number, tool.Settlement{Verdict: tool.VerdictDidNotHappen}, tool.Outcome{}))
	must(t, store.Begin(t.Context(), e))
	if len(seen) != 2 || seen[0] != "" || seen[1] != callstore.StateBegun {
		t.Errorf("while it begins, and while it begins again, the call is %q", seen)
	}
}
