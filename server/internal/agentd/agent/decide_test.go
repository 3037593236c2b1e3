package agent_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// A verdict decides only what its person has seen, a repeated request gets the same answer, and who
// comes second learns who decided what, and when.
func TestDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, call("a", "serial"), question("which?")), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(careful), withPeople)
		defer f.Close()
		f.start(loop.Task{Principal: "ada"})
		synctest.Wait()
		seen := func(id string) agent.Decision {
			t.Helper()
			d, err := f.Decision(t.Context(), "r", id)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		call, asked := seen("d1"), seen("d2")
		if call.Kind != loop.DecideApproval {
			call, asked = asked, call
		}
		yes := loop.DecisionMade{ID: call.ID, Verdict: loop.VerdictApprove, Text: "fine", By: "Bob", Principal: "bob", RequestID: "q1"}
		for name, test := range map[string]struct {
			etag string
			made loop.DecisionMade
			want tool.Kind
		}{
			"the etag of another decision": {asked.Etag(), yes, tool.KindConflict},
			"an empty etag":                {"", yes, tool.KindConflict},
			"an unknown decision":          {call.Etag(), loop.DecisionMade{ID: "d9", Verdict: loop.VerdictApprove}, tool.KindNotFound},
			"a verdict that does not fit":  {call.Etag(), loop.DecisionMade{ID: call.ID, Verdict: loop.VerdictAnswer, Text: "x"}, tool.KindInvalidArgument},
			"an end":                       {call.Etag(), loop.DecisionMade{ID: call.ID, Verdict: loop.VerdictExpired}, tool.KindInvalidArgument},
			"an ill-formed request id":     {call.Etag(), loop.DecisionMade{ID: call.ID, Verdict: loop.VerdictApprove, RequestID: "a b"}, tool.KindInvalidArgument},
		} {
			if _, err := f.Decide(t.Context(), "r", test.etag, test.made); tool.KindOf(err) != test.want {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
		}
		if d := seen(call.ID); !d.Waits {
			t.Fatalf("a refused verdict decided: %+v", d.Made)
		}
		time.Sleep(time.Minute)
		for range 2 { // the second is the same request, whose answer was lost
			d, err := f.Decide(t.Context(), "r", call.Etag(), yes)
			if err != nil || d.Waits || d.Made == nil || d.Made.Principal != "bob" || d.MadeAt.Sub(d.Requested) != time.Minute {
				t.Errorf("the decision is %+v, %v", d, err)
			}
		}
		for name, change := range map[string]func(*loop.DecisionMade){
			"another principal":    func(d *loop.DecisionMade) { d.Principal = "eve" },
			"another verdict":      func(d *loop.DecisionMade) { d.Verdict = loop.VerdictReject },
			"another request id":   func(d *loop.DecisionMade) { d.RequestID = "q2" },
			"without an id":        func(d *loop.DecisionMade) { d.RequestID = "" },
			"with other arguments": func(d *loop.DecisionMade) { d.Arguments = []byte(`{"a":1}`) },
		} {
			second := yes
			change(&second)
			_, err := f.Decide(t.Context(), "r", call.Etag(), second)
			if tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "bob (Bob) gave the verdict approve at 2000-01-01T00:01:00Z") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := f.CancelRun(t.Context(), "r", "enough"); err != nil {
			t.Fatal(err)
		}
		f.end()
		if _, err := f.Decide(t.Context(), "r", asked.Etag(), loop.DecisionMade{ID: asked.ID, Verdict: loop.VerdictReject}); tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("a decision that nobody wants any more: %v", err)
		}
	})
}

// Of many verdicts at once, one decides, and all others learn whose it was.
func TestManyDecideAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(careful), withPeople)
		defer f.Close()
		f.start(loop.Task{})
		synctest.Wait()
		d, err := f.Decision(t.Context(), "r", "d1")
		if err != nil {
			t.Fatal(err)
		}
		errs := make([]error, 50)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = f.Decide(t.Context(), "r", d.Etag(), loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Principal: "bob"})
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "bob gave the verdict approve") {
				t.Errorf("got %v", err)
			}
		}
		if f.end(); won != 1 || len(f.tools.executions()) != 2 { // the refused attempt, and the approved one
			t.Errorf("%d verdicts decided, and the tool was called %d times", won, len(f.tools.executions()))
		}
	})
}

// The etag changes with everything that a person decides about, and not with the end.
func TestEtag(t *testing.T) {
	base := loop.Pending{DecisionRequested: loop.DecisionRequested{ID: "d1", Kind: loop.DecideApproval, Tool: "pay", Reason: "why"}, Arguments: `{"n":1}`, Requested: time.Unix(1, 1)}
	etag := base.Etag()
	for name, change := range map[string]func(*loop.Pending){
		"arguments":  func(p *loop.Pending) { p.Arguments = `{"n":2}` },
		"tool":       func(p *loop.Pending) { p.Tool = "payout" },
		"display":    func(p *loop.Pending) { p.DisplayName = "Pay" },
		"call":       func(p *loop.Pending) { p.CallID = "c" },
		"question":   func(p *loop.Pending) { p.Reason = "why not" },
		"options":    func(p *loop.Pending) { p.Options = []string{"a"} },
		"schema":     func(p *loop.Pending) { p.Schema = []byte(`{}`) },
		"definition": func(p *loop.Pending) { p.Definition = "abc" },
		"rule":       func(p *loop.Pending) { p.Rule = "ask" },
		"four eyes":  func(p *loop.Pending) { p.FourEyes = true },
		"approvers":  func(p *loop.Pending) { p.Approvers = []string{"g"} },
		"diff":       func(p *loop.Pending) { p.Diff = "+a" },
		"offers":     func(p *loop.Pending) { p.Offers = []loop.Standing{{AnyArguments: true}} },
		"plugin":     func(p *loop.Pending) { p.Question = &loop.ToolQuestion{Plugin: "p"} },
		"time":       func(p *loop.Pending) { p.Requested = time.Unix(1, 2) },
	} {
		other := base
		if change(&other); other.Etag() == etag || other.Etag() == "" {
			t.Errorf("%s: the etag is %q as before", name, etag)
		}
	}
	same := base
	same.Expires, same.Expiry, same.Requested = time.Unix(9, 0), time.Hour, base.Requested.In(time.FixedZone("", 3600))
	if same.Etag() != etag {
		t.Error("the etag changes with the end, or with the zone of the time")
	}
}
