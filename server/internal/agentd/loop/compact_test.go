package loop_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// sumUp returns a summary, or fails.
func (w *walk) sumUp(c loop.Summarize) {
	request := w.state.SummaryRequest(c.Replaced)
	checkPaired(w.t, request.Messages)
	if w.rand.IntN(4) == 0 {
		w.add(&loop.Compacted{Reason: c.Reason, Failure: "down"})
		return
	}
	before := len(w.state.Request().Messages)
	w.add(&loop.Compacted{Reason: c.Reason, Summary: "all that was", Replaced: c.Replaced})
	after := w.state.Request().Messages
	if len(after) >= before {
		w.t.Fatalf("the summary of %d messages leaves %d of %d", c.Replaced, len(after), before)
	}
	if first := after[0].Blocks[0].Text; first == nil || first.Text != "hello" {
		w.t.Fatalf("the conversation begins with %+v after the summary", after[0].Blocks[0])
	}
}

// TestAnyHistoryCompacted compacts random histories at random points in every way. A compacted
// conversation has a result for each call, begins with the user's first message, and folds to the
// same state again.
func TestAnyHistoryCompacted(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &walk{rand: rand.New(rand.NewPCG(seed, 11)), asked: make(map[int]bool), calls: make(map[string]*lifetime), sent: make(map[string]bool)}
			started := w.anyRun()
			started.Limits = loop.Limits{MaxTurns: 40, MaxCalls: 60}
			started.Window = loop.Window{Tokens: int64(20 + w.rand.IntN(400)), ClearAt: .3, SummarizeAt: .6, Keep: 1 + w.rand.IntN(3)}
			w.folder = newFolderOf(t, started)
			for range 120 {
				w.step()
				if next := loop.Next(&w.state); len(next) == 1 && w.rand.IntN(8) == 0 {
					if _, ok := next[0].(loop.AskModel); ok {
						w.add(w.state.Overflowed("too long"))
						checkPaired(t, w.state.Request().Messages)
					}
				}
			}
			w.finish()
		})
	}
}

func newWindowFolder(t *testing.T, w loop.Window) *folder {
	return newFolderOf(t, loop.RunStarted{Window: w})
}

// turn folds a response with one call and its result, with the tokens that the model counted.
func (f *folder) turn(id, result string, tokens uint64) {
	f.t.Helper()
	resp := &model.Response{
		Message:    model.Message{Role: model.RoleAssistant, Blocks: []model.Block{call(id, "echo")}},
		StopReason: model.StopToolUse, Usage: tool.Usage{InputTokens: tokens},
	}
	m := f.state.Respond(resp, offered, f.state.Seq())
	f.add(m)
	f.result(m.Calls[0].ID, result)
}

func (f *folder) last() loop.Payload { return f.events[len(f.events)-1].Payload }

func TestOldResultsAreClearedFirst(t *testing.T) {
	f := newWindowFolder(t, loop.Window{Tokens: 10_000, ClearAt: .5, SummarizeAt: .8, Keep: 1})
	large := strings.Repeat("x", 3000)
	f.turn("a", large, 1000)
	f.turn("b", "small", 2000)
	f.turn("c", large, 3500)
	f.turn("d", large, 5500)
	p, ok := f.last().(*loop.Compacted)
	if !ok || !slices.Equal(p.Cleared, []string{"a", "c"}) || p.Summary != "" {
		t.Fatalf("at over half of the window the last event is %+v", f.last())
	}
	messages := f.state.Request().Messages
	checkPaired(t, messages)
	var shown []string
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.ToolResult != nil {
				shown = append(shown, b.ToolResult.Content[0].Text)
			}
		}
	}
	note := shown[0]
	if !strings.Contains(note, "echo {}") || !strings.Contains(note, "3000 bytes") || len(note) > 200 {
		t.Errorf("the note is %q", note)
	}
	if shown[1] != "small" || shown[2] == large || shown[3] != large {
		t.Errorf("the results are %q", shown)
	}
	if next := loop.Next(&f.state); len(next) != 1 || next[0] != (loop.AskModel{Turn: 5}) {
		t.Errorf("then comes %+v", next)
	}
}

func TestSummaryComesWhenClearingIsNotEnough(t *testing.T) {
	f := newWindowFolder(t, loop.Window{Tokens: 1000, ClearAt: .5, SummarizeAt: .8, Keep: 2})
	todos := []tool.Effect{{Key: loop.KeyTodos, Value: []byte(`["wash up"]`)}}
	for i, tokens := range []uint64{100, 300, 600, 900} {
		id := fmt.Sprint(i)
		resp := &model.Response{Message: model.Message{Blocks: []model.Block{call(id, "echo")}}, StopReason: model.StopToolUse, Usage: tool.Usage{InputTokens: tokens}}
		m := f.state.Respond(resp, offered, f.state.Seq())
		f.add(m)
		f.add(&loop.CallResult{CallID: m.Calls[0].ID, Tool: "echo", Result: tool.Result{Content: []tool.Content{tool.Text("r" + id)}, Effects: todos}})
	}
	next := loop.Next(&f.state)
	want, ok := next[0].(loop.Summarize)
	if !ok || want.Replaced != 5 {
		t.Fatalf("next is %+v", next)
	}
	request := f.state.SummaryRequest(want.Replaced)
	told := request.Messages[0].Blocks[0].Text.Text
	for _, part := range []string{"hello", "[call of echo]", "r0", "r1"} {
		if !strings.Contains(told, part) {
			t.Errorf("the model that sums up is not told %q: %s", part, told)
		}
	}
	if strings.Contains(told, "r2") {
		t.Errorf("the model sums up what is kept, too: %s", told)
	}
	f.add(&loop.Compacted{Summary: "r0 and r1 were had", Replaced: want.Replaced, Usage: tool.Usage{InputTokens: 7, OutputTokens: 1}, Cost: 2})
	messages := f.state.Request().Messages
	checkPaired(t, messages)
	first := messages[0]
	if len(messages) != 5 || first.Blocks[0].Text.Text != "hello" || !strings.Contains(first.Blocks[1].Text.Text, "r0 and r1 were had") ||
		!strings.Contains(first.Blocks[1].Text.Text, `["wash up"]`) {
		t.Errorf("%d messages are left and begin with %+v", len(messages), first.Blocks)
	}
	f.add(&loop.CancelRequested{})
	if end := f.state.Finished(); end.Cost != 2 || end.Usage.InputTokens != 1907 {
		t.Errorf("the run cost %g and read %d tokens", end.Cost, end.Usage.InputTokens)
	}
}

func TestNothingSummedUpTwiceWithoutAResponse(t *testing.T) {
	f := newWindowFolder(t, loop.Window{Tokens: 100, ClearAt: .5, SummarizeAt: .8, Keep: 1})
	f.turn("a", "x", 90)
	f.turn("b", "x", 95)
	if _, ok := loop.Next(&f.state)[0].(loop.Summarize); !ok {
		t.Fatalf("next is %+v", loop.Next(&f.state))
	}
	f.add(&loop.Compacted{Failure: "down"})
	if next := loop.Next(&f.state); next[0] != (loop.AskModel{Turn: 3}) {
		t.Errorf("after a failed summary comes %+v", next)
	}
}

func TestOverflowShrinksOnce(t *testing.T) {
	large := strings.Repeat("x", 30_000)
	tests := []struct {
		name    string
		results []string // of the turns before the overflow
		summary bool     // whether clearing is not enough
		stop    loop.StopReason
	}{
		{"nothing to take away", nil, false, loop.StopContextOverflow},
		{"the last result is too large", []string{large}, false, ""},
		{"old results", []string{large, "small"}, false, ""},
		{"long talk", []string{"a", "b", "c"}, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newWindowFolder(t, loop.Window{})
			for i, r := range tt.results {
				f.turn(fmt.Sprint(i), r, 0)
			}
			f.add(f.state.Overflowed("too long"))
			if tt.stop != "" {
				if end := f.state.Finished(); end == nil || end.StopReason != tt.stop {
					t.Fatalf("the run ends with %+v", end)
				}
				return
			}
			if c, ok := loop.Next(&f.state)[0].(loop.Summarize); ok != tt.summary {
				t.Fatalf("next is %+v", loop.Next(&f.state))
			} else if ok {
				f.add(&loop.Compacted{Summary: "short", Replaced: c.Replaced})
			}
			checkPaired(t, f.state.Request().Messages)
			f.add(f.state.Overflowed("still too long"))
			if end := f.state.Finished(); end == nil || end.StopReason != loop.StopContextOverflow || end.Message != "still too long" {
				t.Fatalf("the second time it ends with %+v", end)
			}
		})
	}
}

func TestOverflowAfterAnAnswerShrinksAgain(t *testing.T) {
	f := newWindowFolder(t, loop.Window{})
	large := strings.Repeat("x", 30_000)
	f.turn("a", large, 0)
	f.add(f.state.Overflowed("too long"))
	f.turn("b", large, 0)
	f.add(f.state.Overflowed("too long again"))
	if end := f.state.Finished(); end != nil {
		t.Errorf("the run ends with %+v", end)
	}
}

// The calls of a response that is cut because the window is full are not made, and the conversation
// is compacted.
func TestResponseCutByTheWindow(t *testing.T) {
	f := newWindowFolder(t, loop.Window{})
	f.turn("a", strings.Repeat("x", 30_000), 0)
	f.respond(model.StopContextOverflow, text("I go"), call("b", "echo"))
	if ids := f.running(); len(ids) > 0 || f.state.Finished() != nil {
		t.Fatalf("running %v, finished %+v", ids, f.state.Finished())
	}
	if p, ok := f.last().(*loop.Compacted); !ok || !p.Overflow || len(p.Cleared) != 1 {
		t.Fatalf("the last event is %+v", f.last())
	}
	f.respond(model.StopEndTurn, text("done"))
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopEndTurn {
		t.Errorf("the run ends with %+v", end)
	}
}
