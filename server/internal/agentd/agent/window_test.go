package agent_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// isSummary reports whether the request asks for a summary.
func isSummary(req model.Request) bool {
	return strings.HasPrefix(firstText(req), "This is the conversation so far:")
}

func sizeOf(req model.Request) int {
	n := 0
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			switch {
			case b.Text != nil:
				n += len(b.Text.Text)
			case b.ToolResult != nil:
				n += len(b.ToolResult.Content[0].Text)
			}
		}
	}
	return n
}

// The model continues from the summary. No watcher sees the summary being written, and the journal
// keeps everything.
func TestModelAsksForCompaction(t *testing.T) {
	var last model.Request
	m := &fakeModel{}
	m.answer = func(_ context.Context, req model.Request) (*model.Response, error) {
		switch {
		case isSummary(req):
			return response(model.StopEndTurn, text("the secret is 42")), nil
		case strings.Contains(req.Messages[0].Blocks[len(req.Messages[0].Blocks)-1].Text.Text, "the secret is 42"):
			last = req
			return response(model.StopEndTurn, text("42")), nil
		case len(req.Messages) == 1:
			return response(model.StopToolUse, call("a", "echo")), nil
		}
		return response(model.StopToolUse, call("b", loop.SystemCompact)), nil
	}
	f := newFixture(t, m, newTools(echo), withSystem)
	f.start(loop.Task{})
	end := f.end()
	if end.StopReason != loop.StopEndTurn || end.Text != "42" || end.Turns != 3 {
		t.Fatalf("the run ends with %+v", end)
	}
	// Three turns and the summary, of 5 tokens each.
	if got := end.Usage.InputTokens + end.Usage.OutputTokens; got != 20 {
		t.Errorf("the run used %d tokens", got)
	}
	checkPaired(t, last.Messages)
	if len(last.Messages) != 3 || firstText(last) != "hello" {
		t.Errorf("after the summary the conversation has %d messages and begins with %q", len(last.Messages), firstText(last))
	}
	kept := false
	for _, e := range f.watch(0) {
		switch p := e.Payload.(type) {
		case *loop.TextDelta:
			if strings.Contains("the secret is 42", p.Text) && len(p.Text) > 3 {
				t.Errorf("people see the summary: %q", p.Text)
			}
		case *loop.CallResult:
			kept = kept || p.Result.Text() == "echo r.t1.c0"
		}
	}
	if !kept {
		t.Error("the journal has lost a result")
	}
}

// The model rejects requests beyond a number of bytes. The run continues after a compaction, and
// ends with StopContextOverflow if that does not help.
func TestOverflowedModel(t *testing.T) {
	tests := []struct {
		name string
		most int // bytes that the model reads
		want loop.StopReason
	}{
		{"shrinking helps", 10_000, loop.StopEndTurn},
		{"it does not", 10, loop.StopContextOverflow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &fakeModel{}
			m.answer = func(_ context.Context, req model.Request) (*model.Response, error) {
				if len(req.Messages) == 1 && !isSummary(req) {
					return response(model.StopToolUse, call("a", "echo")), nil
				}
				if sizeOf(req) > tt.most {
					return nil, &model.Error{Message: "prompt is too long", ContextOverflow: true}
				}
				return response(model.StopEndTurn, text("done")), nil
			}
			large := func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
				return tool.Outcome{CallID: call.ID, Result: tool.TextResult(strings.Repeat("x", 20_000))}
			}
			f := newFixture(t, m, newTools(large), nil)
			f.start(loop.Task{})
			if end := f.end(); end.StopReason != tt.want {
				t.Errorf("the run ends with %+v", end)
			}
			shrunk := 0
			for _, e := range f.watch(0) {
				if _, ok := e.Payload.(*loop.Compacted); ok {
					shrunk++
				}
			}
			if shrunk != 1 {
				t.Errorf("the conversation was made smaller %d times", shrunk)
			}
		})
	}
}

// The run continues without a summary if it can.
func TestSummaryCannotBeHad(t *testing.T) {
	m := &fakeModel{}
	m.answer = func(_ context.Context, req model.Request) (*model.Response, error) {
		switch n := len(req.Messages); {
		case isSummary(req):
			return nil, &model.Error{Message: "no"}
		case n == 1:
			return response(model.StopToolUse, call("a", "echo")), nil
		case n == 3:
			return response(model.StopToolUse, call("b", loop.SystemCompact)), nil
		}
		return response(model.StopEndTurn, text("done")), nil
	}
	f := newFixture(t, m, newTools(echo), withSystem)
	f.start(loop.Task{})
	if end := f.end(); end.StopReason != loop.StopEndTurn || end.Turns != 3 {
		t.Errorf("the run ends with %+v", end)
	}
}

// Each result tells the model how many tokens are left, and calls are sent with a share of them.
func TestResultsShowWhatIsLeft(t *testing.T) {
	shown := make(chan *int, 8)
	record := func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
		shown <- call.MaxShown
		return tool.Outcome{CallID: call.ID, Result: tool.TextResult("ok")}
	}
	m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopToolUse, call("b", "echo"), call("c", "echo")), response(model.StopEndTurn, text("done")))
	for _, tt := range []struct {
		window int64
		first  int
		second int
	}{
		{1_000_000, 16 << 10, 16 << 10},
		{10_000, 6_000, 3_000},
		{10, 512, 512},
	} {
		f := newFixture(t, m, newTools(record), nil)
		f.start(loop.Task{Window: loop.Window{Tokens: tt.window}})
		f.end()
		near := func(got *int, want int) bool { return got != nil && *got <= want && *got > want-100 }
		if a, b, c := <-shown, <-shown, <-shown; !near(a, tt.first) || !near(b, tt.second) || !near(c, tt.second) {
			t.Errorf("in a window of %d tokens the results show %d, %d and %d bytes", tt.window, *a, *b, *c)
		}
	}
}

func TestWindowIsChecked(t *testing.T) {
	f := newFixture(t, turns(), newTools(echo), nil)
	_, err := f.StartRun(t.Context(), loop.Task{Prompt: "x", Window: loop.Window{ClearAt: 2}})
	if tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a window of which twice as much is used is taken: %v", err)
	}
}

// If an agent stops while the model writes the summary, the continued run requests the summary
// again. A canceled run does not.
func TestSummaryIsInterrupted(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		asked, times := make(chan struct{}, 8), atomic.Int32{}
		m := &fakeModel{}
		m.answer = func(ctx context.Context, req model.Request) (*model.Response, error) {
			switch n := len(req.Messages); {
			case isSummary(req):
				first := times.Add(1) == 1
				asked <- struct{}{}
				if first {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return response(model.StopEndTurn, text("short")), nil
			case n == 1:
				return response(model.StopToolUse, call("a", "echo")), nil
			case firstText(req) == "hello" && len(req.Messages[0].Blocks) == 2:
				return response(model.StopEndTurn, text("done")), nil
			}
			return response(model.StopToolUse, call("b", loop.SystemCompact)), nil
		}
		f := newFixture(t, m, newTools(echo), withSystem)
		f.start(loop.Task{})
		<-asked
		want := loop.StopEndTurn
		if cancel {
			want = loop.StopCancelled
			if err := f.CancelRun(t.Context(), "r", "enough"); err != nil {
				t.Fatal(err)
			}
		} else {
			f.Close()
			f.open(withSystem)
			if _, err := f.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if end := f.end(); end.StopReason != want {
			t.Errorf("cancelled %v: the run ends with %+v", cancel, end)
		}
		f.Close()
	}
}
