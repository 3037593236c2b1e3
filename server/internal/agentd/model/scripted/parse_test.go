package scripted_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model/scripted"
)

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ script, want string }{
		"nothing":                {"", "s.yaml: the file is empty"},
		"no mapping":             {"- a", "s.yaml:1:1: a script has to be a mapping, not a list"},
		"unknown key":            {"turns: []\nmodel: x", `s.yaml:2:1: unknown key "model" in a script; allowed are turns`},
		"no turns":               {"turns: []", "s.yaml:1:1: the list of turns is empty"},
		"task without turns":     {"turns: [{text: a}]\ntasks: [{prompt: b}]", "s.yaml:2:9: a task needs a prompt"},
		"task for all":           {"turns: [{text: a}]\ntasks: [{prompt: '', turns: [{text: a}]}]", "s.yaml:2:9: a task needs a prompt"},
		"unknown key of task":    {"turns: [{text: a}]\ntasks: [{text: b}]", `unknown key "text" in a task; allowed are prompt, turns`},
		"turns no list":          {"turns: {text: a}", "s.yaml:1:8: turns has to be a list, not a mapping"},
		"turn no mapping":        {"turns:\n  - hello", `s.yaml:2:5: a turn has to be a mapping, not "hello"`},
		"turn of nothing":        {"turns:\n  -\n", "a turn has to be a mapping, not nothing"},
		"unknown key of turn":    {"turns:\n  - txt: a", `s.yaml:2:5: unknown key "txt" in a turn; allowed are text, calls, stop_reason, delay, chunks, usage, error`},
		"unknown key of call":    {"turns:\n  - calls:\n    - tool: a\n      args: {}", `s.yaml:4:7: unknown key "args" in a call; allowed are id, tool, arguments, arguments_raw`},
		"unknown key of error":   {"turns:\n  - error: {code: 1}", `s.yaml:2:13: unknown key "code" in an error; allowed are status, retry_after`},
		"key twice":              {"turns:\n  - text: a\n    text: b", `s.yaml:3:5: this key is already in line 2`},
		"key twice inside":       {"turns:\n  - calls: [{tool: t, arguments: {a: 1, a: 2}}]", `s.yaml:2:41: this key is already in line 2`},
		"bad YAML":               {"turns: [", "s.yaml:1:8: "},
		"unquoted template":      {"turns:\n  - text: {{prompt}}", "a value that begins with {{ has to be quoted"},
		"two documents":          {"turns:\n  - text: a\n---\nturns: []", "s.yaml:4:1: a second document begins here"},
		"bad template":           {"turns:\n  - text: a\n  - text: 'a {{nope}}'", `s.yaml:3:11: reading the template: template: text:1: function "nope" not defined`},
		"bad template inside":    {"turns:\n  - calls:\n    - tool: t\n      arguments:\n        a: [{b: '{{'}]", "s.yaml:5:17: reading the template: "},
		"template that branches": {"turns:\n  - text: '{{if prompt}}a{{end}}'", "a template may only call result, prompt, attachments, json and printf"},
		"template with a field":  {"turns:\n  - text: '{{.Prompt}}'", ".Prompt is not to be had here; a template may only call result, prompt, attachments, json and printf"},
		"template with a name":   {"turns:\n  - text: '{{$p := prompt}}'", "there are no variables here"},
		"template that defines":  {"turns:\n  - text: '{{define `x`}}a{{end}}'", "it defines others"},
		"template without value": {"turns:\n  - text: '{{json nil}}'", "nil is not to be had here"},
		"template of a number":   {"turns:\n  - text: '{{1 2}}'", "1 is no function"},
		"too few for a function": {"turns:\n  - text: '{{result}}'", "result has 0 arguments"},
		"too many by a pipeline": {"turns:\n  - text: '{{prompt | prompt}}'", "prompt has 1 arguments"},
		"function as a value":    {"turns:\n  - text: '{{json result}}'", "result needs arguments: put it in parentheses"},
		"text no text":           {"turns:\n  - text: [a]", "s.yaml:2:11: text has to be a text, not a list"},
		"id twice":               {"turns:\n  - calls: [{id: a, tool: t}]\n  - calls: [{id: a, tool: t}]", `s.yaml:3:13: the id "a" is taken by the call of line 2`},
		"id of another":          {"turns:\n  - calls: [{id: call_1_2, tool: t}, {tool: t}]", `the id "call_1_2" is taken`},
		"no tool":                {"turns:\n  - calls: [{id: a}]", "s.yaml:2:13: the call names no tool"},
		"both arguments":         {"turns:\n  - calls: [{tool: a, arguments: {}, arguments_raw: x}]", "a call has arguments or arguments_raw, not both"},
		"arguments a list":       {"turns:\n  - calls: [{tool: a, arguments: [1]}]", "arguments have to be a mapping, not a list; use arguments_raw"},
		"anchor":                 {"turns:\n  - text: &a x", "text has to be a text, not an anchor, alias or merge key"},
		"chunks below zero":      {"turns:\n  - {text: a, chunks: -1}", "chunks has to be a whole number, 0 or more"},
		"chunks no number":       {"turns:\n  - {text: a, chunks: many}", "chunks has to be a whole number"},
		"delay":                  {"turns:\n  - {text: a, delay: soon}", "delay has to be a duration such as 250ms"},
		"delay below zero":       {"turns:\n  - {text: a, delay: -1s}", "delay has to be a duration such as 250ms, or a number of seconds, 0 or more"},
		"stop reason":            {"turns:\n  - {text: a, stop_reason: stop}", `unknown stop_reason "stop"; use one of end_turn, tool_use, max_tokens`},
		"status":                 {"turns:\n  - error: {status: 200}", "the status of an error is 400 to 599"},
		"usage":                  {"turns:\n  - {text: a, usage: {inputs: 1}}", `unknown key "inputs" in usage; allowed are input, output`},
		"summaries alone":        {"summaries:\n  - text: a", "the script has no turns"},
		"no summaries":           {"turns: [{text: a}]\nsummaries: []", "the list of summaries is empty"},
		"a summary that calls":   {"turns: [{text: a}]\nsummaries:\n  - calls: [{tool: t}]", "s.yaml:3:13: a summary has no calls"},
		"error that stops":       {"turns:\n  - {stop_reason: end_turn, error: {status: 500}}", "s.yaml:2:6: a turn with an error has no stop_reason"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := scripted.Parse("s.yaml", []byte(test.script))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v\nwant an error with %s", err, test.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.yaml")
	if _, err := scripted.Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("a missing file gives %v", err)
	}
	if err := os.WriteFile(path, []byte("turns: [{text: hi}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := scripted.Load(path)
	if err != nil || m.Name() != "scripted:"+path {
		t.Fatalf("got %v, %v", m, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(failsTwice))
	f.Add([]byte("turns:\n  - calls: [{id: a, tool: t, arguments: {a: ['{{prompt}}', 0x10, 1e3, null, true]}}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := scripted.Parse("fuzz", data)
		if (m == nil) == (err == nil) {
			t.Fatalf("got %v and %v", m, err)
		}
	})
}
