package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/tool"
)

// streaming is a model that streams chunks, with a pause after each. The nth request gets the nth
// list, and each list ends with a response or an error.
type streaming struct {
	pause time.Duration
	lists [][]any // of model.Chunk or error
	asked int
}

func (*streaming) Name() string { return "streaming" }

func (m *streaming) Generate(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
	list := m.lists[m.asked]
	m.asked++
	return func(yield func(model.Chunk, error) bool) {
		time.Sleep(time.Millisecond) // of the bubble: until the watcher waits, because deltas are not kept for it
		for _, item := range list {
			chunk, _ := item.(model.Chunk)
			err, _ := item.(error)
			if !yield(chunk, err) {
				return
			}
			time.Sleep(m.pause)
		}
	}
}

func said(text string) any   { return model.Chunk{TextDelta: &model.TextDelta{Text: text}} }
func mused(text string) any  { return model.Chunk{ReasoningDelta: &model.ReasoningDelta{Text: text}} }
func begins(name string) any { return model.Chunk{CallBegun: &model.CallBegun{ID: "x", Name: name}} }
func wrote(text string) any  { return model.Chunk{ArgumentDelta: &model.ArgumentDelta{Text: text}} }
func ends(reason model.StopReason, blocks ...model.Block) any {
	return model.Chunk{Response: response(reason, blocks...)}
}

// follow starts a run with a schema and returns what its watcher sees, one line for each event.
func (m *streaming) follow(t *testing.T) (lines []string) {
	t.Helper()
	a, err := agent.New(agent.Config{Store: memory.New(), Model: m, Tools: newTools(echo)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello", ResponseSchema: json.RawMessage(`{"type":"object"}`)}); err != nil {
		t.Fatal(err)
	}
	for e, err := range a.WatchRun(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		line := string(e.Payload.Type())
		switch p := e.Payload.(type) {
		case *loop.ReasoningDelta:
			line += " " + p.Text
		case *loop.ArgumentDelta:
			line += " " + p.CallID + " " + p.Tool + " " + p.Text
		case *loop.AnswerDelta:
			line += " " + string(p.Answer)
		case *loop.RunFinished:
			line += " " + string(p.StopReason) + " " + string(p.Result)
		}
		lines = append(lines, line)
	}
	return lines
}

// A watcher sees reasoning, and the pieces of the arguments in whole characters. The answer is
// shown from the arguments of final_answer, and each time it has changed. An attempt that failed is
// void, and the next one begins again.
func TestWatcherSeesWhatTheModelWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := `{"name":"é","list":[1,2]}`
		m := &streaming{pause: time.Second, lists: [][]any{
			{mused("hm"), begins(loop.SystemFinalAnswer), wrote(`{"na`), wrote(`me":"old`), &model.Error{Message: "overloaded", Retryable: true}},
			{said(`{"text":1}`), begins(loop.SystemFinalAnswer), wrote(whole[:10]), wrote(whole[10:11]), wrote(whole[11:20]), wrote(whole[20:]), ends(model.StopToolUse, final(whole))},
		}}
		want := []string{
			"run_started", "reasoning_delta hm",
			"answer_delta {}", `argument_delta r.t1.c0 final_answer {"na`, `answer_delta {"name":"old"}`, `argument_delta r.t1.c0 final_answer me":"old`, "turn_reset",
			"text_delta", `answer_delta {"text":1}`,
			`answer_delta {"name":""}`, `argument_delta r.t1.c0 final_answer {"name":"`, `answer_delta {"name":"é"}`, `argument_delta r.t1.c0 final_answer é`, `argument_delta r.t1.c0 final_answer ","list":`,
			`answer_delta {"name":"é","list":[1,2]}`, `argument_delta r.t1.c0 final_answer [1,2]}`,
			"assistant_message", "call_result", "run_finished completed " + whole,
		}
		if diff := cmp.Diff(want, m.follow(t)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// The name of a tool is of the model's choice, and each piece of its arguments repeats it. So a
// watcher gets a short one.
func TestNamesOfToolsAreShownClipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &streaming{lists: [][]any{{begins(strings.Repeat("n", 1<<20)), wrote("{"), wrote("}"), ends(model.StopToolUse, final(`{"n":1}`))}}}
		shown := 0
		for _, line := range m.follow(t) {
			if strings.HasPrefix(line, "argument_delta ") {
				if shown++; len(line) > 150 || !strings.Contains(line, "nnn…") {
					t.Errorf("%d bytes: %.200s", len(line), line)
				}
			}
		}
		if shown != 2 {
			t.Errorf("%d pieces are shown", shown)
		}
	})
}

// A fast model shows its answer ten times a second and at the end, and a large answer only until it
// is large.
func TestAnswerIsShownAtABoundedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, size := range []int{1000, 100_000} {
			text := `{"n":"` + strings.Repeat("x", size-8) + `"}`
			list := []any{}
			for at := 0; at < size; at += size / 1000 {
				list = append(list, said(text[at:at+size/1000]))
			}
			m := &streaming{pause: time.Millisecond, lists: [][]any{append(list, ends(model.StopEndTurn, model.Block{Text: &model.Text{Text: text}}))}}
			shown, last := 0, ""
			for _, line := range m.follow(t) {
				if answer, ok := strings.CutPrefix(line, "answer_delta "); ok {
					shown, last = shown+1, answer
				}
			}
			switch {
			case shown < 5 || shown > 11:
				t.Errorf("%d bytes were shown %d times in a second", size, shown)
			case size == 1000 && last != text:
				t.Errorf("the last state that was shown is %s", last)
			case len(last) > 64<<10:
				t.Errorf("a state of %d bytes was shown", len(last))
			}
		}
	})
}

func final(arguments string) model.Block {
	return model.Block{ToolCall: &model.ToolCall{ID: "x", Name: loop.SystemFinalAnswer, Arguments: arguments}}
}

// A schema that cannot be used starts no run, and a run with another schema is another run.
func TestResponseSchemaIsChecked(t *testing.T) {
	f := newFixture(t, turns(response(model.StopEndTurn, text(`{"n":1}`))), newTools(echo), nil)
	for _, schema := range []string{
		`{`, `[]`, `true`, `{}`, `{"type":"string"}`, `{"type":["object","null"]}`, `{"type":"object","properties":7}`,
		`{"type":"object","$ref":"https://example.com/schema.json"}`, "{\"type\":\"object\",\"title\":\"\xff\"}",
		`{"type":"object","title":"` + strings.Repeat("x", 300<<10) + `"}`,
	} {
		_, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello", ResponseSchema: json.RawMessage(schema)})
		if tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "response schema") {
			t.Errorf("%.60s: %v", schema, err)
		}
	}
	f.start(loop.Task{ResponseSchema: json.RawMessage(`{"type": "object"}`)})
	if end := f.end(); end.StopReason != loop.StopCompleted || string(end.Result) != `{"n":1}` {
		t.Errorf("ended with %+v", end)
	}
	for schema, want := range map[string]tool.Kind{`{"type":"object"}`: "", `{"type":"object","minProperties":1}`: tool.KindConflict, "": tool.KindConflict} {
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello", ResponseSchema: json.RawMessage(schema)}); err != nil && tool.KindOf(err) != want || err == nil && want != "" {
			t.Errorf("starting it again with %q: %v, want %q", schema, err, want)
		}
	}
}

// An API that refuses the schema as an input schema gets it as text, and agentd checks the answer.
func TestRefusedResponseSchema(t *testing.T) {
	m := turns(response(model.StopToolUse, final(`{"n":"no"}`)), response(model.StopToolUse, final(`{"n":1}`)))
	f := newFixture(t, m, newTools(echo), func(c *agent.Config) { c.Model = &picky{m} })
	f.start(loop.Task{ResponseSchema: json.RawMessage(`{"type":"object","oneOf":[{"properties":{"n":{"type":"integer"}}}]}`)})
	if end := f.end(); end.StopReason != loop.StopCompleted || string(end.Result) != `{"n":1}` {
		t.Errorf("ended with %+v", end)
	}
	offered := m.seen()[0].Tools
	if last := offered[len(offered)-1]; last.Name != loop.SystemFinalAnswer || string(last.InputSchema) != `{"type":"object"}` || !strings.Contains(last.Description, `"oneOf"`) {
		t.Errorf("offered: %+v", last)
	}
}

// picky refuses tools whose schema has oneOf.
type picky struct{ *fakeModel }

func (*picky) MaxTools() int { return 0 }

func (*picky) Refuses(t model.Tool) string {
	if strings.Contains(string(t.InputSchema), "oneOf") {
		return "it has oneOf"
	}
	return ""
}

// A plugin's tool with the name of final_answer is not offered, even if agentd.yaml names its
// plugin.
func TestNoPluginReplacesFinalAnswer(t *testing.T) {
	m := turns(response(model.StopToolUse, final(`{"n":1}`)))
	tools := newTools(echo)
	tools.infos = []tool.Info{{Plugin: "p", Spec: tool.Spec{Name: loop.SystemFinalAnswer, Description: "of a plugin"}}}
	f := newFixture(t, m, tools, nil)
	f.start(loop.Task{ResponseSchema: json.RawMessage(`{"type":"object"}`)})
	if end := f.end(); end.StopReason != loop.StopCompleted || len(tools.executions()) != 0 {
		t.Errorf("ended with %+v after %v", end, tools.executions())
	}
	if n := len(m.seen()[0].Tools); n != 1 {
		t.Errorf("%d tools were offered", n)
	}
}
