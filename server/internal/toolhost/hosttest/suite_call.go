package hosttest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

func testResult(t *testing.T, h Host) {
	outcome := do(t, h, named("result-1", "echo", `{"text":"grüße"}`))
	if outcome.Err != nil {
		t.Fatal(outcome.Err)
	}
	if outcome.CallID != "result-1" || outcome.Plugin != PluginName || outcome.Instance == "" || outcome.Replayed {
		t.Errorf("got %+v", outcome)
	}
	if diff := cmp.Diff([]tool.Content{tool.Text("grüße")}, outcome.Result.Content); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if outcome.Result.Duration <= 0 {
		t.Errorf("the duration is %s", outcome.Result.Duration)
	}
	if minted := do(t, h, call("echo", `{"text":"x"}`)); tool.CheckID(minted.CallID) != nil {
		t.Errorf("a call without an id got %q", minted.CallID)
	}
}

func testToolError(t *testing.T, h Host) {
	r := result(t, h, call("fail", `{"message":"the disk is full"}`))
	if !r.IsError || r.Text() != "the disk is full" {
		t.Errorf("got %+v", r)
	}
}

func testInfrastructureError(t *testing.T, h Host) {
	for _, kind := range []tool.Kind{tool.KindUnavailable, tool.KindRateLimited, tool.KindInternal} {
		err := refused(t, h, named("broken-"+string(kind), "break", `{"kind":"`+string(kind)+`"}`), kind)
		if !strings.Contains(err.Message, "broken as asked: "+string(kind)) {
			t.Errorf("the message is %q", err.Message)
		}
		if err.RetryAfter != 1500*time.Millisecond || err.CallID != "broken-"+string(kind) || err.Plugin != PluginName || err.Instance == "" {
			t.Errorf("got %+v", err)
		}
	}
}

func testBadCalls(t *testing.T, h Host) {
	refused(t, h, call("absent", `{}`), tool.KindNotFound)
	refused(t, h, call("", `{}`), tool.KindNotFound)
	refused(t, h, named("a b", "echo", `{"text":"x"}`), tool.KindInvalidArgument)
	session := call("echo", `{"text":"x"}`)
	session.Session = strings.Repeat("s", 200)
	refused(t, h, session, tool.KindInvalidArgument)
	for _, arguments := range []string{`{"text":`, `nonsense`, `{}`, ``, `[1]`, `{"text":"x"} {}`} {
		r := result(t, h, call("echo", arguments))
		if !r.IsError || r.Text() == "" {
			t.Errorf("with the arguments %q: %+v", arguments, r)
		}
	}
	if instances, err := h.Instances(bounded(t), ""); err != nil || len(instances) != 0 {
		t.Errorf("bad calls started the instances %v, %v", instances, err)
	}
}

func testApproval(t *testing.T, h Host) {
	refused(t, h, call("danger", `{}`), tool.KindApprovalRequired)
	c := call("danger", `{}`)
	c.Approval = &tool.Approval{ApprovedBy: "a tester", Reason: "it is a test"}
	if got := text(t, h, c); got != "done" {
		t.Errorf("got %q", got)
	}
	// the digest of {}
	const digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	c.Approval.ArgumentsSHA256 = digest
	if got := text(t, h, c); got != "done" {
		t.Errorf("approved by digest: %q", got)
	}
	c.Approval.ArgumentsSHA256 = strings.Repeat("0", len(digest))
	asked := refused(t, h, c, tool.KindApprovalRequired)
	if string(asked.Arguments) != `{}` || asked.ArgumentsSHA256 != digest {
		t.Errorf("the answer that asks for approval has the arguments %s with the digest %s", asked.Arguments, asked.ArgumentsSHA256)
	}
}

func testCallContext(t *testing.T, h Host) {
	c := named("context-1", "inspect", "")
	c.Session = "session-1"
	c.Context = map[string]json.RawMessage{"note": json.RawMessage(`{"a":[1,2]}`), "secret": json.RawMessage(`"not asked for"`)}
	var got inspected
	if err := json.Unmarshal([]byte(text(t, h, c)), &got); err != nil {
		t.Fatal(err)
	}
	want := inspected{CallID: "context-1", Session: "session-1", Context: map[string]json.RawMessage{"note": json.RawMessage(`{"a":[1,2]}`)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the tool saw (-want +got):\n%s", diff)
	}
}

func testReplay(t *testing.T, h Host) {
	first := do(t, h, named("replay-1", "count", `{"key":"k"}`))
	again := do(t, h, named("replay-1", "count", `{"key":"k"}`))
	if first.Err != nil || first.Result.Text() != "1" || first.Replayed {
		t.Errorf("first: %+v", first)
	}
	if again.Err != nil || again.Result.Text() != "1" || !again.Replayed || again.Instance != first.Instance {
		t.Errorf("again: %+v", again)
	}
	other := named("replay-1", "count", `{"key":"k"}`)
	other.Session = "another"
	if got := text(t, h, other); got != "2" {
		t.Errorf("the same id in another session: count %s, want 2", got)
	}
}

func testJoin(t *testing.T, h Host) {
	first := open(t, h, named("join-1", "wait", `{"key":"k"}`), true)
	untilStatus(t, first, "waiting")
	second := open(t, h, named("join-1", "wait", `{"key":"k"}`), true)
	untilStatus(t, second, "waiting")
	if got := text(t, h, call("waiting", `{"key":"k"}`)); got != "1" {
		t.Errorf("%s executions wait, want 1", got)
	}
	text(t, h, call("release", `{"key":"k"}`))
	for _, e := range []tool.Execution{first, second} {
		events := drain(t, e)
		if end := events[len(events)-1].Ended; end.Err != nil || end.Result.Text() != "released" {
			t.Errorf("got %+v", end)
		}
	}
}

func testConflict(t *testing.T, h Host) {
	text(t, h, named("conflict-1", "count", `{"key":"a"}`))
	refused(t, h, named("conflict-1", "count", `{"key":"b"}`), tool.KindConflict)
	refused(t, h, named("conflict-1", "echo", `{"text":"a"}`), tool.KindConflict)
	if got := text(t, h, call("count", `{"key":"a"}`)); got != "2" {
		t.Errorf("the count is %s after a conflict, want 2", got)
	}
}

func testLargeResults(t *testing.T, h Host) {
	for _, kind := range []tool.ContentKind{tool.ContentText, tool.ContentJSON, tool.ContentImage, tool.ContentFile} {
		for _, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 10 << 20} {
			arguments, err := json.Marshal(map[string]any{"kind": kind, "bytes": size})
			if err != nil {
				t.Fatal(err)
			}
			if kind == tool.ContentFile && size > 64<<10 || kind == tool.ContentImage && size > 5<<20 {
				continue // a host may always make an artifact of it
			}
			c := call("large", string(arguments))
			c.MaxShown = everything()
			got := result(t, h, c)
			if diff := cmp.Diff(summaries(largeContent(string(kind), size)), summaries(got.Content)); diff != "" {
				t.Errorf("%s of %d bytes (-want +got):\n%s", kind, size, diff)
			}
		}
	}
}

// A host does not execute a call that was first sent to another ledger, and executes a call that
// was first sent to its ledger.
func testAnotherLedger(t *testing.T, h Host) {
	if _, err := h.ListTools(t.Context(), tool.Query{}); err != nil {
		t.Fatal(err)
	}
	here := named("ledger-1", "echo", `{"text":"x"}`)
	if here.Ledger = h.LedgerID(); here.Ledger == "" {
		t.Fatal("the host has no ledger")
	}
	result(t, h, here)
	for _, name := range []string{"echo", "a_tool_that_is_gone"} {
		elsewhere := named("ledger-2", name, `{"text":"x"}`)
		elsewhere.Ledger = "5f2c6e0d"
		if err := refused(t, h, elsewhere, tool.KindOutcomeUnknown); err.CallID != "ledger-2" {
			t.Errorf("the error names the call %q", err.CallID)
		}
	}
	if outcome := do(t, h, named("ledger-2", "echo", `{"text":"x"}`)); outcome.Err != nil || outcome.Replayed {
		t.Errorf("the id was used: %+v", outcome)
	}
}
