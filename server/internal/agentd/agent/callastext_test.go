package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// A response that is a tool call as text is no answer: the model is told once, and then the run
// ends without success. Package markup has the forms.
func TestACallAsText(t *testing.T) {
	const hermes = "<tool_call>\n{\"name\": \"echo\", \"arguments\": {}}\n</tool_call>"
	for name, test := range map[string]struct {
		texts []string
		want  loop.StopReason
	}{
		"twice":                     {[]string{hermes, "[TOOL_CALLS]echo[ARGS]{}"}, loop.StopCallAsText},
		"once":                      {[]string{hermes, "done"}, loop.StopEndTurn},
		"a quotation":               {[]string{"Hermes writes <tool_call> before a call."}, loop.StopEndTurn},
		"the answer in a block":     {[]string{hermes, "This is it:\n\n```\n" + hermes + "\n```"}, loop.StopEndTurn},
		"of a tool that is unknown": {[]string{"{\"name\": \"other\", \"arguments\": {}}"}, loop.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []*model.Response
				for _, text := range test.texts {
					all = append(all, response(model.StopEndTurn, model.Block{Text: &model.Text{Text: text}}))
				}
				f := newFixture(t, turns(all...), newTools(echo), nil)
				f.start(loop.Task{})
				end := f.end()
				if end.StopReason != test.want || len(f.model.seen()) != len(test.texts) {
					t.Fatalf("ended with %s (%s) after %d requests, want %s", end.StopReason, end.Message, len(f.model.seen()), test.want)
				}
				if end.StopReason == loop.StopCallAsText && (end.StopReason.Succeeded() || !strings.Contains(end.Message, "(mistral)")) {
					t.Errorf("the run ended with %q", end.Message)
				}
				if seen := f.model.seen(); len(seen) > 1 {
					told := seen[1].Messages[len(seen[1].Messages)-1]
					if text := loop.TextOf(&told); !strings.Contains(text, "is a tool call as text (hermes, qwen, glm)") {
						t.Errorf("the model was told %q", text)
					}
				}
			})
		})
	}
}
