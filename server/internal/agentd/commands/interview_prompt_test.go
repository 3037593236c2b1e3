package commands

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/form"
)

// The question for an answer of a tool says how to decline, and an empty line declines only where
// it is no value.
func TestAnEmptyLineDeclinesWhereItIsNoValue(t *testing.T) {
	const (
		optional = `{"type":"object","properties":{"what":{"type":"string","enum":["duplicate","spam"]},"why":{"type":"string"}}}`
		required = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`
		several  = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"why":{"type":"string"}}}`
	)
	for name, tt := range map[string]struct {
		schema, asks string
		lines        []string
		verdict      client.Verdict
		answer       string
	}{
		"no value":      {optional, "your answer for what (/decline: you decline): ", []string{"", "late"}, client.Answer, `{"why":"late"}`},
		"no values":     {optional, "/decline", []string{"", ""}, client.Answer, `{}`},
		"a beginning":   {optional, "/decline", []string{"dup", ""}, client.Answer, `{"what":"duplicate"}`},
		"declined":      {optional, "/decline", []string{"/decline"}, client.Reject, ""},
		"declined then": {optional, "why [may be empty]: ", []string{"spam", " /decline "}, client.Reject, ""},
		"empty":         {required, "your answer (empty: you decline): ", []string{""}, client.Reject, ""},
		"word":          {required, "(empty: you decline): ", []string{"/decline"}, client.Reject, ""},
		"no fields":     {`{}`, "your answer (empty: you decline): ", []string{""}, client.Reject, ""},
		"a bad value":   {several, "type a whole number", []string{"x", "7", ""}, client.Answer, `{"n":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			v, out := askedFor(t, client.PendingDecision{ID: "d1", Kind: client.DecideTool, Tool: "report", Schema: []byte(tt.schema)})
			last := len(tt.lines) - 1
			for _, line := range tt.lines[:last] {
				if made, err := v.hear(line); !errors.Is(err, errNoAnswer) {
					t.Fatalf("%q decided %+v, %v", line, made, err)
				}
			}
			made, err := v.hear(tt.lines[last])
			if err != nil || made.Verdict != tt.verdict || made.Text != tt.answer {
				t.Errorf("decided %+v, %v", made, err)
			}
			if !strings.Contains(out.String(), tt.asks) {
				t.Errorf("it asks %q, want %q", out, tt.asks)
			}
		})
	}
}

// A number beyond the proposed answers is no answer in words.
func TestANumberChoosesAmongProposedAnswers(t *testing.T) {
	proposed := []string{"red", "blue", "42"}
	for _, tt := range []struct {
		line     string
		options  []string
		verdict  client.Verdict // empty: it asks again
		wantText string
	}{
		{"1", proposed, client.Answer, "red"}, {" 3 ", proposed, client.Answer, "42"}, {"42", proposed, client.Answer, "42"},
		{"10", proposed, "", ""}, {"0", proposed, "", ""}, {"4", proposed, "", ""}, {" 10", proposed, client.Answer, "10"},
		{"10 of them", proposed, client.Answer, "10 of them"}, {"-1", proposed, client.Answer, "-1"}, {"", proposed, client.Reject, ""},
		{"10", nil, client.Answer, "10"},
	} {
		v, out := askedFor(t, client.PendingDecision{ID: "d1", Kind: client.DecideQuestion, Options: tt.options})
		made, err := v.hear(tt.line)
		if tt.verdict == "" {
			if !errors.Is(err, errNoAnswer) || !strings.Contains(out.String(), "there is no answer "+tt.line+": type a number from 1 to 3") || !v.asking() {
				t.Errorf("%q decided %+v, %v, and shows %q", tt.line, made, err, out)
			}
			continue
		}
		if err != nil || made.Verdict != tt.verdict || made.Text != tt.wantText {
			t.Errorf("%q decided %+v, %v, want %q", tt.line, made, err, tt.wantText)
		}
	}
}

// After a value that a later field does not take, the question is about that field.
func TestABadValueAsksForItsFieldAgain(t *testing.T) {
	schema := []byte(`{"type":"object","properties":{"why":{"type":"string"},"n":{"type":"integer"}}}`)
	v, out := askedFor(t, client.PendingDecision{ID: "d1", Kind: client.DecideTool, Tool: "report", Schema: schema})
	for _, line := range []string{"late", "x"} {
		if made, err := v.hear(line); !errors.Is(err, errNoAnswer) {
			t.Fatalf("%q decided %+v, %v", line, made, err)
		}
	}
	fields := form.Fields(schema)
	if want := "type a whole number.\n  " + fields[1].Prompt() + ": "; !strings.HasSuffix(out.String(), want) {
		t.Errorf("it asks %q, want %q", out, want)
	}
}

// askedFor returns an interview that has asked for a decision, and what it shows.
func askedFor(t *testing.T, d client.PendingDecision) (*interview, *output) {
	t.Helper()
	out := newOutput()
	p := cli.Process{Stdin: strings.NewReader(""), Stdout: out, Getenv: func(string) string { return "" }}
	v := newInterview(p, terminal.NewConsole(p), newTextDisplay(p))
	v.expect([]client.PendingDecision{d})
	if err := v.ask(); err != nil {
		t.Fatal(err)
	}
	return v, out
}
