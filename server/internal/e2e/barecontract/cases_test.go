//go:build more

package barecontract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/tool"
)

// host accepts calls: the plugin's connection, or a toolhost that runs the plugin.
type host interface {
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
}

// transcript contains the events and the outcome of a call.
type transcript struct {
	statuses []tool.Status
	logs     []tool.LogRecord
	result   tool.Result
	err      *tool.Error
}

// text returns the transcript of a call whose result is one text.
func text(words string) transcript { return transcript{result: tool.TextResult(words)} }

func jsonBlock(encoded string) transcript {
	return transcript{result: tool.Result{Content: []tool.Content{tool.JSON(json.RawMessage(encoded))}}}
}

func failure(kind tool.Kind, message string) transcript {
	return transcript{err: tool.Errorf(kind, "%s", message)}
}

// sameCall compares transcripts. It compares JSON by value, and errors by kind, message and retry
// delay.
var sameCall = cmp.Options{
	cmp.AllowUnexported(transcript{}),
	cmp.FilterValues(func(x, y json.RawMessage) bool { return len(x) > 0 && len(y) > 0 },
		cmp.Comparer(func(x, y json.RawMessage) bool {
			if bytes.Equal(x, y) {
				return true
			}
			var a, b any
			xErr, yErr := json.Unmarshal(x, &a), json.Unmarshal(y, &b)
			return xErr == nil && yErr == nil && reflect.DeepEqual(a, b)
		})),
	cmp.Comparer(func(x, y *tool.Error) bool {
		if x == nil || y == nil {
			return x == y
		}
		return x.Kind == y.Kind && x.RetryAfter == y.RetryAfter &&
			(strings.Contains(x.Message, y.Message) || strings.Contains(y.Message, x.Message))
	}),
	cmpopts.IgnoreFields(tool.Result{}, "Duration"),
	cmpopts.IgnoreFields(tool.LogRecord{}, "Time"),
	cmpopts.EquateEmpty(),
}

// calls returns the calls of the table that need only arguments.
func calls() map[string]struct {
	tool, arguments string
	want            transcript
} {
	type call = struct {
		tool, arguments string
		want            transcript
	}
	nested := strings.Repeat(`{"a":[`, 50) + `"deep"` + strings.Repeat(`]}`, 50)
	long := `{"text":"` + strings.Repeat(unit, 10_000) + `"}`
	const unicode = `{"text":"naïve 漢字 😀 \ud83d\ude00 \u0000 \u2028 \"","ключ":[null,true,-1.5e-7]}`
	table := map[string]call{
		"unicode":             {"echo", unicode, jsonBlock(unicode)},
		"empty arguments":     {"echo", `{}`, jsonBlock(`{}`)},
		"nested arguments":    {"echo", nested, jsonBlock(nested)},
		"arguments in pieces": {"echo", long, jsonBlock(long)},
		"tool error":          {"fail", `{"message":"no such street: Ährenweg 4711"}`, transcript{result: tool.ErrorResult("no such street: Ährenweg 4711")}},
		"effects": {"effects", `{}`, transcript{result: tool.Result{
			Effects: []tool.Effect{
				{Key: "plan", Operation: tool.EffectReplace, Value: json.RawMessage(`"walk"`)},
				{Key: "seen", Operation: tool.EffectAppend, Value: json.RawMessage(`{"n":7}`)},
				{Key: "tree", Operation: tool.EffectMerge, Value: json.RawMessage(`{"leaf":null}`)},
			},
			Metadata: map[string]json.RawMessage{"source": json.RawMessage(`"fixture"`)},
			Cost:     0.25,
			Usage:    tool.Usage{InputTokens: 11, OutputTokens: 5},
		}}},
		"image": {"image", `{}`, transcript{result: tool.Result{Content: []tool.Content{
			{Kind: tool.ContentImage, MediaType: "image/png", Name: "pixel.png", Data: pixel},
		}}}},
		"statuses": {"steps", `{}`, transcript{
			statuses: []tool.Status{
				{State: tool.StatusWait, Message: "about to begin", Parameters: json.RawMessage(`{"a":{"x":1},"n":1}`)},
				{State: tool.StatusDoing, Message: "at work", Parameters: json.RawMessage(`{"a":{"y":2}}`)},
				{Progress: &tool.Progress{Done: 1, Total: 3, Message: "a third"}},
				{Progress: &tool.Progress{Done: 3, Total: 3}},
				{State: tool.StatusSuccess, Message: "done", Parameters: json.RawMessage(`{"n":2}`), Result: json.RawMessage(`{"rows":3}`)},
			},
			logs: []tool.LogRecord{
				{Level: tool.LogWarn, Message: "halfway", Attributes: map[string]json.RawMessage{"left": json.RawMessage(`2`)}},
			},
			result: tool.TextResult("stepped"),
		}},
		"unknown tool": {"no_such_tool", `{}`, failure(tool.KindNotFound, "no_such_tool")},
	}
	for _, kind := range []tool.Kind{
		tool.KindInvalidArgument, tool.KindNotFound, tool.KindDenied, tool.KindApprovalRequired, tool.KindRateLimited, tool.KindTimeout,
		tool.KindCancelled, tool.KindCrashed, tool.KindUnavailable, tool.KindOutcomeUnknown, tool.KindConflict, tool.KindInternal,
	} {
		message := fmt.Sprintf("the meter says %s 4711", kind)
		c := call{"break_down", fmt.Sprintf(`{"kind":%q,"message":%q}`, strings.ToUpper(string(kind)), message), failure(kind, message)}
		if kind == tool.KindRateLimited {
			c.arguments = fmt.Sprintf(`{"kind":"RATE_LIMITED","message":%q,"retry_after":1.5}`, message)
			c.want.err.RetryAfter = 1500 * time.Millisecond
		}
		table["error "+string(kind)] = c
	}
	return table
}

func testCalls(t *testing.T, h host) {
	for name, tc := range calls() {
		t.Run(name, func(t *testing.T) {
			got := perform(t, h, tool.Call{Tool: tc.tool, Arguments: json.RawMessage(tc.arguments)})
			if diff := cmp.Diff(tc.want, got, sameCall); diff != "" {
				t.Errorf("what came of the call (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a large result", func(t *testing.T) { testLarge(t, h, 1<<20) })
	t.Run("a larger result", func(t *testing.T) { testLarge(t, h, 10<<20) })
	t.Run("a slow reader", func(t *testing.T) { testSlowReader(t, h) })
	t.Run("a bug", func(t *testing.T) { testBug(t, h) })
	t.Run("partial arguments", func(t *testing.T) { testPartial(t, h) })
	t.Run("abandoned arguments", func(t *testing.T) { testAbandoned(t, h) })
	t.Run("cancel", func(t *testing.T) { testCancel(t, h) })
	t.Run("deadline", func(t *testing.T) { testDeadline(t, h) })
	t.Run("many at once", func(t *testing.T) { testManyAtOnce(t, h) })
}

// perform makes a call and reads it to its end.
func perform(t *testing.T, h host, call tool.Call) transcript {
	t.Helper()
	e := open(t, h, call, true)
	defer e.Close()
	return finish(t, e)
}

func open(t *testing.T, h host, call tool.Call, complete bool) tool.Execution {
	t.Helper()
	e, err := h.Open(t.Context(), call, complete)
	if err != nil {
		t.Fatalf("opening a call of %s: %v", call.Tool, err)
	}
	return e
}

// finish reads a call to its end.
func finish(t *testing.T, e tool.Execution) transcript {
	t.Helper()
	var got transcript
	for {
		event := next(t, e)
		switch {
		case event.Status != nil:
			got.statuses = append(got.statuses, *event.Status)
		case event.Log != nil:
			got.logs = append(got.logs, *event.Log)
		case event.Ended != nil:
			got.result, got.err = event.Ended.Result, event.Ended.Err
			if _, err := e.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("after the end comes %v, want io.EOF", err)
			}
			return got
		}
	}
}

func next(t *testing.T, e tool.Execution) tool.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	event, err := e.Next(ctx)
	if err != nil {
		t.Fatalf("reading a call: %v", err)
	}
	return event
}

// nextStatus reads up to the next status and returns it.
func nextStatus(t *testing.T, e tool.Execution) tool.Status {
	t.Helper()
	for {
		switch event := next(t, e); {
		case event.Status != nil:
			return *event.Status
		case event.Ended != nil:
			t.Fatalf("the call ended: %+v", event.Ended)
		}
	}
}

func largeCall(blocks []block) tool.Call {
	arguments, _ := json.Marshal(largeIn{Blocks: blocks}) // Marshal cannot fail here
	return tool.Call{Tool: "large", Arguments: arguments}
}

// blocksOf returns one block of each kind with about size bytes, and small blocks between them.
func blocksOf(size int) []block {
	return []block{
		{tool.ContentText, 1},
		{tool.ContentText, size / len(unit)},
		{tool.ContentFile, size / 256},
		{tool.ContentJSON, 2},
		{tool.ContentJSON, size / 10 / len(unit)},
		{tool.ContentFile, 1},
	}
}

func testLarge(t *testing.T, h host, size int) {
	blocks := blocksOf(size)
	checkLarge(t, perform(t, h, largeCall(blocks)), blocks)
}

func checkLarge(t *testing.T, got transcript, blocks []block) {
	t.Helper()
	if got.err != nil || len(got.result.Content) != len(blocks) {
		t.Fatalf("%d blocks and error %v, want %d blocks", len(got.result.Content), got.err, len(blocks))
	}
	for i, b := range blocks {
		// Compare the blocks one by one, because the output of cmp.Diff would be too long.
		want, have := b.content(), got.result.Content[i]
		same := have.Kind == want.Kind && have.Text == want.Text && bytes.Equal(have.Data, want.Data) &&
			have.Name == want.Name && have.MediaType == want.MediaType && cmp.Equal(have.JSON, want.JSON, sameCall)
		if !same {
			t.Errorf("block %d is %s with %d, %d, %d bytes of text, data, JSON; it differs from the %s that was asked for",
				i, have.Kind, len(have.Text), len(have.Data), len(have.JSON), want.Kind)
		}
	}
}

// testSlowReader checks that the output of a call without a reader waits in the plugin and delays
// no other call.
func testSlowReader(t *testing.T, h host) {
	blocks := blocksOf(10 << 20)
	slow := open(t, h, largeCall(blocks), true)
	defer slow.Close()
	for i := range 50 {
		want := fmt.Sprintf(`{"i":%d}`, i)
		got := perform(t, h, tool.Call{Tool: "echo", Arguments: json.RawMessage(want)})
		if diff := cmp.Diff(jsonBlock(want), got, sameCall); diff != "" {
			t.Fatalf("a small call beside a large one (-want +got):\n%s", diff)
		}
	}
	checkLarge(t, finish(t, slow), blocks)
}
