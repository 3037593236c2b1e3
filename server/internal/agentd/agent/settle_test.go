package agent_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// A run sends a lost call again if its tool can settle it, and continues with what was settled. A
// person is asked only about what stays unknown.
func TestARunContinuesWithWhatWasSettled(t *testing.T) {
	lost := tool.Errorf(tool.KindOutcomeUnknown, "the process ended")
	for name, test := range map[string]struct {
		settles  bool
		repeated tool.Outcome
		want     string // what the model reads; empty: a person is asked
		repeats  int32
	}{
		"it happened": {
			true, tool.Outcome{Result: tool.TextResult("paid before"), Settled: &tool.Settlement{Verdict: tool.VerdictHappened}}, "paid before", 1,
		},
		"it did not happen": {
			true, tool.Outcome{Result: tool.TextResult("paid now"), Settled: &tool.Settlement{Verdict: tool.VerdictDidNotHappen}}, "paid now", 1,
		},
		"the tool does not know": {
			true, tool.Outcome{Err: lost, Settled: &tool.Settlement{Verdict: tool.VerdictUnknown, Reason: "no book"}}, "", 1,
		},
		"the second execution is lost too": {true, tool.Outcome{Err: lost}, "", 3},
		"the tool cannot be asked":         {false, tool.Outcome{Result: tool.TextResult("never")}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tools := newTools(func(_ context.Context, c tool.Call, _ func(tool.Status)) tool.Outcome {
					return tool.Outcome{CallID: c.ID, Plugin: "p", Err: lost}
				})
				tools.infos = slices.Clone(tools.infos)
				for i := range tools.infos {
					tools.infos[i].Spec.Settles = test.settles && tools.infos[i].Spec.Name == "serial"
				}
				var repeats atomic.Int32
				tools.repeated = func(c tool.Call) tool.Outcome {
					repeats.Add(1)
					out := test.repeated
					out.CallID = c.ID
					return out
				}
				m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("done")))
				f := newFixture(t, m, tools, func(c *agent.Config) { c.People = loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true} })
				f.start(loop.Task{})
				var asked bool
				var result *loop.CallResult
				for _, e := range f.watch(0) {
					switch p := e.Payload.(type) {
					case *loop.DecisionRequested:
						asked = asked || p.Kind == loop.DecideOutcome
					case *loop.CallResult:
						result = p
					}
				}
				if asked != (test.want == "") || repeats.Load() != test.repeats {
					t.Errorf("a person was asked: %v; the call was repeated %d times, want %d", asked, repeats.Load(), test.repeats)
				}
				if result == nil {
					t.Fatal("the call has no result")
				}
				if test.want != "" && (result.Result.Text() != test.want || result.Settled == nil || *result.Settled != *test.repeated.Settled) {
					t.Errorf("the result is %+v", result)
				}
				run, err := f.GetRun(t.Context(), "r")
				if err != nil {
					t.Fatal(err)
				}
				var counted loop.Settlements
				if said := test.repeated.Settled; said != nil {
					counted = map[tool.Verdict]loop.Settlements{
						tool.VerdictHappened: {Happened: 1}, tool.VerdictDidNotHappen: {Repeated: 1}, tool.VerdictUnknown: {Unknown: 1},
					}[said.Verdict]
				}
				if run.Settled != counted {
					t.Errorf("the summary has %+v, want %+v", run.Settled, counted)
				}
				if read := m.seen()[1].Messages[2].Blocks[0].ToolResult.Content[0].Text; !strings.Contains(read, test.want) {
					t.Errorf("the model reads %q", read)
				}
			})
		})
	}
}

// An agent that gets a run after it waited for a person does not know what the tools declare, and
// sends a lost call again, too.
func TestACallThatWaitedIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attended := func(c *agent.Config) { c.People = loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true} }
		tools := newTools(func(ctx context.Context, c tool.Call, status func(tool.Status)) tool.Outcome {
			if c.Approval == nil {
				return careful(ctx, c, status)
			}
			return tool.Outcome{CallID: c.ID, Err: tool.Errorf(tool.KindOutcomeUnknown, "the process ended")}
		})
		tools.repeated = func(c tool.Call) tool.Outcome {
			return tool.Outcome{CallID: c.ID, Result: tool.TextResult("paid before"), Settled: &tool.Settlement{Verdict: tool.VerdictHappened}}
		}
		m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("done")))
		f := newFixture(t, m, tools, attended)
		f.start(loop.Task{})
		synctest.Wait()
		f.Close()
		f.open(attended)
		defer f.Close()
		if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove}); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.Text != "done" {
			t.Errorf("the run ended with %+v", end)
		}
		if read := m.seen()[1].Messages[2].Blocks[0].ToolResult.Content[0].Text; read != "paid before" {
			t.Errorf("the model reads %q", read)
		}
	})
}

// A call that a person lets make again names the one that must not be executed any more.
func TestACallNamesTheOneThatItRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []tool.Call
		tools := newTools(func(_ context.Context, c tool.Call, _ func(tool.Status)) tool.Outcome {
			if sent = append(sent, c); len(sent) == 1 {
				return tool.Outcome{CallID: c.ID, Plugin: "p", Err: tool.Errorf(tool.KindOutcomeUnknown, "the process ended")}
			}
			return tool.Outcome{CallID: c.ID, Plugin: "p", Result: tool.TextResult("done")}
		})
		m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("done")))
		f := newFixture(t, m, tools, func(c *agent.Config) { c.People = loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true} })
		f.start(loop.Task{})
		synctest.Wait()
		run, err := f.GetRun(t.Context(), "r")
		if err != nil || len(run.Pending) != 1 {
			t.Fatalf("the run waits for %+v, %v", run.Pending, err)
		}
		if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: run.Pending[0].ID, Verdict: loop.VerdictApprove}); err != nil {
			t.Fatal(err)
		}
		f.watch(0)
		if len(sent) != 2 || sent[0].Supersedes != nil || !slices.Equal(sent[1].Supersedes, []string{sent[0].ID}) {
			t.Errorf("sent: %+v", sent)
		}
	})
}
