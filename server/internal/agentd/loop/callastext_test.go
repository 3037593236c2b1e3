package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// The count of calls as text outlives a snapshot, and any other response ends it.
func TestCallsAsText(t *testing.T) {
	f := newFolder(t, loop.Limits{})
	f.kept = &archive{every: 1}
	asText := func() {
		t.Helper()
		resp := &model.Response{Message: model.Message{Role: model.RoleAssistant, Blocks: []model.Block{text("<tool_call>")}}, StopReason: model.StopEndTurn}
		m := f.state.Respond(resp, offered, f.state.Seq())
		m.Markup = "hermes"
		f.add(m)
	}
	asText()
	f.wantTold("is a tool call as text (hermes)")
	f.respond(model.StopToolUse, call("a", "echo"))
	f.result("r.t2.c0", "fine")
	asText()
	f.wantTold("is a tool call as text (hermes)")
	f.add(&loop.UserMessage{Text: "hurry"})
	asText()
	f.wantEnd(loop.StopCallAsText, "")
	f.add(&loop.UserMessage{Text: "again"})
	asText()
	f.wantTold("is a tool call as text (hermes)")
	f.respond(model.StopEndTurn, text("done"))
	f.wantEnd(loop.StopEndTurn, "")
	f.kept.check(f)
}

// The result of a call by a name with a known prefix or suffix names the tool that was meant.
func TestTheToolThatWasMeant(t *testing.T) {
	for name, want := range map[string]string{
		"functions.echo":            "Its name is echo:",
		"default_api:echo":          "Its name is echo:",
		"echo<|channel|>commentary": "Its name is echo:",
		"functions.unknown":         "There are: ",
	} {
		f := newFolder(t, loop.Limits{})
		f.respond(model.StopToolUse, call("a", name))
		if got := fmt.Sprint(f.read()); !strings.Contains(got, fmt.Sprintf("There is no tool %q. %s", name, want)) {
			t.Errorf("%s: the model reads %s", name, got)
		}
	}
}

// An answer with one code fence around it, after thoughts, or behind a byte order mark is the
// answer.
func TestAnswersWithSomethingAround(t *testing.T) {
	const right = `{"animal":"cat","meals":2}`
	for _, text := range []string{
		right, "```json\n" + right + "\n```", "```\n" + right + "\n```\n", "~~~json\n" + right + "\n~~~", "```json\n" + right, // pydantic-ai#3475
		"<think>\nThe cat.\n</think>\n\n" + right, "<thinking>{}</thinking>" + right, "\ufeff" + right, // codex-plugin-cc#583
		"\ufeff<think>x</think>\n```json\n" + right + "\n```", " \n" + right + "\n",
	} {
		got, index, ok := loop.AnswerIn(&model.Message{Blocks: []model.Block{{Text: &model.Text{Text: text}}}})
		if got != right || index != -1 || !ok {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
		f := newFolderOf(t, structured())
		f.answer("", model.StopEndTurn, model.Block{Text: &model.Text{Text: text}})
		f.wantEnd(loop.StopCompleted, right)
	}
	for _, text := range []string{"The answer:\n```json\n" + right + "\n```", right + right, "```json\n" + right + "\n```\nThat is it.", "<think>" + right} {
		if got, _, _ := loop.AnswerIn(&model.Message{Blocks: []model.Block{{Text: &model.Text{Text: text}}}}); got == right {
			t.Errorf("%q is accepted", text)
		}
	}
}
