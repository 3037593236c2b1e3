package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// asking returns a model for three runs: the run starts a sub-run, the sub-run starts another one,
// and the last one asks a question.
func asking() *fakeModel {
	return delegating(func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, newTask("a", `{"task":"delegate"}`))
		}
		return response(model.StopEndTurn, text("heard: "+results(req)[0]))
	}, func(n int, req model.Request) *model.Response {
		switch {
		case n == 1:
			return response(model.StopEndTurn, text(results(req)[0]))
		case firstText(req) == "delegate":
			return response(model.StopToolUse, newTask("b", `{"task":"ask"}`))
		}
		return response(model.StopToolUse, question("which?"))
	})
}

func state(t *testing.T, f *fixture, id string) agent.Run {
	t.Helper()
	r, err := f.GetRun(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The run that a user started shows what a run two levels below waits for, also after a restart. A
// response there reaches the lower run.
func TestDecisionsOfSubRunsAreMadeAtTheParent(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		name := map[bool]string{false: "in one life", true: "in two lives"}[restarted]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attended := func(c *agent.Config) { withPeople(c); withSystem(c) }
				f := newFixture(t, asking(), newTools(echo), attended)
				f.start(loop.Task{})
				synctest.Wait()
				if restarted {
					f.Close()
					f.open(attended)
					if n, err := f.Resume(t.Context()); n != 3 || err != nil {
						t.Fatal(n, err)
					}
					synctest.Wait()
				}
				child := loop.SubRunID("r", "r.t1.c0")
				asker := loop.SubRunID(child, child+".t1.c0")
				ref := asker + "/d1"
				for _, id := range []string{"r", child} {
					r := state(t, f, id)
					if r.State() != agent.RunWaiting || len(r.Pending) != 1 || r.Pending[0].ID != ref || r.Pending[0].RunID != asker || r.Pending[0].Reason != "which?" {
						t.Errorf("%s is %s and waits for %+v", id, r.State(), r.Pending)
					}
				}
				answer := loop.DecisionMade{ID: "d1", Verdict: loop.VerdictAnswer, Text: "blue"}
				if _, err := f.Respond(t.Context(), "r", answer); tool.KindOf(err) != tool.KindNotFound || !strings.Contains(err.Error(), ref) {
					t.Errorf("a decision without its run: %v", err)
				}
				elsewhere := answer
				elsewhere.ID = "r/d1"
				if _, err := f.Respond(t.Context(), child, elsewhere); tool.KindOf(err) != tool.KindNotFound {
					t.Errorf("a decision of the run above: %v", err)
				}
				if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: ref, Verdict: loop.VerdictAnswer, Text: "x"}, answer); tool.KindOf(err) != tool.KindInvalidArgument {
					t.Errorf("decisions for two runs: %v", err)
				}
				answer.ID = ref
				if _, err := f.Respond(t.Context(), "r", answer); err != nil {
					t.Fatal(err)
				}
				if end := f.end(); end.Text != "heard: blue" {
					t.Errorf("ended with %+v", end)
				}
				var told []int
				for _, e := range durable(f.watch(0)) {
					if p, ok := e.Payload.(*loop.SubRunWaiting); ok {
						told = append(told, len(p.Decisions))
					}
				}
				if len(told) == 0 || len(told) > 2 || told[0] != 1 {
					t.Errorf("the run told of %v decisions", told)
				}
				if r := state(t, f, "r"); r.State() != agent.RunEnded || len(r.Pending) != 0 {
					t.Errorf("in the end the run is %s and waits for %v", r.State(), r.Pending)
				}
			})
		})
	}
}

// A run whose sub-run waits for a person gives its slot up.
func TestWaitingForASubRunNeedsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, asking(), newTools(echo), func(c *agent.Config) { withPeople(c); withSystem(c); c.MaxRuns = 1 })
		f.start(loop.Task{})
		synctest.Wait()
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: "other", Prompt: "ask"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if r := state(t, f, "other"); r.State() != agent.RunWaiting {
			t.Errorf("the other run is %s", r.State())
		}
		if err := f.CancelRun(t.Context(), "r", "enough"); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopCancelled {
			t.Errorf("ended with %+v", end)
		}
	})
}
