package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// A review says how a call would end unexecuted. It executes nothing, starts no process, and leaves
// no trace of the call, whose id stays free.
func TestReviewExecutesNothing(t *testing.T) {
	var executed []string
	free := hosttest.Tool{
		Spec: tool.Spec{Name: "free", Description: "Does it.", InputSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)},
		Run: func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
			executed = append(executed, string(c.Arguments))
			return tool.TextResult("done"), nil
		},
	}
	r := newRig(t, []hosttest.Tool{pays(&executed), free}, nil)
	memory := budget.New(64<<20, 0)
	account, err := memory.Open("somebody")
	if err != nil {
		t.Fatal(err)
	}
	before := memory.Used()
	ctx := budget.NewContext(t.Context(), account)
	_, err = r.Review(ctx, tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked)})
	digest := wantAsked(t, tool.Outcome{Err: tool.AsError(err)}, askedPays)
	for name, test := range map[string]struct {
		call   tool.Call
		kind   tool.Kind
		result string
	}{
		"would be executed":       {call: tool.Call{ID: "f", Tool: "free", Arguments: []byte(`{"n":1}`)}},
		"without an id":           {call: tool.Call{Tool: "free", Arguments: []byte(`{"n":1}`)}},
		"approved":                {call: tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked), Approval: &tool.Approval{ApprovedBy: "Ada", ArgumentsSHA256: digest}}},
		"no JSON":                 {call: tool.Call{ID: "f", Tool: "free", Arguments: []byte(`{"n":`)}, result: "JSON"},
		"arguments that miss one": {call: tool.Call{ID: "f", Tool: "free"}, result: "n"},
		"no such tool":            {call: tool.Call{ID: "f", Tool: "fre"}, kind: tool.KindNotFound},
		"no such id":              {call: tool.Call{ID: "\n", Tool: "free"}, kind: tool.KindInvalidArgument},
		"too large":               {call: tool.Call{ID: "f", Tool: "free", Arguments: json.RawMessage(strings.Repeat(" ", 64<<20))}, kind: tool.KindInvalidArgument},
	} {
		result, err := r.Review(ctx, test.call)
		switch {
		case test.kind != "" || err != nil:
			if test.kind == "" || tool.KindOf(err) != test.kind {
				t.Errorf("%s: %v, want %q", name, err, test.kind)
			}
		case test.result == "" && result != nil, test.result != "" && (result == nil || !result.IsError || !strings.Contains(result.Text(), test.result)):
			t.Errorf("%s: the result is %+v, want %q", name, result, test.result)
		}
	}
	for range 200 { // more than a connection has for itself
		if _, err := r.Review(ctx, tool.Call{ID: "f", Tool: "free", Arguments: []byte(`{"n":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if used := memory.Used(); used != before {
		t.Errorf("the reviews hold %d bytes, %d before", used, before)
	}
	if len(executed) != 0 || r.started() != 0 {
		t.Errorf("%q were executed, by %d processes", executed, r.started())
	}
	page, err := r.Calls(t.Context(), tool.CallQuery{})
	if err != nil || len(page.Calls) != 0 {
		t.Errorf("operators see the calls %+v, %v", page.Calls, err)
	}
	stats, err := r.Stats(t.Context(), tool.StatsQuery{})
	for _, s := range stats {
		if s.Calls != 0 || err != nil {
			t.Errorf("the statistics count %+v, %v", s, err)
		}
	}
	approved := outcome(t, r, tool.Call{ID: "p", Tool: "pay", Arguments: []byte(asked), Approval: &tool.Approval{ApprovedBy: "Ada", ArgumentsSHA256: digest}})
	if approved.Err != nil || len(executed) != 1 || executed[0] != askedPays {
		t.Errorf("the call that was approved by its review ended with %+v and executed %q", approved, executed)
	}
}
