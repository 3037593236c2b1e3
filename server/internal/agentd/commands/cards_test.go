package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// screen is a terminal that understands the control sequences of a block.
type screen struct {
	t    *testing.T
	rows []string
	row  int
}

func (s *screen) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		switch {
		case strings.HasPrefix(rest, terminal.LineUp):
			s.row, rest = max(s.row-1, 0), rest[len(terminal.LineUp):]
		case strings.HasPrefix(rest, terminal.EraseBelow):
			// the sequence occurs only at the beginning of a line
			s.rows, rest = s.rows[:s.row], rest[len(terminal.EraseBelow):]
		case strings.HasPrefix(rest, terminal.CutLines), strings.HasPrefix(rest, terminal.WrapLines):
			rest = rest[len(terminal.CutLines):]
		case rest[0] == 0x1b:
			s.t.Errorf("the terminal is told what it does not know: %q", rest)
			return len(p), nil
		case rest[0] == '\n':
			s.at()
			s.row, rest = s.row+1, rest[1:]
		case rest[0] == '\r':
			rest = rest[1:]
		default:
			*s.at() += rest[:1]
			rest = rest[1:]
		}
	}
	return len(p), nil
}

func (s *screen) at() *string {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, "")
	}
	return &s.rows[s.row]
}

// newTerminal returns a display on a screen.
func newTerminal(t *testing.T, wide, high int) (*textDisplay, *screen) {
	s := &screen{t: t}
	d := newTextDisplay(cli.Process{Stdout: s, Getenv: func(string) string { return "" }})
	d.block = &terminal.Block{Size: func() (int, int) { return wide, high }}
	return d, s
}

func TestCallsHaveOneLineEachWhileTheyAreUnderWay(t *testing.T) {
	const wide, high = 30, 4
	began := time.Unix(0, 0)
	started := func(id string) client.RunEvent {
		return client.RunEvent{Time: began, Payload: &client.CallStarted{CallID: id, Tool: id}}
	}
	status := func(id, message string) client.RunEvent {
		return client.RunEvent{Payload: &client.CallStatus{CallID: id, Tool: id, Status: tool.Status{Message: message}}}
	}
	ended := func(id string, r tool.Result) client.RunEvent {
		return client.RunEvent{Time: began.Add(time.Second), Payload: &client.CallResult{CallID: id, Tool: id, Result: r}}
	}
	call := func(id string) client.ToolCall {
		return client.ToolCall{CallID: id, Tool: id, Arguments: json.RawMessage(`{"x":"` + id + `"}`)}
	}
	steps := []struct {
		does   string
		events []client.RunEvent
		want   []string
	}{
		{"two calls begin", []client.RunEvent{{Payload: assistant("Look.", call("a"), call("b"))}, started("a"), started("b")},
			[]string{"Look.", `→ a {"x":"a"}`, `→ b {"x":"b"}`}},
		{"they say something", []client.RunEvent{status("b", "half"), status("a", "a word\x1b[2J that is longer than the line")},
			[]string{"Look.", "→ a a word\\x1b[2J that is lo…", "→ b half"}},
		{"the first ends", []client.RunEvent{ended("a", tool.TextResult("42"))},
			[]string{"Look.", "✓ a a (1s) 42", "→ b half"}},
		{"the run is warned", []client.RunEvent{{Payload: &client.BudgetWarning{Budget: "calls", Used: 8, Limit: 10}}},
			[]string{"Look.", "✓ a a (1s) 42", "! much of a budget is used:", "  8 of 10, calls", "→ b half"}},
		{"the other fails", []client.RunEvent{ended("b", tool.ErrorResult("no"))},
			[]string{"Look.", "✓ a a (1s) 42", "! much of a budget is used:", "  8 of 10, calls", "✗ b b (1s) no"}},
	}
	d, s := newTerminal(t, wide, high)
	for _, step := range steps {
		for _, e := range step.events {
			if err := d.show(e); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(step.want, s.rows); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.does, diff)
		}
	}
}

func TestTheLinesOfCallsFitTheScreen(t *testing.T) {
	d, s := newTerminal(t, 80, 4)
	for _, id := range []string{"a", "b", "c", "d"} {
		if err := d.show(client.RunEvent{Payload: &client.CallStarted{CallID: id, Tool: id}}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"→ a", "→ b", "… and 2 more"}, s.rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := d.leave(); err != nil || len(s.rows) != 0 {
		t.Errorf("left over: %q, %v", s.rows, err)
	}
}

// The display does not move a line while a person types it.
func TestNothingIsDrawnBelowAQuestion(t *testing.T) {
	d, s := newTerminal(t, 80, 24)
	show := func(p client.RunPayload) {
		t.Helper()
		if err := d.show(client.RunEvent{Payload: p}); err != nil {
			t.Fatal(err)
		}
	}
	show(&client.CallStarted{CallID: "a", Tool: "a"})
	if err := d.hide(); err != nil {
		t.Fatal(err)
	}
	show(&client.BudgetWarning{Budget: "calls", Used: 8, Limit: 10})
	show(&client.CallStatus{CallID: "a", Tool: "a", Status: tool.Status{Message: "half"}})
	if len(s.rows) != 1 {
		t.Errorf("below the question: %q", s.rows)
	}
	d.reveal()
	show(&client.CallStatus{CallID: "a", Tool: "a", Status: tool.Status{Message: "more"}})
	if len(s.rows) != 2 || s.rows[1] != "→ a more" {
		t.Errorf("after the question: %q", s.rows)
	}
}
