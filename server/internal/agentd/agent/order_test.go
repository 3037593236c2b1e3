package agent_test

import (
	"context"
	"encoding/json"
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

// All decisions of a response are asked together, also of calls that have to wait, and asking
// executes nothing. A toolhost that cannot review calls asks one after the other.
func TestDecisionsOfAResponseAreAskedTogether(t *testing.T) {
	for name, test := range map[string]struct {
		review func(ctx context.Context, call tool.Call) (*tool.Result, error)
		asked  []int // the decisions that wait, before each is made
	}{
		"together": {func(ctx context.Context, call tool.Call) (*tool.Result, error) {
			out := careful(ctx, call, nil)
			if out.Err == nil {
				return nil, nil
			}
			return nil, out.Err
		}, []int{3, 2, 1}},
		"an older toolhost": {func(context.Context, tool.Call) (*tool.Result, error) {
			return nil, tool.Errorf(tool.KindUnsupported, "unknown method ReviewCall")
		}, []int{1, 1, 1}},
		"no toolhost that reviews": {nil, []int{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tools := newTools(careful)
				tools.infos = []tool.Info{{Spec: tool.Spec{Name: "write"}}}
				m := turns(response(model.StopToolUse, call("a", "write"), call("b", "write"), call("c", "write")), response(model.StopEndTurn, text("ok")))
				f := newFixture(t, m, tools, func(c *agent.Config) { withPeople(c); c.ReviewCall = test.review })
				f.start(loop.Task{})
				for i, want := range test.asked {
					synctest.Wait()
					run, err := f.GetRun(t.Context(), "r")
					if err != nil || run.State() != agent.RunWaiting || len(run.Pending) != want {
						t.Fatalf("before decision %d: the run is %+v, %v; want %d decisions", i+1, run, err, want)
					}
					if got := tools.executions(); i == 0 && len(got) != 1 {
						t.Errorf("calls were opened to ask about them: %v", got)
					}
					last := run.Pending[len(run.Pending)-1]
					if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: last.ID, Verdict: loop.VerdictApprove, Arguments: []byte(`{}`)}); err != nil {
						t.Fatal(err)
					}
				}
				if end := f.end(); end.StopReason != loop.StopEndTurn {
					t.Errorf("ended with %+v", end)
				}
				var order []string
				for _, e := range f.watch(0) {
					if r, ok := e.Payload.(*loop.CallResult); ok && r.Failure == nil {
						order = append(order, r.CallID)
					}
				}
				if diff := cmp.Diff([]string{"r.t1.c0", "r.t1.c1", "r.t1.c2"}, order); diff != "" {
					t.Errorf("executed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Two calls of one response write a file, and one reads it. The file has what the last one wrote,
// and the read sees what stood before it, although each call takes less time than the one before.
func TestWritesOfAResponseKeepItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var file, read string
		tools := newTools(func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			var in struct {
				Content string `json:"content"`
				Delay   int    `json:"delay"`
			}
			if err := json.Unmarshal(call.Arguments, &in); err != nil {
				return tool.Outcome{CallID: call.ID, Err: tool.AsError(err)}
			}
			time.Sleep(time.Duration(in.Delay) * time.Second)
			mu.Lock()
			defer mu.Unlock()
			if call.Tool == "write_file" {
				file = in.Content
			} else {
				read = file
			}
			return tool.Outcome{CallID: call.ID, Result: tool.TextResult("done")}
		})
		tools.infos = []tool.Info{{Spec: tool.Spec{Name: "write_file", Idempotent: true}}, {Spec: tool.Spec{Name: "read_file", ReadOnly: true}}}
		with := func(id, name, arguments string) model.Block {
			b := call(id, name)
			b.ToolCall.Arguments = arguments
			return b
		}
		m := turns(response(model.StopToolUse,
			with("a", "write_file", `{"content":"first","delay":3}`), with("b", "read_file", `{"delay":2}`), with("c", "write_file", `{"content":"second","delay":1}`)),
			response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, tools, nil)
		f.start(loop.Task{})
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Fatalf("ended with %+v", end)
		}
		if file != "second" || read != "first" {
			t.Errorf("the file has %q, and %q was read", file, read)
		}
	})
}
