package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func assistant(text string, calls ...client.ToolCall) *client.AssistantMessage {
	return &client.AssistantMessage{Text: text, Calls: calls}
}

func TestTextDisplay(t *testing.T) {
	began := time.Unix(0, 0)
	for name, test := range map[string]struct {
		events []client.RunEvent
		want   string
	}{
		"a response that was reset": {
			[]client.RunEvent{
				{Payload: &client.TextDelta{Text: "hal"}}, {Payload: &client.TurnReset{Reason: "overloaded", Attempt: 2}},
				{Payload: &client.TextDelta{Text: "whole"}}, {Payload: assistant("whole")},
			},
			"hal\n↻ asking again (attempt 2): overloaded\nwhole\n",
		},
		"a response whose deltas were missed": {[]client.RunEvent{{Payload: assistant("all at once")}}, "all at once\n"},
		"a direct result":                     {[]client.RunEvent{{Payload: &client.RunEnded{StopReason: "return_direct", Text: "42"}}}, "42\n"},
		"what could steer a terminal": {
			[]client.RunEvent{{Payload: &client.TextDelta{Text: "a\x1b[31mb\r\tc\n"}}, {Payload: assistant("x")}},
			"a\\x1b[31mb\\r\tc\n",
		},
		"a slow call with a status": {
			[]client.RunEvent{
				{Payload: assistant("", client.ToolCall{CallID: "c", Tool: "fetch", Arguments: json.RawMessage("{\n  \"url\": 1}")})},
				{Time: began, Payload: &client.CallStarted{CallID: "c", Tool: "fetch"}},
				{Payload: &client.CallStatus{CallID: "c", Tool: "fetch", Status: tool.Status{Message: "half"}}},
				{Payload: &client.CallStatus{CallID: "c", Tool: "fetch", Status: tool.Status{Message: "half"}}},
				{Time: began.Add(83 * time.Second), Payload: &client.CallResult{CallID: "c", Tool: "fetch", Result: tool.TextResult("line 1\nline 2")}},
			},
			"→ fetch {   \"url\": 1}\n  fetch: half\n✓ fetch (1m23s) line 1…\n",
		},
		"a call with a name that could steer a terminal": {
			[]client.RunEvent{
				{Payload: assistant("", client.ToolCall{CallID: "c", Tool: "x\x1b[2J\ny"})},
				{Payload: &client.CallResult{CallID: "c", Tool: "x\x1b[2J\ny", Result: tool.ErrorResult("there is none")}},
			},
			"✗ x\\x1b[2J y (not made) there is none\n",
		},
		"an answered question": {
			[]client.RunEvent{{Payload: &client.CallResult{CallID: "c", Tool: "ask_user", Result: tool.TextResult("left")}}},
			"✓ ask_user left\n",
		},
		"a call that is approved with other arguments": {
			[]client.RunEvent{
				{Payload: assistant("", client.ToolCall{CallID: "c", Tool: "drop", Arguments: json.RawMessage(`{"x":1}`)})},
				{Time: began, Payload: &client.CallStarted{CallID: "c", Tool: "drop"}},
				{Payload: &client.DecisionRequested{Decision: client.PendingDecision{ID: "d1", Kind: client.DecideApproval, CallID: "c", Tool: "drop", Reason: "dangerous"}}},
				{Payload: &client.DecisionMade{ID: "d1", Verdict: client.Approve, Arguments: []byte(`{"x":2}`)}},
				{Time: began, Payload: &client.CallStarted{CallID: "c", Tool: "drop", Attempt: 2}},
			},
			"→ drop {\"x\":1}\n? drop needs approval (d1): dangerous\n  drop\n    x: 1\n✓ d1 approved with {\"x\":2}\n→ drop {\"x\":2}\n",
		},
		"a call that is rejected was not made": {
			[]client.RunEvent{
				{Time: began, Payload: &client.CallStarted{CallID: "c", Tool: "drop"}},
				{Payload: assistant("", client.ToolCall{CallID: "c", Tool: "drop"})},
				{Payload: &client.DecisionRequested{Decision: client.PendingDecision{ID: "d1", Kind: client.DecideApproval, CallID: "c", Tool: "drop", Reason: "dangerous"}}},
				{Payload: &client.DecisionMade{ID: "d1", Verdict: client.Reject}},
				{Time: began.Add(time.Hour), Payload: &client.CallResult{CallID: "c", Tool: "drop", Result: tool.ErrorResult("no")}},
			},
			"→ drop\n? drop needs approval (d1): dangerous\n  drop\n✗ d1 rejected\n✗ drop (not made) no\n",
		},
		"a summary that could not be had": {
			[]client.RunEvent{{Payload: &client.Compacted{Failure: "the conversation could not be summed up: overloaded"}}},
			"! the conversation could not be summed up: overloaded\n",
		},
		"a run whose time is up": {
			[]client.RunEvent{{Payload: &client.CancelRequested{StopReason: "wall_time", Reason: "an hour"}}}, "■ cancelling: an hour\n",
		},
		"combining marks in pieces": {
			[]client.RunEvent{
				{Payload: &client.TextDelta{Text: "z\u0301\u0301\u0301"}}, {Payload: &client.TextDelta{Text: "\u0301\u0301"}}, {Payload: assistant("")},
			},
			"z\u0301\u0301\u0301\u0301" + `\u0301` + "\n",
		},
		"a cancellation": {[]client.RunEvent{{Payload: &client.TextDelta{Text: "a"}}, {Payload: &client.CancelRequested{}}}, "a\n■ cancelling\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := newTextDisplay(cli.Process{Stdout: &out, Getenv: func(string) string { return "" }})
			for _, e := range test.events {
				if err := d.show(e); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONDisplayOfStrangeThings(t *testing.T) {
	var out bytes.Buffer
	d := &jsonDisplay{out: &out}
	events := []client.RunEvent{
		{Seq: 1, Type: "assistant_message", Payload: assistant("", client.ToolCall{CallID: "a", Tool: "t", Arguments: json.RawMessage(`{"x":"<&>"}`)}, client.ToolCall{CallID: "b", Tool: "t", Arguments: json.RawMessage(`{"x`)}, client.ToolCall{CallID: "c", Tool: "t"})},
		{Seq: 2, Index: 1, Type: "call_status", Payload: &client.CallStatus{CallID: "a", Tool: "t", Status: tool.Status{State: tool.StatusDoing, Message: "half"}}},
		{Seq: 2, Type: "call_result", Payload: &client.CallResult{CallID: "a", Tool: "t", Result: tool.ErrorResult("[crashed] gone"), Err: &tool.Error{Kind: tool.KindCrashed, Message: "gone"}}},
		{Seq: 3, Type: "user_message", Payload: &client.UserMessage{Text: "hi"}},
		{Seq: 4, Index: 1, Type: "turn_reset", Payload: &client.TurnReset{Reason: "r", Attempt: 2}},
		{Seq: 4, Type: "cancel_requested", Payload: &client.CancelRequested{Reason: "why"}},
		{Seq: 5, Type: "call_result", Payload: &client.CallResult{CallID: "b", Tool: "t", Result: tool.Result{Duration: 2500 * time.Microsecond}}},
	}
	for _, e := range events {
		if err := d.show(e); err != nil {
			t.Fatal(err)
		}
	}
	at := `"time":"0001-01-01T00:00:00Z",`
	want := []string{
		`{"seq":1,` + at + `"type":"assistant_message","text":"","calls":[{"call_id":"a","tool":"t","arguments":{"x":"<&>"}},` +
			`{"call_id":"b","tool":"t","arguments_raw":"{\"x"},{"call_id":"c","tool":"t"}],"stop_reason":"","usage":{}}`,
		`{"seq":2,"index":1,` + at + `"type":"call_status","call_id":"a","tool":"t","state":"DOING","message":"half"}`,
		`{"seq":2,` + at + `"type":"call_result","call_id":"a","tool":"t","plugin":"","instance":"","is_error":true,"text":"[crashed] gone",` +
			`"content":[{"kind":"text","text":"[crashed] gone"}],"duration_ms":0,"error":{"kind":"crashed","message":"gone"}}`,
		`{"seq":3,` + at + `"type":"user_message","text":"hi"}`,
		`{"seq":4,"index":1,` + at + `"type":"turn_reset","reason":"r","attempt":2}`,
		`{"seq":4,` + at + `"type":"cancel_requested","reason":"why"}`,
		`{"seq":5,` + at + `"type":"call_result","call_id":"b","tool":"t","plugin":"","instance":"","is_error":false,"text":"","content":[],"duration_ms":2}`,
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnOutputThatCannotBeWrittenIsReported(t *testing.T) {
	w := newWorld(t).withToolhost()
	for _, args := range [][]string{{"run"}, {"run", "-o", "json"}} {
		e := ended{stdout: newOutput(), stderr: newOutput()}
		p := w.process(e, append(args, "--model", w.script("turns: [{text: hi}]"), "hi")...)
		p.Stdout = fullDisk{}
		e.code = run(t.Context(), p)
		e.want(t, 3, "writing the output: the disk is full")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestKeysStayHere(t *testing.T) {
	got := withoutKeys([]string{"PATH=/bin", "OPENAI_API_KEY=x", "ANTHROPIC_API_KEY=y", "LANG=C"})
	if !slices.Equal(got, []string{"PATH=/bin", "LANG=C"}) {
		t.Errorf("toolhost gets %q", got)
	}
}
