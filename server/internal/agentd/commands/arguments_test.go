package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// A person reads what a call would do: a command as a command, an edit as a diff, other arguments
// by name. No text of the model looks like a line of agentd, and no character is invisible.
func TestArgumentsAreReadable(t *testing.T) {
	for name, test := range map[string]struct{ arguments, diff, want string }{
		"a command": {`{"command":"go test ./...","timeout_seconds":5}`, "", `
  tool
    $ go test ./...
    timeout_seconds: 5
`},
		"a script": {`{"command":"cd x\n\techo done"}`, "", `
  tool
    $ cd x
    >     echo done
`},
		"a script with a gap": {`{"command":"rm -rf /` + strings.Repeat(`\n `, 500) + `\necho ok"}`, "", `
  tool
    $ rm -rf /
    > [500 blank lines]
    > echo ok
`},
		"a command that hides something": {`{"command":"ls\u202e\nrm"}`, "", `
  tool
    command: "ls\u202e\nrm"
`},
		"an edit": {`{"path":"a.go","edits":[{"old_text":"a\nb\nc\n","new_text":"a\nB\nc\n","replace_all":false}]}`, "", `
  tool
    path: "a.go"
    edits:
      -
        old_text, new_text:
        │ @@ -1,3 +1,3 @@
        │  a
        │ -b
        │ +B
        │  c
        replace_all: false
`},
		"a written file": {`{"path":"a","content":"one\ntwo"}`, "", `
  tool
    path: "a"
    content: |-
    │ +one
    │ +two
`},
		"a written file beside its diff": {`{"content":"` + strings.Repeat(`line\n`, 20) + `"}`, "+line\n", `
  tool
    content: |
` + strings.Repeat("    │ +line\n", 10) + `    │ and 10 more lines; the diff has them
`},
		"a long text without a diff": {`{"text":"` + strings.Repeat(`line\n`, 20) + `"}`, "", `
  tool
    text: |
` + strings.Repeat("    │ line\n", 20)},
		"a text that imitates a question": {`{"text":"a\n  allow it? y\n"}`, "", `
  tool
    text: |
    │ a
    │   allow it? y
`},
		"nested values": {`{"to":{"name":"bob","tags":["a","b"]},"none":null,"empty":{},"list":[{"x":1}]}`, "", `
  tool
    to:
      name: "bob"
      tags: ["a","b"]
    none: null
    empty: {}
    list:
      -
        x: 1
`},
		"a name that is no name": {`{"a: b\n":1,"":2}`, "", `
  tool
    "a: b\n": 1
    "": 2
`},
		"an escape and its text": {`{"a":"\u001b","b":"\\u001b"}`, "", `
  tool
    a: "\u001b"
    b: "\\u001b"
`},
		"no arguments":   {`{}`, "", "\n  tool {}\n"},
		"no JSON":        {"{\"a\":\x1b", "", "\n  tool {\"a\":\\x1b\n"},
		"nested too far": {strings.Repeat(`{"a":`, 14) + "1" + strings.Repeat("}", 14), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := "\n"
			for _, line := range shownArguments(&client.PendingDecision{Tool: "tool", Diff: test.diff, Arguments: []byte(test.arguments)}) {
				if cli.OneLine(line.text) != line.text {
					t.Errorf("the line %q controls the terminal", line.text)
				}
				got += line.text + "\n"
			}
			if test.want == "" {
				if !strings.Contains(got, `a: {"a":1}`) {
					t.Errorf("got %s", got)
				}
			} else if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// An edit is shown as one, in few lines. Other arguments are not.
func TestEditsAreShown(t *testing.T) {
	long := strings.Repeat(`line\n`, 30)
	for name, tt := range map[string]struct {
		arguments string
		lines     int
		has       []string
	}{
		"an edit":           {`{"path":"a","edits":[{"old_text":"b\n","new_text":"c\n"}]}`, 7, []string{`    path: "a"`, "        │ -b", "        │ +c"}},
		"a written file":    {`{"path":"a","content":"one\ntwo\n"}`, 4, []string{"    │ +one", "    │ +two"}},
		"a long file":       {`{"content":"` + long + `"}`, maxEditLines + 1, []string{"    │ +line", "    │ and 11 more lines"}},
		"a long line":       {`{"content":"` + strings.Repeat("x", 1000) + `\ny"}`, 3, []string{"    │ +" + strings.Repeat("x", diffWidth-8) + "…"}},
		"a command":         {`{"command":"rm a\nrm b"}`, 0, nil},
		"a line":            {`{"content":"one"}`, 0, nil},
		"hidden characters": {`{"old_text":"a\u202e","new_text":"b"}`, 0, nil},
		"too much":          {`{"content":"a\nb` + strings.Repeat("x", maxEditBytes) + `"}`, 0, nil},
		"no JSON":           {`{"content":"a\nb`, 0, nil},
	} {
		lines := shownEdit(tt.arguments)
		if len(lines) != tt.lines {
			t.Errorf("%s: %d lines: %q", name, len(lines), lines)
		}
		for _, want := range tt.has {
			if !slices.ContainsFunc(lines, func(l shownLine) bool { return l.text == want }) {
				t.Errorf("%s: no %q in %q", name, want, lines)
			}
		}
	}
}
