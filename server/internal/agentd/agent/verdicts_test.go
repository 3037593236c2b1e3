package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Each principal finds what it has decided, in pages and after a restart, and nobody what expired.
func TestListMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, call("a", "serial"), question("which?"), question("when?"), question("who?")), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(careful), withPeople)
		f.start(loop.Task{Principal: "ada"})
		synctest.Wait()
		long := strings.Repeat("ä", maxText)
		for _, made := range []loop.DecisionMade{
			{ID: "d1", Verdict: loop.VerdictAnswer, Text: long, By: "Ada", Principal: "ada"}, {ID: "d2", Verdict: loop.VerdictAnswer, Text: "now", Principal: "bob"},
			{ID: "d4", Verdict: loop.VerdictApprove, Arguments: json.RawMessage(`{"n":1}`), Principal: "bob"},
		} {
			time.Sleep(time.Second)
			if _, err := f.Respond(t.Context(), "r", made); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(24 * time.Hour) // d3 expires
		synctest.Wait()
		f.Close()
		f.open(withPeople)
		defer f.Close()
		made := func(principal, token string) (all []string, list []agent.Decision, next string) {
			t.Helper()
			list, next, err := f.ListMade(t.Context(), agent.MadeQuery{Principal: principal, Size: 1, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range list {
				all = append(all, fmt.Sprint(loop.DecisionRef(d.Run.ID, d.ID), " ", d.Made.Verdict, " ", d.Arguments, " of ", d.Run.Principal, " ", d.Waits))
			}
			return all, list, next
		}
		newest, list, next := made("bob", "")
		oldest, _, last := made("bob", next)
		none, _, end := made("bob", last)
		if want := []string{`r/d4 approve {"n":1} of ada false`, `r/d2 answer {"question":"when?"} of ada false`}; !cmp.Equal(want, append(append(newest, oldest...), none...)) || end != "" {
			t.Errorf("bob has decided %q, %q, %q, %q", newest, oldest, none, end)
		}
		if whole, err := f.Decision(t.Context(), "r", "d4"); err != nil || !whole.MadeAt.Equal(list[0].MadeAt) || !list[0].MadeAt.After(list[0].Requested) || list[0].Tool != "serial" {
			t.Errorf("got %+v, and whole %+v, %v", list[0], whole, err)
		}
		answers, list, _ := made("ada", "")
		if len(answers) != 1 || !list[0].Cut || !strings.HasPrefix(long, list[0].Made.Text) || list[0].Made.By != "Ada" {
			t.Errorf("ada has decided %+v", list)
		}
		if _, err := f.Decide(t.Context(), "r", "late", loop.DecisionMade{ID: "d3", Verdict: loop.VerdictAnswer, Text: "late", Principal: "bob"}); tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "which counts as a No") {
			t.Errorf("a verdict after the end: %v", err)
		}
		if nobody, _, _ := made("", ""); nobody != nil {
			t.Errorf("nobody has decided %q", nobody)
		}
		for _, token := range []string{"x y", "-1", "0"} {
			if _, _, err := f.ListMade(t.Context(), agent.MadeQuery{Principal: "bob", Token: token}); tool.KindOf(err) != tool.KindInvalidArgument {
				t.Errorf("the token %q: %v", token, err)
			}
		}
	})
}
