package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func stuckLimits() loop.Limits { return loop.Limits{MaxTimeouts: 3, MaxRepeats: 4} }

// timeOut makes calls of a tool time out, one per turn.
func timeOut(f *folder, n int) {
	for range n {
		m := f.respond(model.StopToolUse, call("a", "echo"))
		f.failed(m.Calls[0].ID, tool.KindTimeout)
	}
}

func succeed(f *folder, name string) {
	m := f.respond(model.StopToolUse, call("a", name))
	f.add(&loop.CallResult{CallID: m.Calls[0].ID, Result: tool.TextResult(fmt.Sprint("new ", m.Calls[0].ID))})
}

// A call that timed out before a process received it does not count as a timeout of the tool. It
// does not reset the count either.
func TestWaitsAreNoTimeouts(t *testing.T) {
	started := attended()
	started.Limits = stuckLimits()
	f := newFolderOf(t, started)
	timeOut(f, 2)
	for range 5 {
		m := f.respond(model.StopToolUse, call("a", "echo"))
		f.ended(&loop.CallResult{
			CallID: m.Calls[0].ID, Tool: "echo", Plugin: "p", Result: tool.ErrorResult(fmt.Sprint("[timeout] ", m.Calls[0].ID)),
			Failure: &loop.Failure{Kind: tool.KindTimeout, Message: "no process was free"},
		})
	}
	if p := f.state.Pending(); len(p) != 0 {
		t.Errorf("pending: %+v", p)
	}
	timeOut(f, 1)
	if p := f.state.Pending(); len(p) != 1 {
		t.Errorf("pending after the third timeout: %+v", p)
	}
}

// A tool that reports its own time limit has timed out.
func TestTimeoutsOfATool(t *testing.T) {
	started := attended()
	started.Limits = stuckLimits()
	for output, want := range map[string]int{`{"exit_code":-1,"timed_out":true}`: 1, `{"exit_code":1,"timed_out":false}`: 0, `{"exit_code":1}`: 0, `["timed_out"]`: 0} {
		f := newFolderOf(t, started)
		for i := range 3 {
			m := f.respond(model.StopToolUse, call("a", "echo"))
			result := tool.Result{IsError: true, Content: []tool.Content{tool.JSON([]byte(output)), tool.Text(fmt.Sprint("output ", i))}}
			f.ended(&loop.CallResult{CallID: m.Calls[0].ID, Tool: "echo", Plugin: "p", Instance: "p-1", Result: result})
		}
		if p := f.state.Pending(); len(p) != want {
			t.Errorf("after %s, pending: %+v", output, p)
		}
	}
}

func TestTimeoutsPause(t *testing.T) {
	started := attended()
	started.Limits = stuckLimits()
	f := newFolderOf(t, started)
	timeOut(f, 2)
	succeed(f, "serial") // another tool's success changes nothing
	succeed(f, "echo")   // resets
	timeOut(f, 3)
	p := f.state.Pending()
	if len(p) != 1 || p[0].Kind != loop.DecidePause || p[0].Reason != "the tool echo timed out 3 times in a row" {
		t.Fatalf("pending: %+v", p)
	}
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Text: "it is up again"})
	if got := f.read(); got[len(got)-1] != "it is up again" {
		t.Errorf("the model reads %q", got)
	}
	timeOut(f, 3)
	f.add(&loop.UserMessage{Text: "never mind"})
	if len(f.wanted()) > 0 {
		t.Errorf("after a message, still wanted: %q", f.wanted())
	}
	timeOut(f, 3)
	f.add(&loop.DecisionMade{ID: f.wanted()[0], Verdict: loop.VerdictReject})
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopTimeouts {
		t.Errorf("ended with %+v", end)
	}
}

func TestTimeoutsEndAHeadlessRun(t *testing.T) {
	f := newFolder(t, stuckLimits())
	timeOut(f, 3)
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopTimeouts {
		t.Errorf("ended with %+v", end)
	}
	f.add(&loop.UserMessage{Text: "again"})
	timeOut(f, 2)
	if f.state.Finished() != nil {
		t.Error("what was before the message still counts")
	}
}

func TestRepetition(t *testing.T) {
	for name, test := range map[string]struct {
		result func(turn int) string
		turns  int // 0: it continues
	}{
		"the same":         {func(int) string { return "same" }, 5},
		"there and back":   {func(turn int) string { return fmt.Sprint(turn % 2) }, 6},
		"now and then new": {func(turn int) string { return fmt.Sprint(turn / 4) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, stuckLimits())
			for turn := 0; turn < 20 && f.state.Finished() == nil; turn++ {
				m := f.respond(model.StopToolUse, call("a", "echo"))
				f.result(m.Calls[0].ID, test.result(turn))
			}
			end := f.state.Finished()
			if (end == nil) != (test.turns == 0) || end != nil && (end.StopReason != loop.StopRepetition || end.Turns != test.turns) {
				t.Errorf("ended with %+v", end)
			}
		})
	}
}

func TestExplicitCompletion(t *testing.T) {
	started := attended()
	started.ExplicitCompletion = true
	for _, headless := range []bool{false, true} {
		started.People.Attended = !headless
		f := newFolderOf(t, started)
		f.respond(model.StopEndTurn, text("I think I am done"))
		if got := f.read(); !strings.Contains(got[len(got)-1], "attempt_completion") {
			t.Errorf("the model reads %q", got)
		}
		succeed(f, "echo") // resets
		for range 3 {
			f.respond(model.StopEndTurn, text("hm"))
		}
		if headless {
			if end := f.state.Finished(); end == nil || end.StopReason != loop.StopNoToolCalls {
				t.Errorf("ended with %+v", end)
			}
			continue
		}
		if p := f.state.Pending(); len(p) != 1 || p[0].Kind != loop.DecidePause {
			t.Fatalf("pending: %+v", p)
		}
		f.add(&loop.UserMessage{Text: "say so, then"})
		done := call("a", loop.SystemAttemptCompletion)
		done.ToolCall.Arguments = `{"result":"all is well"}`
		f.respond(model.StopToolUse, done)
		if end := f.state.Finished(); end == nil || end.StopReason != loop.StopCompleted || end.Text != "all is well" || !end.StopReason.Succeeded() {
			t.Errorf("ended with %+v", end)
		}
	}
}
