package agent_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// peopleRun is a run of 11 turns that needs people in every way at least once. It is short because
// killing it at every boundary costs the square of its length. server/internal/e2e/boundary kills a
// longer one.
func peopleRun() *fakeModel {
	var answers []*model.Response
	for i := range 3 {
		answers = append(answers,
			response(model.StopToolUse, text(fmt.Sprint("step ", i)), call("a", "serial"), call("b", "echo"), question(fmt.Sprint("which, ", i))),
			response(model.StopToolUse, call("c", "echo"), call("d", "echo"), question("and?")),
			response(model.StopToolUse, call("e", "echo"), call("f", "missing")),
		)
	}
	answers = append(answers, response(model.StopToolUse, call("x", "echo")), response(model.StopToolUse, completion(`{"result":"the end"}`)))
	return turns(answers...)
}

// strict requires approval for calls at two positions of a response, and loses the outcome of some
// others.
func strict(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
	switch place := call.ID[len("r.t"):]; {
	case call.Approval != nil:
		return tool.Outcome{CallID: call.ID, Plugin: "p", Instance: "p-1", Result: tool.TextResult(fmt.Sprintf("%s with %s", call.ID, call.Arguments))}
	case matches(place, ".c0"):
		return careful(ctx, call, status)
	case matches(place, "2.c1"), matches(place, "8.c1"):
		return tool.Outcome{CallID: call.ID, Err: tool.Errorf(tool.KindOutcomeUnknown, "lost")}
	case matches(place, "5.c1"):
		return tool.Outcome{CallID: call.ID, Err: tool.Errorf(tool.KindTimeout, "slow")}
	}
	return echo(ctx, call, status)
}

func matches(place, suffix string) bool {
	return len(place) >= len(suffix) && place[len(place)-len(suffix):] == suffix
}

// person makes every decision by a rule that depends only on the decision.
func person(f *fixture) {
	for e, err := range f.WatchRun(f.t.Context(), "r", 0) {
		if err != nil {
			return
		}
		p, ok := e.Payload.(*loop.DecisionRequested)
		if !ok {
			continue
		}
		d := loop.DecisionMade{ID: p.ID, Verdict: loop.VerdictApprove, By: "ann"}
		switch {
		case p.Kind == loop.DecideQuestion:
			d.Verdict, d.Text = loop.VerdictAnswer, "it is "+p.Reason
		case p.Kind == loop.DecideOutcome:
			d.Verdict, d.Text = loop.VerdictAnswer, "done"
		case matches(p.CallID, "1.c0"):
			d.Arguments = []byte(`{"n":1}`)
		case matches(p.CallID, "2.c0"):
			d.Verdict, d.Text = loop.VerdictReject, "no"
		}
		time.Sleep(time.Second) // fake time; other goroutines continue
		// A decision that was made before the process died is no longer pending.
		if _, err := f.Respond(f.t.Context(), "r", d); err != nil && tool.KindOf(err) != tool.KindNotFound {
			return
		}
	}
}

// TestPeopleAtEveryBoundary kills the agent before and after each append of a run with approvals,
// edits, rejections, questions and lost outcomes. Each time the run ends as if undisturbed, nothing
// is executed twice, and no person is asked twice.
func TestPeopleAtEveryBoundary(t *testing.T) {
	type ending struct {
		finished *loop.RunFinished
		asked    []model.Request
		requests int
	}
	live := func(f *fixture, group *sync.WaitGroup) (died bool) {
		group.Go(func() { person(f) })
		for _, err := range f.WatchRun(f.t.Context(), "r", 0) {
			died = died || err != nil
		}
		return died
	}
	var whole ending
	synctest.Test(t, func(t *testing.T) {
		var group sync.WaitGroup
		defer group.Wait()
		f := newFixture(t, peopleRun(), newTools(strict), withPeople)
		f.start(loop.Task{})
		live(f, &group)
		whole = ending{f.end(), f.model.seen(), questions(f)}
	})
	if whole.finished.StopReason != loop.StopCompleted || whole.finished.Turns != 11 || whole.requests != 18 {
		t.Fatalf("the undisturbed run asked %d times and ended with %+v", whole.requests, whole.finished)
	}
	for _, after := range []bool{false, true} {
		for boundary, died := 1, true; died; boundary++ {
			synctest.Test(t, func(t *testing.T) {
				var group sync.WaitGroup
				defer group.Wait()
				f := newFixture(t, peopleRun(), newTools(strict), withPeople)
				dying := &dyingStore{Store: f.store, after: after}
				dying.left.Store(int64(boundary))
				f.Close()
				f.open(func(c *agent.Config) { withPeople(c); c.Store = dying })
				f.start(loop.Task{})
				died = live(f, &group)
				f.Close()
				group.Wait()
				f.open(withPeople)
				defer f.Close()
				if _, err := f.Resume(t.Context()); err != nil {
					t.Fatal(err)
				}
				live(f, &group)
				if diff := cmp.Diff(whole.finished, f.end()); diff != "" {
					t.Errorf("killed at %d (after: %v), the run ends otherwise:\n%s", boundary, after, diff)
				}
				if n := questions(f); n != whole.requests {
					t.Errorf("killed at %d (after: %v), people are asked %d times, want %d", boundary, after, n, whole.requests)
				}
				for id, n := range f.tools.executions() {
					if n != 1 {
						t.Errorf("killed at %d (after: %v), call %s was executed %d times", boundary, after, id, n)
					}
				}
				checkAsked(t, whole.asked, f.model.seen())
			})
		}
	}
}

// questions returns how many decisions a run has asked for.
func questions(f *fixture) (n int) {
	for _, e := range f.watch(0) {
		if e.Payload.Type() == loop.TypeDecisionRequested {
			n++
		}
	}
	return n
}
