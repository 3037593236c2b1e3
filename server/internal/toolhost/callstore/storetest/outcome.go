package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

func fullResult() tool.Result {
	binary := make([]byte, 300)
	for i := range binary {
		binary[i] = byte(i)
	}
	return tool.Result{
		Content: []tool.Content{
			tool.Text("a <b> & \u2028 é\x00"),
			tool.JSON(json.RawMessage("{ \"b\" : 1.0,\n\"a\":\"<&>\", \"a\": \"\\ud800\" }")),
			tool.Image("image/png", binary),
			tool.File("a.bin", "application/octet-stream", bytes.Repeat(binary, 100)),
			{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "h", MediaType: "text/plain", Size: math.MaxUint64, Head: "he", Tail: "ta"}},
		},
		IsError: true,
		Effects: []tool.Effect{
			{Key: "todos", Operation: tool.EffectAppend, Value: json.RawMessage(`[ 1, 2 ]`)},
			{Key: "plan", Operation: tool.EffectMerge, Value: json.RawMessage(`{"x":null}`)},
		},
		Duration: 3*time.Hour + 123456789*time.Nanosecond,
		Usage:    tool.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: math.MaxUint64},
		Cost:     0.1 + 0.2,
		Metadata: map[string]json.RawMessage{"repairs": json.RawMessage(` ["n"] `), "k": json.RawMessage(`null`)},
	}
}

func fullError() *tool.Error {
	return &tool.Error{
		Kind: tool.KindCrashed, Message: "it fell", RetryAfter: time.Second + 1, CallID: "a", Plugin: "mail", Instance: "mail-1", Rule: "no-writes",
		Exit:      &tool.Exit{Code: -1, Signal: "SIGKILL", OutOfMemory: true, Reason: "why", LastStderr: []string{"x", "", "y"}},
		Arguments: []byte(`{"a":1}`), FourEyes: true, ArgumentsSHA256: "5e", DefinitionSHA256: "6f", Decision: "calls/a", SessionMove: "4f1c", ApproverGroups: []string{"finance"}, Cost: 0.25,
	}
}

// testOutcomesSurvive checks that a stored outcome equals the first one to the byte.
func testOutcomesSurvive(t *testing.T, h Harness) {
	store := h.New(t, Config{Bounds: callstore.Bounds{MaxResult: 1 << 20}})
	outcomes := map[string]tool.Outcome{
		"full":    {Result: fullResult()},
		"empty":   {},
		"failed":  {Err: fullError()},
		"large":   {Result: tool.TextResult(strings.Repeat("x", 1<<20-100))},
		"unnamed": {Err: &tool.Error{Kind: tool.KindInternal}},
	}
	for id, out := range outcomes {
		Must(t, begin(t, store, Entry(id)), store.End(t.Context(), Key(id), out))
	}
	checkSet(t, reflect.ValueOf(fullResult()), "result")
	checkSet(t, reflect.ValueOf(fullError()), "error", "Err")
	store = h.Reopen(t, store)
	for id, out := range outcomes {
		out.CallID, out.Plugin = id, "mail"
		e := WantState(t, store, id, callstore.StateEnded)
		if e.Outcome == nil {
			t.Errorf("%s: the outcome is gone", id)
		} else if diff := cmp.Diff(out, *e.Outcome); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
		wantHow := tool.CallSucceeded
		if out.Err != nil {
			wantHow = tool.CallFailed
		} else if out.Result.IsError {
			wantHow = tool.CallToolError
		}
		if e.How != wantHow {
			t.Errorf("%s: it ended %q, want %q", id, e.How, wantHow)
		}
	}
}

// checkSet fails for a field that the fixture does not set, so that a new field cannot be forgotten
// here.
func checkSet(t *testing.T, v reflect.Value, path string, but ...string) {
	t.Helper()
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if len(but) > 0 && name == but[0] {
			continue
		}
		if v.Field(i).IsZero() {
			t.Errorf("the fixture leaves %s.%s unset", path, name)
		}
		checkSet(t, v.Field(i), path+"."+name)
	}
}

// testTooLargeAnOutcome checks that a store keeps only how a call ended if its outcome is too
// large, with a shortened message.
func testTooLargeAnOutcome(t *testing.T, h Harness) {
	store := h.New(t, Config{Bounds: callstore.Bounds{MaxResult: 10_000}})
	long := fullError()
	long.Message = strings.Repeat("ü", 10_000)
	for id, out := range map[string]tool.Outcome{
		"long":   Answer(strings.Repeat("x", 10_000)),
		"failed": {Plugin: "mail", Instance: "mail-1", Err: long},
	} {
		Must(t, begin(t, store, Entry(id)), store.End(t.Context(), Key(id), out))
	}
	if e := WantState(t, store, "long", callstore.StateEnded); e.Outcome != nil || e.How != tool.CallSucceeded || e.Instance != "mail-1" || e.Err != nil {
		t.Errorf("long: %+v", e)
	}
	e := WantState(t, store, "failed", callstore.StateEnded)
	want := fullError()
	want.Exit.LastStderr = nil
	if diff := cmp.Diff(want, e.Err, cmpopts.IgnoreFields(tool.Error{}, "Message")); diff != "" || e.How != tool.CallFailed || e.Outcome != nil {
		t.Errorf("failed: %q %v (-want +got):\n%s", e.How, e.Outcome, diff)
	}
	if n := len(e.Err.Message); n < 500 || n > 520 || !strings.HasPrefix(long.Message, strings.TrimSuffix(e.Err.Message, "…")) {
		t.Errorf("the message has %d bytes: %q", n, e.Err.Message)
	}
	if len(long.Exit.LastStderr) == 0 {
		t.Error("the error itself was changed")
	}
}

func testAnotherPlugin(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	Must(t, begin(t, store, Entry("a")), store.End(t.Context(), Key("a"), tool.Outcome{Plugin: "post", Instance: "post-7"}))
	if e := WantState(t, store, "a", callstore.StateEnded); fmt.Sprint(e.Plugin, e.Instance, e.Outcome.Plugin, e.Outcome.Instance) != "postpost-7postpost-7" {
		t.Errorf("got %+v", e)
	}
}

// testNothingShared checks that neither a change of what a caller passed to a store nor a change of
// what the store returned changes the store.
func testNothingShared(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	given := fullResult()
	Must(t, begin(t, store, Entry("a")), store.End(t.Context(), Key("a"), tool.Outcome{Result: given}))
	given.Content[0] = tool.Text("another")
	for range 2 {
		e := WantState(t, store, "a", callstore.StateEnded)
		if diff := cmp.Diff(fullResult(), e.Outcome.Result); diff != "" {
			t.Fatalf("the outcome (-want +got):\n%s", diff)
		}
		e.Outcome.Result.Content[0] = tool.Text("another")
	}
}
