package loop_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// ordered are tools of each kind that the order of calls distinguishes.
var ordered = []tool.Info{
	{Spec: tool.Spec{Name: "write"}},
	{Spec: tool.Spec{Name: "put", Idempotent: true}}, // may be repeated, but not moved
	{Spec: tool.Spec{Name: "read", ReadOnly: true}},
	{Spec: tool.Spec{Name: "hint", Dangerous: true, Metadata: map[string]json.RawMessage{"mcp": json.RawMessage(`{"read_only_hint":true}`)}}},
	{Spec: tool.Spec{Name: "odd", Metadata: map[string]json.RawMessage{"mcp": json.RawMessage(`{"read_only_hint":"yes"}`)}}},
	{Spec: tool.Spec{Name: "send", Parallel: true}},
	{Spec: tool.Spec{Name: "look", ReadOnly: true, Parallel: true}},
	{Spec: tool.Spec{Name: "alone", Serial: true}},
	{Spec: tool.Spec{Name: "both", Serial: true, Parallel: true}},
	{Spec: tool.Spec{Name: "broken"}, UnavailableReason: "it needs a key"},
}

// Which calls of a response begin together. Each group begins when the one before has results.
func TestOrderOfCalls(t *testing.T) {
	for names, want := range map[string]string{
		"write write":                       "0 | 1",
		"write put odd write":               "0 | 1 | 2 | 3",
		"read read hint":                    "0 1 2",
		"read write read read write read":   "0 | 1 | 2 3 | 4 | 5",
		"write hint read write":             "0 | 1 2 | 3",
		"write send write look read":        "0 1 3 | 2 | 4",
		"send send write":                   "0 1 2",
		"write new_task new_task write":     "0 1 2 | 3",
		"read alone read":                   "0 | 1 | 2",
		"send both send":                    "0 | 1 | 2",
		"write missing broken write":        "0 | 3",
		"attempt_completion write write":    "1 | 2",
		"alone attempt_completion new_task": "0 | 2",
	} {
		f := newFolderOf(t, loop.RunStarted{SystemTools: loop.SystemTools(), SubRuns: 1})
		f.respondWith(ordered, strings.Fields(names)...)
		var got []string
		for ids := f.running(); len(ids) > 0; ids = f.running() {
			var group []string
			for _, id := range ids {
				group = append(group, strings.TrimPrefix(id, "r.t1.c"))
			}
			got = append(got, strings.Join(group, " "))
			if len(got) == 1 && len(ids) > 1 && ids[0] == "r.t1.c0" && strings.HasPrefix(want, "0 1") {
				slices.Reverse(ids) // the order of the results does not matter
			}
			for _, id := range ids {
				f.result(id, "ok")
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " | ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", names, diff)
		}
	}
}

// respondWith folds a response that calls tools with arguments that each of them takes.
func (f *folder) respondWith(offered []tool.Info, names ...string) {
	f.t.Helper()
	var blocks []model.Block
	for i, name := range names {
		b := call(fmt.Sprint(i), name)
		b.ToolCall.Arguments = `{"question":"what?","result":"this","task":"do it"}`
		blocks = append(blocks, b)
	}
	resp := &model.Response{Message: model.Message{Blocks: blocks}, StopReason: model.StopToolUse}
	f.add(f.state.Respond(resp, offered, f.state.Seq()))
}

// A call that waits for a person holds the calls that follow it. One that was rejected, or failed,
// holds none.
func TestOrderBehindADecision(t *testing.T) {
	for name, verdict := range map[string]loop.Verdict{"approved": loop.VerdictApprove, "rejected": loop.VerdictReject} {
		f := newFolderOf(t, attended())
		f.respondWith(ordered, "write", "read", "send", "write", "read")
		f.ended(&loop.CallResult{CallID: "r.t1.c0", Result: tool.ErrorResult("ask"), Failure: &loop.Failure{Kind: tool.KindApprovalRequired}})
		if diff := cmp.Diff([]string{"r.t1.c2"}, f.running()); diff != "" {
			t.Errorf("behind a call that waits (-want +got):\n%s", diff)
		}
		f.add(&loop.DecisionMade{ID: "d1", Verdict: verdict})
		if verdict == loop.VerdictApprove {
			if diff := cmp.Diff([]string{"r.t1.c0", "r.t1.c2"}, f.running()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			f.failed("r.t1.c0", tool.KindCrashed)
		}
		if diff := cmp.Diff([]string{"r.t1.c1", "r.t1.c2"}, f.running()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		f.result("r.t1.c2", "sent")
		f.ended(&loop.CallResult{CallID: "r.t1.c1", Result: tool.ErrorResult("ask"), Failure: &loop.Failure{Kind: tool.KindApprovalRequired}})
		if got := f.running(); len(got) != 0 {
			t.Errorf("%s: %v began while a read before it waits", name, got)
		}
		f.add(&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictReject})
		if diff := cmp.Diff([]string{"r.t1.c3"}, f.running()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// reviews returns the calls that are to be reviewed.
func (f *folder) reviews() []string {
	var ids []string
	for _, command := range loop.Next(&f.state) {
		if c, ok := command.(loop.ReviewCall); ok {
			ids = append(ids, c.Call.ID)
		}
	}
	return ids
}

// needsApproval is how a call ends that nobody has approved.
func needsApproval(id string) *loop.CallResult {
	return &loop.CallResult{CallID: id, Result: tool.ErrorResult("ask"), Failure: &loop.Failure{Kind: tool.KindApprovalRequired, Rule: "careful"}}
}

// Once a call waits for a person, the calls that it holds are reviewed, so that all decisions of
// the response are asked together. Their effects keep the order, whatever is decided first.
func TestDecisionsOfAResponseAreAskedTogether(t *testing.T) {
	f := newFolderOf(t, attended())
	f.respondWith(ordered, "write", "write", "read", "write")
	if got := f.reviews(); len(got) != 0 {
		t.Fatalf("%v are reviewed before anything waits for a person", got)
	}
	f.ended(needsApproval("r.t1.c0"))
	if diff := cmp.Diff([]string{"r.t1.c1", "r.t1.c2", "r.t1.c3"}, f.reviews()); diff != "" {
		t.Fatalf("behind a call that waits (-want +got):\n%s", diff)
	}
	denied := &loop.CallResult{CallID: "r.t1.c2", Failure: &loop.Failure{Kind: tool.KindDenied}}
	for _, r := range []*loop.CallResult{denied, needsApproval("r.t1.c9"), needsApproval("r.t1.c0")} {
		if p := loop.Review(&f.state, r); p != nil {
			t.Errorf("%s: a person is asked: %+v", r.CallID, p)
		}
	}
	f.add(loop.Review(&f.state, needsApproval("r.t1.c3")))
	f.add(loop.Review(&f.state, needsApproval("r.t1.c1")))
	if diff := cmp.Diff([]string{"r.t1.c2"}, f.reviews()); diff != "" {
		t.Errorf("reviewed after that (-want +got):\n%s", diff)
	}
	var asked []string
	for _, p := range f.state.Pending() {
		asked = append(asked, p.ID+" "+p.CallID+" "+p.Rule)
	}
	if diff := cmp.Diff([]string{"d1 r.t1.c0 careful", "d2 r.t1.c3 careful", "d3 r.t1.c1 careful"}, asked); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	f.add(&loop.DecisionMade{ID: "d2", Verdict: loop.VerdictApprove})
	f.add(&loop.DecisionMade{ID: "d3", Verdict: loop.VerdictReject})
	if got := f.running(); len(got) != 0 {
		t.Fatalf("%v began before the call that they follow was decided", got)
	}
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove})
	for _, id := range []string{"r.t1.c0", "r.t1.c2", "r.t1.c3"} {
		if diff := cmp.Diff([]string{id}, f.running()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if id == "r.t1.c3" && f.state.Batch().Call(id).Approval == nil {
			t.Error("the approval is not sent with the call")
		}
		f.result(id, "ok")
	}
}

// Without a person, nothing is reviewed, and neither is a call that waits for no decision.
func TestNothingIsReviewedInVain(t *testing.T) {
	for name, started := range map[string]loop.RunStarted{"headless": {}, "attended": attended()} {
		f := newFolderOf(t, started)
		f.respondWith(ordered, "write", "write")
		if started.People.Attended {
			f.add(&loop.CancelRequested{Reason: "enough"})
		} else {
			f.ended(needsApproval("r.t1.c0"))
		}
		if got := f.reviews(); len(got) != 0 {
			t.Errorf("%s: %v are reviewed", name, got)
		}
	}
}

// A call sees the changes of the context that the calls before it made, if it follows them.
func TestOrderedCallsSeeEffects(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.respondWith(ordered, "write", "send", "write", "read")
	change := func(id, value string) *loop.CallResult {
		return &loop.CallResult{CallID: id, Result: tool.Result{Effects: []tool.Effect{effect("todos", tool.EffectAppend, value)}}}
	}
	f.add(change("r.t1.c1", `"sent"`))
	f.add(change("r.t1.c0", `"first"`))
	f.add(change("r.t1.c2", `"second"`))
	for id, want := range map[string]string{"r.t1.c0": "", "r.t1.c1": "", "r.t1.c2": `["first"]`, "r.t1.c3": `["first","second"]`} {
		if got := string(f.state.Context(1, id)["todos"]); got != want {
			t.Errorf("%s sees %s, want %s", id, got, want)
		}
	}
	f.result("r.t1.c3", "ok")
	if got := string(f.state.Context(2, "")["todos"]); got != `["first","sent","second"]` {
		t.Errorf("after the response the todos are %s", got)
	}
}

// TestAnyResponse executes random responses. Whatever ends when, and whatever people decide, the
// effects are those of executing the calls with side effects one after the other, each read sees
// exactly the effects before it, and every call gets its result.
func TestAnyResponse(t *testing.T) {
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 3))
		x := &executor{rand: r, folder: newFolderOf(t, loop.RunStarted{
			SystemTools: loop.SystemTools(), SubRuns: 1, People: loop.People{Attended: r.IntN(4) > 0, Expiry: time.Hour, AskOutcome: r.IntN(2) == 0},
		})}
		names := []string{"write", "write", "put", "read", "read", "hint", "odd", "send", "look", "missing", "broken", loop.SystemNewTask, loop.SystemAskUser}
		if seed%3 == 0 {
			names = append(names, "alone", "both")
		}
		for range 1 + r.IntN(9) {
			x.names = append(x.names, names[r.IntN(len(names))])
		}
		x.respondWith(ordered, x.names...)
		x.execute(seed)
	}
}

// executor executes the calls of one response, and knows by itself what their order means.
type executor struct {
	*folder
	rand     *rand.Rand
	names    []string
	progress []int // the calls that have begun and not ended
	begun    []int // the calls that ever began
}

func (x *executor) is(i int, names ...string) bool { return slices.Contains(names, x.names[i]) }
func (x *executor) reads(i int) bool               { return x.is(i, "read", "hint") }
func (x *executor) writes(i int) bool              { return x.is(i, "write", "put", "odd", "alone", "both") }

func (x *executor) execute(seed uint64) {
	serial := slices.Contains(x.names, "alone") || slices.Contains(x.names, "both")
	for steps := 0; x.state.Batch().Size() > 0; steps++ {
		if steps > 200 {
			x.t.Fatalf("seed %d: %q does not end: %+v", seed, x.names, loop.Next(&x.state))
		}
		for _, id := range x.running() {
			var i int
			if _, err := fmt.Sscanf(id, "r.t1.c%d", &i); err != nil {
				x.t.Fatal(err)
			}
			if !slices.Contains(x.progress, i) {
				x.begin(seed, i, serial)
			}
		}
		for _, id := range x.reviews() {
			if p := loop.Review(&x.state, needsApproval(id)); p != nil && x.rand.IntN(2) == 0 {
				x.add(p)
			}
		}
		pending := x.state.Pending()
		switch {
		case len(x.progress) > 0 && (len(pending) == 0 || x.rand.IntN(2) == 0):
			k := x.rand.IntN(len(x.progress))
			i := x.progress[k]
			x.progress = slices.Delete(x.progress, k, k+1)
			x.ended(x.outcome(i))
		case len(pending) > 0:
			x.decide(&pending[x.rand.IntN(len(pending))])
		default:
			x.t.Fatalf("seed %d: %q stands still: %+v", seed, x.names, loop.Next(&x.state))
		}
	}
}

// begin checks a call against those that began before.
func (x *executor) begin(seed uint64, i int, serial bool) {
	if serial && len(x.progress) > 0 {
		x.t.Fatalf("seed %d: %q: call %d begins beside %v", seed, x.names, i, x.progress)
	}
	for _, j := range x.begun {
		later, beside := j > i, slices.Contains(x.progress, j)
		switch {
		case x.writes(i) && (x.writes(j) || x.reads(j)), x.reads(i) && x.writes(j):
			if later || beside {
				x.t.Fatalf("seed %d: %q: call %d begins after %v began, beside %v", seed, x.names, i, x.begun, x.progress)
			}
		}
	}
	x.progress, x.begun = append(x.progress, i), append(x.begun, i)
}

func (x *executor) outcome(i int) *loop.CallResult {
	r := &loop.CallResult{CallID: fmt.Sprintf("r.t1.c%d", i), Tool: x.names[i], Result: tool.TextResult("ok")}
	kinds := []tool.Kind{tool.KindApprovalRequired, tool.KindApprovalRequired, tool.KindOutcomeUnknown, tool.KindCrashed, tool.KindDenied}
	switch x.rand.IntN(4) {
	case 0:
		r.Failure, r.Result = &loop.Failure{Kind: kinds[x.rand.IntN(len(kinds))], Message: "went wrong"}, tool.ErrorResult("went wrong")
	case 1:
		r.Result = tool.ErrorResult("bad")
	}
	return r
}

func (x *executor) decide(p *loop.Pending) {
	verdicts := []loop.Verdict{loop.VerdictApprove, loop.VerdictReject, loop.VerdictAnswer, loop.VerdictExpired}
	d := &loop.DecisionMade{ID: p.ID, Verdict: verdicts[x.rand.IntN(len(verdicts))], Text: "so"}
	if x.state.Check(d) == nil {
		x.add(d)
	}
}
