package commands

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// The text display shows reasoning only if it is wanted, on lines of its own, and without control
// characters.
func TestReasoningIsShownIfWanted(t *testing.T) {
	events := []client.RunPayload{
		&client.ReasoningDelta{Text: "I \x1b[31mth"}, &client.ReasoningDelta{Text: "ink.\n"}, &client.ReasoningDelta{Text: "So"},
		&client.TextDelta{Text: "Yes"}, &client.AssistantMessage{Text: "Yes"}, &client.RunEnded{StopReason: "end_turn", Text: "Yes"},
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
	end := &client.RunEnded{StopReason: "completed", Text: `{"n":"\u001b[31m"}`, Result: json.RawMessage(`{"n":"\u001b[31m"}`)}
	for _, test := range []struct {
		said string
		want string
	}{
		{`{"n": "\u001b[31m"}`, `{"n": "\u001b[31m"}` + "\n"},
		{"here:", "here:\n{\n  \"n\": \"\\u001b[31m\"\n}\n"},
		{"", "{\n  \"n\": \"\\u001b[31m\"\n}\n"},
	} {
		var out bytes.Buffer
		showAll(t, newTextDisplay(cli.Process{Stdout: &out}), []client.RunPayload{&client.AssistantMessage{Text: test.said}, end})
		if out.String() != test.want {
			t.Errorf("after %q: %q, want %q", test.said, out.String(), test.want)
		}
	}
}

// The lines for programs have the pieces and the answer.
func TestAnswerForPrograms(t *testing.T) {
	var out bytes.Buffer
	showAll(t, &jsonDisplay{out: &out}, []client.RunPayload{
		&client.ReasoningDelta{Text: "hm"}, &client.ArgumentDelta{CallID: "c", Tool: "t", Text: "{"}, &client.AnswerDelta{Answer: json.RawMessage(`{"n":1}`)},
		&client.RunEnded{StopReason: "completed", Text: `{"n":1}`, Result: json.RawMessage(`{"n":1}`)},
	})
	for i, want := range []string{
		`,"text":"hm"}`, `,"call_id":"c","tool":"t","text":"{"}`, `,"answer":{"n":1}}`, `"result":{"n":1}}`,
	} {
		if got := strings.Split(out.String(), "\n")[i]; !strings.HasSuffix(got, want) {
			t.Errorf("line %d is %s, want %s at its end", i, got, want)
		}
	}
}

func showAll(t *testing.T, d display, events []client.RunPayload) {
	t.Helper()
	for i, p := range events {
		if err := d.show(client.RunEvent{Seq: uint64(i + 1), Payload: p}); err != nil {
			t.Fatal(err)
		}
	}
}
