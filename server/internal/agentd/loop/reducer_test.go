package loop_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// StopReasons lists every constant of its type.
func TestStopReasonsIsComplete(t *testing.T) {
	source, err := os.ReadFile("limits.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []loop.StopReason
	for _, m := range regexp.MustCompile(`StopReason += "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		declared = append(declared, loop.StopReason(m[1]))
	}
	if diff := cmp.Diff(declared, loop.StopReasons()); diff != "" || len(declared) == 0 {
		t.Errorf("declared and listed stop reasons differ (-declared +listed):\n%s", diff)
	}
}

func TestStopReasons(t *testing.T) {
	for name, test := range map[string]struct {
		reason model.StopReason
		blocks []model.Block
		want   loop.StopReason // empty: another model request
	}{
		"end_turn":                    {model.StopEndTurn, []model.Block{text("done")}, loop.StopEndTurn},
		"end_turn without text":       {model.StopEndTurn, nil, ""},
		"unknown word":                {"stop_sequence", []model.Block{text("done")}, loop.StopModelError},
		"tool_use without calls":      {model.StopToolUse, []model.Block{text("done")}, loop.StopEndTurn},
		"tool_use with nothing":       {model.StopToolUse, nil, ""},
		"pause_turn":                  {model.StopPauseTurn, []model.Block{text("wait")}, ""},
		"pause_turn with nothing":     {model.StopPauseTurn, nil, ""},
		"max_tokens":                  {model.StopMaxTokens, []model.Block{text("do")}, ""},
		"max_tokens with nothing":     {model.StopMaxTokens, nil, ""},
		"max_tokens with calls":       {model.StopMaxTokens, []model.Block{call("a", "echo")}, ""},
		"refusal":                     {model.StopRefusal, []model.Block{text("no")}, loop.StopRefusal},
		"refusal with calls":          {model.StopRefusal, []model.Block{call("a", "echo")}, loop.StopRefusal},
		"content_filter":              {model.StopContentFilter, nil, loop.StopContentFilter},
		"context_overflow with calls": {model.StopContextOverflow, []model.Block{call("a", "echo")}, loop.StopContextOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, loop.Limits{})
			f.respond(test.reason, test.blocks...)
			if ids := f.running(); len(ids) > 0 {
				t.Errorf("the calls %q are to run", ids)
			}
			checkPaired(t, f.state.Request().Messages)
			var got loop.StopReason
			if end := f.state.Finished(); end != nil {
				got = end.StopReason
			}
			if got != test.want {
				t.Errorf("stop reason %q, want %q", got, test.want)
			}
		})
	}
}

func TestCutResponseRaisesTheCapOnce(t *testing.T) {
	f := newFolder(t, loop.Limits{MaxResponseTokens: 1000})
	f.respond(model.StopMaxTokens, text("I will call"), call("a", "echo"), call("b", "echo"))
	req := f.state.Request()
	if req.MaxTokens != 2000 {
		t.Errorf("the cap is %d, want 2000", req.MaxTokens)
	}
	last := req.Messages[len(req.Messages)-1]
	if len(last.Blocks) != 2 || !last.Blocks[0].ToolResult.IsError || !strings.Contains(last.Blocks[1].ToolResult.Content[0].Text, "cut") {
		t.Errorf("the model is told %+v", last)
	}
	f.respond(model.StopMaxTokens, text("again"), call("c", "echo"))
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopMaxTokens || end.Text != "again" || end.Calls != 0 {
		t.Errorf("the run ended with %+v", end)
	}
}

func TestCutTextIsContinued(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.respond(model.StopMaxTokens, text("half a sen"))
	req := f.state.Request()
	if req.MaxTokens == 0 || len(req.Messages) != 3 || req.Messages[2].Role != model.RoleUser {
		t.Errorf("the next request is %+v", req)
	}
	f.respond(model.StopEndTurn, text("tence"))
	f.add(&loop.UserMessage{Text: "more"})
	if got := f.state.Request().MaxTokens; got != 0 {
		t.Errorf("the cap is %d for the next message, want the model's own", got)
	}
}

func TestNothingDoesNotLoop(t *testing.T) {
	for reason, want := range map[model.StopReason]loop.StopReason{
		model.StopEndTurn: loop.StopEmptyResponse, model.StopToolUse: loop.StopEmptyResponse, model.StopPauseTurn: loop.StopEmptyResponse,
		model.StopMaxTokens: loop.StopMaxTokens,
	} {
		f := newFolder(t, loop.Limits{})
		f.respond(reason)
		f.respond(reason)
		if end := f.state.Finished(); end == nil || end.StopReason != want {
			t.Errorf("%s with nothing, twice, ends with %+v", reason, end)
		}
	}
}

// A response without text and without a call is no answer: the model is asked once more. Its
// thoughts are not sent back, because APIs refuse a message that has only those
// (livekit/agents#4066, google/adk-js#344, BerriAI/litellm#24442).
func TestEmptyResponses(t *testing.T) {
	thought := model.Block{Opaque: &model.Opaque{Provider: "anthropic", JSON: []byte(`{"type":"thinking"}`)}}
	for name, blocks := range map[string][]model.Block{
		"no blocks": nil, "empty text": {text("")}, "white space": {text(" \n")}, "only thoughts": {thought}, "thoughts and white space": {thought, text("\n")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, loop.Limits{})
			f.kept = &archive{every: 1}
			f.respond(model.StopToolUse, call("a", "echo"))
			f.result("r.t1.c0", "fine")
			f.respond(model.StopEndTurn, blocks...)
			if got := f.read(); len(got) != 2 || got[0] != "fine" || !strings.Contains(got[1], "response was empty") {
				t.Errorf("the model reads %q", got)
			}
			f.respond(model.StopEndTurn, text("done"))
			f.wantEnd(loop.StopEndTurn, "")
			f.add(&loop.UserMessage{Text: "more"})
			f.respond(model.StopEndTurn, blocks...)
			f.add(&loop.UserMessage{Text: "hurry"})
			f.respond(model.StopEndTurn, blocks...)
			f.wantEnd(loop.StopEmptyResponse, "")
			f.kept.check(f)
		})
	}
}

// A response that the provider paused may have only blocks of the provider. They return unchanged.
func TestPausedResponseIsNotEmpty(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	for range 3 {
		f.respond(model.StopPauseTurn, model.Block{Opaque: &model.Opaque{Provider: "anthropic", JSON: []byte(`{"type":"server_tool_use"}`)}})
	}
	if messages := f.state.Request().Messages; f.state.Finished() != nil || len(messages) != 4 {
		t.Errorf("the conversation is %+v, and the end %+v", messages, f.state.Finished())
	}
}

func TestResultsComeInCallOrder(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.respond(model.StopToolUse, call("a", "echo"), call("b", "missing"), call("c", "broken"), call("d", "echo"))
	if diff := cmp.Diff([]string{"r.t1.c0", "r.t1.c3"}, f.running()); diff != "" {
		t.Errorf("to be called (-want +got):\n%s", diff)
	}
	f.add(&loop.UserMessage{Text: "hurry"})
	f.result("r.t1.c3", "last")
	f.result("r.t1.c0", "first")
	req := f.state.Request()
	var got []string
	for _, b := range req.Messages[len(req.Messages)-1].Blocks {
		if b.ToolResult != nil {
			got = append(got, b.ToolResult.ID+": "+b.ToolResult.Content[0].Text)
		} else {
			got = append(got, b.Text.Text)
		}
	}
	want := []string{
		"a: first", `b: [not_found] There is no tool "missing". There are: direct, echo, serial.`,
		"c: [unavailable] The tool broken cannot be called now: it needs a key", "d: last", "hurry",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOneSerialToolMakesTheBatchSerial(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.respond(model.StopToolUse, call("a", "echo"), call("b", "serial"), call("c", "echo"))
	for _, want := range []string{"r.t1.c0", "r.t1.c1", "r.t1.c2"} {
		if diff := cmp.Diff([]string{want}, f.running()); diff != "" {
			t.Fatalf("to be called (-want +got):\n%s", diff)
		}
		f.result(want, "ok")
	}
	checkPaired(t, f.state.Request().Messages)
}

func TestCallsThatAServerEndsWithAnotherWordAreMade(t *testing.T) {
	for _, reason := range []model.StopReason{model.StopEndTurn, model.StopPauseTurn, ""} {
		f := newFolder(t, loop.Limits{})
		f.respond(reason, call("a", "echo"))
		if len(f.running()) != 1 {
			t.Errorf("%q: %v", reason, f.running())
		}
	}
}

func TestCallsOfAResponseThatEndedForAnUnknownReasonAreNotMade(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.respond("error", call("a", "echo"), call("b", "serial"))
	if len(f.running()) != 0 {
		t.Errorf("under way: %v", f.running())
	}
}

// The third response in a row with malformed calls ends the run. A well-formed one restarts the
// count.
func TestCallsThatAreNoJSON(t *testing.T) {
	broken := func(i int) model.Block {
		b := call(fmt.Sprint("c", i), "echo")
		b.ToolCall.Arguments = fmt.Sprintf(`{"n": %d`, i)
		return b
	}
	f := newFolder(t, loop.Limits{})
	for i := range 6 {
		blocks := []model.Block{broken(i)}
		if i == 2 {
			blocks = append(blocks, call("fine", "echo"))
		}
		f.respond(model.StopToolUse, blocks...)
		for _, id := range f.running() {
			f.result(id, "it is no JSON")
		}
		if ended := f.state.Finished() != nil; ended != (i == 5) {
			t.Fatalf("after response %d: %+v", i, f.state.Finished())
		}
	}
	if end := f.state.Finished(); end.StopReason != loop.StopModelError || !strings.Contains(end.Message, "no JSON in 3 responses") {
		t.Errorf("ended with %+v", end)
	}
}

func TestLimits(t *testing.T) {
	f := newFolder(t, loop.Limits{MaxTurns: 2})
	f.respond(model.StopPauseTurn, text("a"))
	f.respond(model.StopPauseTurn, text("b"))
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopMaxTurns || end.Turns != 2 {
		t.Errorf("ended with %+v", end)
	}
	f.add(&loop.UserMessage{Text: "go on"})
	f.respond(model.StopEndTurn, text("c"))
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopEndTurn || end.Turns != 3 {
		t.Errorf("ended with %+v", end)
	}

	f = newFolder(t, loop.Limits{MaxCalls: 2})
	f.respond(model.StopToolUse, call("a", "echo"), call("x", "missing"), call("b", "echo"), call("c", "echo"))
	f.result("r.t1.c0", "ok")
	f.result("r.t1.c2", "ok")
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopMaxCalls || end.Calls != 2 {
		t.Errorf("ended with %+v", end)
	}
	checkPaired(t, f.state.Request().Messages)
}

func TestReturnDirect(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.respond(model.StopToolUse, call("a", "direct"), call("b", "direct"))
	f.result("r.t1.c1", "two")
	f.result("r.t1.c0", "one")
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopReturnDirect || end.Text != "one\ntwo" {
		t.Errorf("ended with %+v", end)
	}
	f = newFolder(t, loop.Limits{})
	f.respond(model.StopToolUse, call("a", "direct"), call("b", "echo"))
	f.result("r.t1.c0", "one")
	f.result("r.t1.c1", "two")
	if f.state.Finished() != nil {
		t.Error("a batch with another tool was returned directly")
	}
	f = newFolder(t, loop.Limits{})
	f.respond(model.StopToolUse, call("a", "direct"))
	f.add(&loop.CallResult{CallID: "r.t1.c0", Result: tool.ErrorResult("no")})
	if f.state.Finished() != nil {
		t.Error("a failure was returned directly")
	}
}

func TestCancel(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.respond(model.StopToolUse, call("a", "serial"), call("b", "echo"), call("c", "echo"))
	f.result("r.t1.c0", "kept")
	f.add(&loop.CancelRequested{Reason: "enough"})
	next := loop.Next(&f.state)
	if len(next) != 1 || next[0].(loop.CallTool).Cancel == nil || next[0].(loop.CallTool).Call.ID != "r.t1.c1" {
		t.Fatalf("next is %+v, want the call under way to be cancelled", next)
	}
	f.result("r.t1.c1", "stopped")
	end := f.state.Finished()
	if end == nil || end.StopReason != loop.StopCancelled || end.Message != "enough" {
		t.Fatalf("ended with %+v", end)
	}
	f.add(&loop.UserMessage{Text: "go on"})
	blocks := f.state.Request().Messages[2].Blocks
	if len(blocks) != 4 || blocks[0].ToolResult.Content[0].Text != "kept" || !blocks[2].ToolResult.IsError {
		t.Errorf("the conversation goes on with %+v", blocks)
	}
}

func TestCancelBeforeTheModelAnswers(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.add(&loop.CancelRequested{})
	if end := f.state.Finished(); end == nil || end.StopReason != loop.StopCancelled {
		t.Errorf("ended with %+v", end)
	}
}

// The model reads next what the user says while it writes, and the run does not end before.
func TestMessageMeanwhile(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	read := f.state.Seq()
	f.add(&loop.UserMessage{Text: "and this"})
	resp := &model.Response{Message: model.Message{Blocks: []model.Block{text("one")}}, StopReason: model.StopEndTurn}
	f.add(f.state.Respond(resp, offered, read))
	if f.state.Finished() != nil {
		t.Fatal("the run ended although the user had said more")
	}
	got := f.state.Request().Messages
	if len(got) != 3 || len(got[0].Blocks) != 1 || got[2].Blocks[0].Text.Text != "and this" {
		t.Errorf("the conversation is %+v", got)
	}
}

func TestProviderIDs(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	for range 3 {
		m := f.respond(model.StopToolUse, call("", "echo"), call("same", "echo"), call("same", ""), call("", "no such name!"))
		for _, c := range m.Calls {
			if c.Refusal == "" {
				f.result(c.ID, "ok")
			}
		}
	}
	checkPaired(t, f.state.Request().Messages)
}

func TestApplyRefusesWhatCannotBe(t *testing.T) {
	for name, events := range map[string][]loop.Payload{
		"no beginning":         {&loop.UserMessage{}},
		"two beginnings":       {&loop.RunStarted{}, &loop.RunStarted{}},
		"result of nothing":    {&loop.RunStarted{}, &loop.CallResult{CallID: "x"}},
		"start of nothing":     {&loop.RunStarted{}, &loop.CallStarted{CallID: "x"}},
		"finished twice":       {&loop.RunStarted{}, &loop.RunFinished{}, &loop.RunFinished{}},
		"answer after the end": {&loop.RunStarted{}, &loop.RunFinished{}, &loop.AssistantMessage{}},
		"passing event":        {&loop.RunStarted{}, &loop.TextDelta{}},
		"calls not named":      {&loop.RunStarted{}, &loop.AssistantMessage{Message: model.Message{Blocks: []model.Block{call("a", "b")}}}},
		"finished too early":   {&loop.RunStarted{}, &loop.AssistantMessage{Message: model.Message{Blocks: []model.Block{call("a", "b")}}, Calls: []loop.Call{{ID: "x"}}}, &loop.RunFinished{}},
	} {
		var s loop.State
		var err error
		for i, p := range events {
			if err != nil {
				t.Fatalf("%s: refused too early: %v", name, err)
			}
			err = s.Apply(loop.Event{Seq: uint64(i + 1), Payload: p})
		}
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
