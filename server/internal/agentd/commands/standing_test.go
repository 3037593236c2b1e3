package commands

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

var someOffers = []client.StandingChoice{
	{}, {Patterns: []tool.ArgumentPattern{{Argument: "content", Any: true}, {Argument: "path", PathPrefix: "docs"}}}, {AnyArguments: true},
}

// A choice is a number with a scope, or JSON. Its description says exactly what it allows.
func TestStandingChoices(t *testing.T) {
	now := time.Date(2026, 11, 24, 10, 0, 0, 0, time.Local)
	for text, want := range map[string]struct {
		words, problem string
	}{
		"1":            {"with exactly these arguments, in this run", ""},
		" 2 session ":  {`any content, path is "docs" or below it, all other arguments as here, in this session`, ""},
		"2 8h":         {`any content, path is "docs" or below it, all other arguments as here, in all runs, until 2026-11-24 18:00`, ""},
		"1 2026-12-31": {"with exactly these arguments, in all runs, until 2027-01-01 00:00", ""},
		"3 run":        {"with any arguments, in this run", ""},
		`{"scope":"run","patterns":[{"argument":"url","origin":"https://example.com"}]}`: {`url is at "https://example.com", all other arguments as here, in this run`, ""},
		"3 session":        {"", "only for this run"},
		"3 8h":             {"", "only for this run"},
		"0":                {"", "a number from 1 to 3"},
		"4":                {"", "a number from 1 to 3"},
		"":                 {"", "a number from 1 to 3"},
		"all":              {"", "a number from 1 to 3"},
		"1 -8h":            {"", "neither run, nor session"},
		"1 forever":        {"", "neither run, nor session"},
		`{"scope":"run"`:   {"", "no JSON object"},
		`{"globs":["**"]}`: {"", "no JSON object"},
	} {
		got, err := parseStanding(someOffers, text, now)
		if want.problem != "" {
			if err == nil || !strings.Contains(err.Error(), want.problem) {
				t.Errorf("%q: got %+v, %v; want %q", text, got, err, want.problem)
			}
			continue
		}
		if err != nil || describeStanding(&got) != want.words {
			t.Errorf("%q: got %q, %v; want %q", text, describeStanding(&got), err, want.words)
		}
	}
}

// In a chat, the person chooses which later calls are approved, sees what that allows, and
// confirms.
func TestAPersonChoosesLaterCalls(t *testing.T) {
	out := newOutput()
	p := cli.Process{Stdin: strings.NewReader(""), Stdout: out, Getenv: func(string) string { return "" }}
	v := newInterview(p, terminal.NewConsole(p), newTextDisplay(p))
	v.expect([]client.PendingDecision{{ID: "d1", Arguments: []byte("{}"), Kind: client.DecideApproval, Tool: "write\x1b[31m", StandingOffers: someOffers}})
	if err := v.ask(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ line, shows string }{
		{"l", `2) later calls of write\x1b[31m any content, path is "docs" or below it`},
		{"", "[l]ater calls too"},
		{"later", "1) later calls"},
		{"9", "choose a number from 1 to 3"},
		{"1 session", "are allowed with exactly these arguments, in this session"},
		{"n", "3) later calls"},
		{"2", "are allowed any content"},
	} {
		before := len(out.String())
		if made, err := v.hear(step.line); err == nil || made.Verdict != "" {
			t.Fatalf("%q decided %+v, %v", step.line, made, err)
		}
		if shown := out.String()[before:]; !strings.Contains(shown, step.shows) {
			t.Errorf("%q shows %q, want %q", step.line, shown, step.shows)
		}
	}
	made, err := v.hear("y")
	want := someOffers[1]
	want.Scope = tool.ScopeRun
	if err != nil || made.Verdict != client.Approve || cmp.Diff(&want, made.Standing) != "" {
		t.Errorf("decided %+v, %v", made, err)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("the terminal gets %q", out)
	}
}

// After r, y approves the first choice for this run, and a number shows another one before that.
func TestForThisRunTakesY(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  int
	}{
		"y":                {[]string{"r", "y"}, 0},
		"a number":         {[]string{"run", "3", "y"}, 2},
		"a typo":           {[]string{"r", "yy", "2", "yes"}, 1},
		"back":             {[]string{"r", "", "r", "2", "1", "y"}, 0},
		"no, then another": {[]string{"r", "n", "2", "y"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			v, out := askedFor(t, client.PendingDecision{ID: "d1", Arguments: []byte("{}"), Kind: client.DecideApproval, Tool: "write", StandingOffers: someOffers})
			last := len(tt.lines) - 1
			for _, line := range tt.lines[:last] {
				if made, err := v.hear(line); !errors.Is(err, errNoAnswer) || made.Verdict != "" {
					t.Fatalf("%q decided %+v, %v", line, made, err)
				}
			}
			made, err := v.hear(tt.lines[last])
			want := someOffers[tt.want]
			want.Scope = tool.ScopeRun
			if err != nil || made.Verdict != client.Approve || cmp.Diff(&want, made.Standing) != "" {
				t.Errorf("decided %+v, %v", made, err)
			}
			if shows := "with exactly these arguments, in this run\n  allow this call and those? [y]es, or another number"; !strings.Contains(out.String(), shows) {
				t.Errorf("it shows %q, want %q", out, shows)
			}
		})
	}
}

// What is approved for a run or a session ends with it, and the display says so. It names a date if
// the person chose one, or if it does not know what the person chose.
func TestShownApprovalsNameTheirEnd(t *testing.T) {
	end := time.Date(2026, 12, 31, 10, 0, 0, 0, time.Local)
	for want, chosen := range map[string]*client.StandingChoice{
		"for this run":           {Scope: tool.ScopeRun},
		"for this session":       {Scope: tool.ScopeSession},
		"until 2026-12-31 10:00": {Scope: tool.ScopePrincipal, Expires: end},
		"until 2026-12-31 10:":   {Scope: tool.ScopeRun, Expires: end},
		"until 2026-12-31 1":     nil,
	} {
		out := newOutput()
		d := newTextDisplay(cli.Process{Stdout: out, Getenv: func(string) string { return "" }})
		for _, p := range []client.RunPayload{
			&client.DecisionMade{ID: "d1", Verdict: client.Approve, Standing: chosen},
			&client.StandingApproved{DecisionID: "d1", Tool: "write", ApprovalID: "s1", Expires: end},
		} {
			if err := d.show(client.RunEvent{Payload: p}); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(out.String(), "later calls of write are allowed "+want) {
			t.Errorf("%+v shows %q, want %q", chosen, out, want)
		}
	}
}

// A display that asks for nothing numbers the choices with the decision, as `agentd respond
// --later` takes them. The end of a story has those of the sub-runs, whose events it does not show.
func TestShownDecisionsNumberTheirChoices(t *testing.T) {
	out := newOutput()
	d := newTextDisplay(cli.Process{Stdout: out, Getenv: func(string) string { return "" }})
	d.story = true
	request := client.PendingDecision{ID: "d1", Kind: client.DecideApproval, Tool: "write", Reason: "files", StandingOffers: someOffers}
	if err := d.show(client.RunEvent{Payload: &client.DecisionRequested{Decision: request}}); err != nil {
		t.Fatal(err)
	}
	below := request
	below.ID, below.RunID, below.Tool = "r-below/d1", "r-below", "drop\x1b[2J"
	if err := waitsFor(d, &client.Run{ID: "r", Pending: []client.PendingDecision{request, below}}, serverChoice{}); err != nil {
		t.Fatal(err)
	}
	want := `? write needs approval (d1): files
  write
  1) later calls of write with exactly these arguments
  2) later calls of write any content, path is "docs" or below it, all other arguments as here
  3) later calls of write with any arguments
… waits for d1: agentd respond r --approve d1
… waits for r-below/d1: agentd respond r --approve r-below/d1
  1) later calls of drop\x1b[2J with exactly these arguments
  2) later calls of drop\x1b[2J any content, path is "docs" or below it, all other arguments as here
  3) later calls of drop\x1b[2J with any arguments
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the display (-want +got):\n%s", diff)
	}
}

// A person who looks for help, or leaves, decides nothing with it. In an answer in words, a slash
// may begin a path.
func TestACommandIsNoDecision(t *testing.T) {
	schema := []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)
	for _, tt := range []struct {
		kind          client.DecisionKind
		line          string
		leaves        bool
		verdict       client.Verdict
		shows, answer string
	}{
		{kind: client.DecideApproval, line: "/help", shows: "Nothing is decided"},
		{kind: client.DecideApproval, line: "/?", shows: "Nothing is decided"},
		{kind: client.DecideApproval, line: "/quit", leaves: true},
		{kind: client.DecideApproval, line: "/exit ", leaves: true},
		{kind: client.DecideApproval, line: "/result 3", shows: "there is no command /result here"},
		{kind: client.DecideApproval, line: "/y", shows: "there is no command /y here"},
		{kind: client.DecideApproval, line: " /help does not help", verdict: client.Reject, answer: "/help does not help"},
		{kind: client.DecideApproval, line: "/etc/hosts is not yours", verdict: client.Reject, answer: "/etc/hosts is not yours"},
		{kind: client.DecidePause, line: "/help", shows: "Nothing is decided"},
		{kind: client.DecidePause, line: "/stop", shows: "there is no command /stop here"},
		{kind: client.DecideOutcome, line: "/help", shows: "Nothing is decided"},
		{kind: client.DecideOutcome, line: "/quit", leaves: true},
		{kind: client.DecideQuestion, line: "/help", shows: "Nothing is decided"},
		{kind: client.DecideQuestion, line: "/tmp", verdict: client.Answer, answer: "/tmp"},
		{kind: client.DecideTool, line: "/quit", leaves: true},
		{kind: client.DecideTool, line: "/tmp", verdict: client.Answer, answer: `{"path":"/tmp"}`},
	} {
		out := newOutput()
		p := cli.Process{Stdin: strings.NewReader(""), Stdout: out, Getenv: func(string) string { return "" }}
		v := newInterview(p, terminal.NewConsole(p), newTextDisplay(p))
		d := client.PendingDecision{ID: "d1", Arguments: []byte("{}"), Kind: tt.kind, Tool: "write"}
		if tt.kind == client.DecideTool {
			d.Schema = schema
		}
		v.expect([]client.PendingDecision{d})
		if err := v.ask(); err != nil {
			t.Fatal(err)
		}
		made, err := v.hear(tt.line)
		switch {
		case tt.leaves:
			if !errors.Is(err, errLeft) {
				t.Errorf("%s %q: %+v, %v; want to leave", tt.kind, tt.line, made, err)
			}
		case tt.shows != "":
			if !errors.Is(err, errNoAnswer) || !strings.Contains(out.String(), tt.shows) || !v.asking() {
				t.Errorf("%s %q: %+v, %v; it shows %q", tt.kind, tt.line, made, err, out)
			}
		case err != nil || made.Verdict != tt.verdict || made.Text != tt.answer:
			t.Errorf("%s %q: %+v, %v", tt.kind, tt.line, made, err)
		}
	}
}
