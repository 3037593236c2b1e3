package commands

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/agentd/model"
	"github.com/toolhost/toolhost/internal/terminal/cli"
)

// The text display shows reasoning only if it is wanted, on lines of its own, and without control
// characters.
func TestReasoningIsShownIfWanted(t *testing.T) {
	events := []loop.Payload{
		&loop.ReasoningDelta{Text: "I \x1b[31mth"}, &loop.ReasoningDelta{Text: "ink.\n"}, &loop.ReasoningDelta{Text: "So"},
		&loop.TextDelta{Text: "Yes"}, &loop.AssistantMessage{Message: message("Yes")}, &loop.RunFinished{StopReason: loop.StopEndTurn, Text: "Yes"},
	}
	for _, test := range []struct {
		think, color bool
		want         string
	}{
		{false, false, "Yes\n"},
		{true, false, "I \\x1b[31mthink.\nSo\nYes\n"},
		{true, true, "\x1b[2mI \\x1b[31mth\x1b[0m\x1b[2mink.\x1b[0m\n\x1b[2mSo\x1b[0m\nYes\n"},
	} {
		var out bytes.Buffer
		d := newTextDisplay(cli.Process{Stdout: &out})
		d.think, d.colors = test.think, colors(test.color)
		showAll(t, d, events)
		if out.String() != test.want {
			t.Errorf("reasoning %t, color %t: %q, want %q", test.think, test.color, out.String(), test.want)
		}
	}
}

// The answer of a call is shown at the end, and an answer that was shown as text is not repeated.
func TestAnswerIsShownOnce(t *testing.T) {
	end := &loop.RunFinished{StopReason: loop.StopCompleted, Text: `{"n":"\u001b[31m"}`, Result: json.RawMessage(`{"n":"\u001b[31m"}`)}
	for _, test := range []struct {
		said string
		want string
	}{
		{`{"n": "\u001b[31m"}`, `{"n": "\u001b[31m"}` + "\n"},
		{"here:", "here:\n{\n  \"n\": \"\\u001b[31m\"\n}\n"},
		{"", "{\n  \"n\": \"\\u001b[31m\"\n}\n"},
	} {
		var out bytes.Buffer
		showAll(t, newTextDisplay(cli.Process{Stdout: &out}), []loop.Payload{&loop.AssistantMessage{Message: message(test.said)}, end})
		if out.String() != test.want {
			t.Errorf("after %q: %q, want %q", test.said, out.String(), test.want)
		}
	}
}

// The lines for programs have the pieces and the answer.
func TestAnswerForPrograms(t *testing.T) {
	var out bytes.Buffer
	showAll(t, &jsonDisplay{out: &out}, []loop.Payload{
		&loop.ReasoningDelta{Text: "hm"}, &loop.ArgumentDelta{CallID: "c", Tool: "t", Text: "{"}, &loop.AnswerDelta{Answer: json.RawMessage(`{"n":1}`)},
		&loop.RunFinished{StopReason: loop.StopCompleted, Text: `{"n":1}`, Result: json.RawMessage(`{"n":1}`)},
	})
	for i, want := range []string{
		`"type":"reasoning_delta","text":"hm"}`, `"type":"argument_delta","call_id":"c","tool":"t","text":"{"}`,
		`"type":"answer_delta","answer":{"n":1}}`, `"result":{"n":1}}`,
	} {
		if got := strings.Split(out.String(), "\n")[i]; !strings.HasSuffix(got, want) {
			t.Errorf("line %d is %s, want %s at its end", i, got, want)
		}
	}
}

func message(text string) model.Message {
	return model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: &model.Text{Text: text}}}}
}

func showAll(t *testing.T, d display, events []loop.Payload) {
	t.Helper()
	for i, p := range events {
		if err := d.show(loop.Event{Seq: uint64(i + 1), Payload: p}); err != nil {
			t.Fatal(err)
		}
	}
}
