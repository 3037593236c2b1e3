package loop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// structured is a run whose answer is an object.
func structured() loop.RunStarted {
	return loop.RunStarted{ResponseSchema: json.RawMessage(`{"type":"object"}`), People: loop.People{Attended: true}, SystemTools: []string{loop.SystemAskUser, loop.SystemAttemptCompletion}}
}

// final is a call of final_answer.
func final(id, arguments string) model.Block {
	return model.Block{ToolCall: &model.ToolCall{ID: id, Name: loop.SystemFinalAnswer, Arguments: arguments}}
}

// answer folds a response with the driver's verdict on its answer. An empty problem means that the
// answer fits.
func (f *folder) answer(problem string, reason model.StopReason, blocks ...model.Block) {
	f.t.Helper()
	checkPaired(f.t, f.state.Request().Messages)
	resp := &model.Response{Message: model.Message{Role: model.RoleAssistant, Blocks: blocks}, StopReason: reason}
	turn := f.state.Turn()
	m := f.state.Respond(resp, offered, f.state.Seq())
	if _, index, ok := loop.AnswerIn(&resp.Message); ok {
		m.Answer = &loop.Answer{Problem: problem}
		if index >= 0 {
			m.Answer.CallID = loop.CallID("r", turn, index)
		}
	}
	f.add(m)
}

// wantEnd checks how the run has ended.
func (f *folder) wantEnd(stop loop.StopReason, result string) {
	f.t.Helper()
	end := f.state.Finished()
	if end == nil {
		f.t.Fatalf("the run has not ended; next is %v", loop.Next(&f.state))
	}
	if end.StopReason != stop || string(end.Result) != result {
		f.t.Errorf("ended with %s (%s) and %s, want %s and %s", end.StopReason, end.Message, end.Result, stop, result)
	}
	if result != "" && end.Text != result {
		f.t.Errorf("the text is %q, want the result", end.Text)
	}
}

// wantTold checks that the last message of the user contains a text.
func (f *folder) wantTold(words string) {
	f.t.Helper()
	messages := f.state.Request().Messages
	last, err := json.Marshal(messages[len(messages)-1])
	if err != nil || messages[len(messages)-1].Role != model.RoleUser || !strings.Contains(string(last), words) {
		f.t.Errorf("the model reads %s, want %q in it", last, words)
	}
}

// A run ends with the first answer that fits, in either form, as the model wrote it.
func TestAnswerThatFits(t *testing.T) {
	for name, blocks := range map[string][]model.Block{
		"text":             {text(" {\"b\": 1.50,\n \"a\": \"<\"} ")},
		"text in pieces":   {text(`{"b": 1.50, "a"`), text(`: "<"}`)},
		"call":             {final("x", ` {"b": 1.50, "a": "<"} `)},
		"call beside text": {text("here it is"), final("x", `{"b": 1.50, "a": "<"}`)},
		"two calls":        {final("x", `{"b": 1.50, "a": "<"}`), final("y", `{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolderOf(t, structured())
			f.kept = &archive{every: 1}
			f.answer("", model.StopEndTurn, blocks...)
			f.wantEnd(loop.StopCompleted, `{"b":1.50,"a":"<"}`)
			f.kept.check(f)
		})
	}
}

// A call without arguments answers with an empty object.
func TestAnswerWithoutArguments(t *testing.T) {
	f := newFolderOf(t, structured())
	f.answer("", model.StopToolUse, final("x", ""))
	f.wantEnd(loop.StopCompleted, `{}`)
}

// The model may correct its answer twice. A third wrong answer ends the run, and a message of the
// user begins again.
func TestWrongAnswers(t *testing.T) {
	for name, wrong := range map[string]model.Block{"text": text("7"), "call": final("", `{"n":7}`), "nothing": text("")} {
		t.Run(name, func(t *testing.T) {
			f := newFolderOf(t, structured())
			f.kept = &archive{every: 1}
			told := "n must be a string"
			if name == "nothing" {
				told = "the response had none"
			}
			for range 2 {
				// Two empty responses in a row end every run.
				f.answer(told, model.StopEndTurn, wrong)
				f.wantTold(told)
				if name == "nothing" {
					f.answer("", model.StopToolUse, call("", "echo"))
					f.result(f.running()[0], "fine")
				}
			}
			f.answer(told, model.StopEndTurn, wrong)
			f.wantEnd(loop.StopInvalidAnswer, "")
			if end := f.state.Finished(); !strings.Contains(end.Message, told) || !strings.Contains(end.Message, "2 repairs") {
				t.Errorf("the message is %q", end.Message)
			}
			f.add(&loop.UserMessage{Text: "again"})
			f.answer(told, model.StopEndTurn, final("", `{"n":7}`))
			f.wantTold(told)
			f.answer("", model.StopEndTurn, final("", `{"n":"8"}`))
			f.wantEnd(loop.StopCompleted, `{"n":"8"}`)
			f.kept.check(f)
		})
	}
}

// The other calls of a response are made before its answer counts. If one of them fails, the answer
// does not count, and that is no repair.
func TestAnswerBesideOtherCalls(t *testing.T) {
	f := newFolderOf(t, structured())
	for i := range 4 {
		f.answer("", model.StopToolUse, final("", `{"early":true}`), call("", "echo"))
		if ids := f.running(); len(ids) != 1 {
			t.Fatalf("running: %v", ids)
		}
		f.failed(loop.CallID("r", i+1, 1), tool.KindTimeout)
		f.wantTold("Another call of the same response failed")
	}
	f.answer("", model.StopToolUse, call("", "echo"), final("", `{"ok":true}`))
	f.result("r.t5.c0", "fine")
	f.wantEnd(loop.StopCompleted, `{"ok":true}`)
}

// A message that the model has not read continues the run, and its answer is void.
func TestMessageDuringTheAnswer(t *testing.T) {
	f := newFolderOf(t, structured())
	f.answer("", model.StopToolUse, call("", "echo"), final("", `{"n":1}`))
	f.add(&loop.UserMessage{Text: "two, please"})
	f.result("r.t1.c0", "fine")
	if f.state.Finished() != nil {
		t.Fatal("the run has ended with an unread message")
	}
	f.answer("it is wrong", model.StopToolUse, final("", `{"n":""}`))
	f.add(&loop.CancelRequested{})
	f.wantEnd(loop.StopCancelled, "")
}

// A person can be asked before the answer, and the run has no attempt_completion, whose text would
// not fit.
func TestStructuredRunAsks(t *testing.T) {
	f := newFolderOf(t, structured())
	ask := call("", loop.SystemAskUser)
	ask.ToolCall.Arguments = `{"question":"which?"}`
	done := call("", loop.SystemAttemptCompletion)
	done.ToolCall.Arguments = `{"result":"done"}`
	f.answer("", model.StopToolUse, ask, done, final("", `{"n":1}`))
	f.add(&loop.DecisionMade{ID: "d1", Verdict: loop.VerdictAnswer, Text: "this one"})
	if f.state.Finished() != nil {
		t.Fatal("the run has ended although a call was refused")
	}
	f.wantTold("There is no tool")
	f.answer("", model.StopToolUse, final("", `{"n":2}`))
	f.wantEnd(loop.StopCompleted, `{"n":2}`)
}

// Direct results go to the model, because they do not fit the schema.
func TestStructuredRunReturnsNothingDirectly(t *testing.T) {
	f := newFolderOf(t, structured())
	f.answer("", model.StopToolUse, call("", "direct"))
	f.result("r.t1.c0", "look")
	if f.state.Finished() != nil || f.state.Batch().Answers() != 0 {
		t.Fatal("the result went to the user")
	}
	f.wantTold("look")
}

// An answer with the last permitted response, or with the last tokens, ends the run well. A wrong
// one ends it at the limit.
func TestAnswerAtALimit(t *testing.T) {
	for _, limits := range []loop.Limits{{MaxTurns: 1}, {MaxTokens: 1}} {
		for _, problem := range []string{"", "it is wrong"} {
			start := structured()
			start.Limits = limits
			f := newFolderOf(t, start)
			resp := &model.Response{Message: model.Message{Role: model.RoleAssistant, Blocks: []model.Block{final("", `{"n":1}`)}}, StopReason: model.StopToolUse, Usage: tool.Usage{OutputTokens: 5}}
			m := f.state.Respond(resp, offered, f.state.Seq())
			m.Answer = &loop.Answer{CallID: "r.t1.c0", Problem: problem}
			f.add(m)
			switch {
			case problem == "":
				f.wantEnd(loop.StopCompleted, `{"n":1}`)
			case limits.MaxTurns > 0:
				f.wantEnd(loop.StopMaxTurns, "")
			default:
				f.wantEnd(loop.StopTokenBudget, "")
			}
		}
	}
}

// A cut answer is written again, because its pieces do not fit together, and that is no repair.
func TestCutAnswer(t *testing.T) {
	f := newFolderOf(t, structured())
	f.answer("it is no JSON", model.StopMaxTokens, text(`{"n":`))
	f.wantTold("Write the whole answer again")
	for range 2 {
		f.answer("it is wrong", model.StopEndTurn, text(`{"n":1}`))
	}
	f.answer("", model.StopEndTurn, text(`{"n":2}`))
	f.wantEnd(loop.StopCompleted, `{"n":2}`)
}

// No plugin replaces final_answer, and only a run with a schema has it.
func TestFinalAnswerIsOffered(t *testing.T) {
	infos := []tool.Info{{Spec: tool.Spec{Name: loop.SystemFinalAnswer, Description: "of a plugin"}}}
	for _, started := range []loop.RunStarted{{}, structured()} {
		var names []string
		for _, spec := range started.OfferedSystemTools(infos) {
			names = append(names, spec.Name)
			if spec.Name == loop.SystemFinalAnswer && string(spec.InputSchema) != string(started.ResponseSchema) {
				t.Errorf("its input schema is %s", spec.InputSchema)
			}
		}
		want := ""
		if len(started.ResponseSchema) > 0 {
			want = "ask_user final_answer"
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("offered: %q, want %q", got, want)
		}
	}
	if loop.CheckSystemTools([]string{loop.SystemFinalAnswer}) == nil || !loop.IsSystemTool(loop.SystemFinalAnswer) {
		t.Error("a run can choose final_answer, or it is no system tool")
	}
}

// What the model reads about a crash claims nothing about effects beyond the message of the error.
func TestACrashDoesNotDenyItsEffects(t *testing.T) {
	e := tool.Errorf(tool.KindCrashed, "the plugin ended during the call; it may have done part of its work, and can be called again")
	got := loop.FailureResult(&loop.Call{ID: "1", Tool: "write_file"}, e).Result.Text()
	want := "[crashed] the plugin ended during the call; it may have done part of its work, and can be called again. You may try again, with other arguments if it crashes again."
	if got != want {
		t.Errorf("the model reads %q", got)
	}
}
