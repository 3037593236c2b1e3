package e2e_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// todoScript makes a plan, changes it with several calls at once, has the conversation summarized,
// and lists the plan. After another message it continues with the plan.
const todoScript = `
turns:
  - calls: [{tool: write_todos, arguments: {todos: [{text: read, status: in_progress}, {text: write, due: "2999-12-01"}, {text: test}]}}]
  - calls:
      - {tool: update_todo, arguments: {id: "1", status: completed}}
      - {tool: update_todo, arguments: {id: "2", status: in_progress}}
      - {tool: add_todo, arguments: {text: tell}}
      - {tool: add_todo, arguments: {text: rest}}
  - calls: [{tool: update_todo, arguments: {id: "9", status: completed}}]
  - calls: [{tool: calculator, arguments: {expression: 6*7}}]
  - calls: [{tool: compact_conversation, arguments: {}}]
  - calls: [{id: all, tool: list_todos, arguments: {}}]
  - text: 'After all: {{result "all"}}'
  - calls: [{id: last, tool: update_todo, arguments: {id: "4", status: cancelled}}]
  - text: 'Now: {{result "last"}}'
summaries:
  - text: Much was done.
`

// todoEvent has the fields of agentd's output that this test uses.
type todoEvent struct {
	Type    string          `json:"type"`
	RunID   string          `json:"run_id"`
	Text    string          `json:"text"`
	Summary string          `json:"summary"`
	Todos   json.RawMessage `json:"todos"`
}

// The todo plugin has no state, and two agentd processes work on one list. Calls of one response
// see each other's changes. Watchers receive one event per response. The list survives the
// compaction of the conversation.
func TestTodos(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "todo", "plugins/todo", "")
	h.serve(t)
	script := filepath.Join(h.home, "script.yaml")
	write(t, script, todoScript, 0o600)
	write(t, filepath.Join(h.home, "agentd.yaml"), "system_tools: [compact_conversation]\n", 0o600)
	h.trust(t, "agentd.yaml")
	journal := filepath.Join(h.home, "runs.db")
	with := []string{"--toolhost", h.addr, "--journal", journal, "--model", "scripted:" + script}

	events := todoEvents(t, h.agentdOf(t, "", append([]string{"run", "go", "-o", "json"}, with...)...))
	first := `[{"id":"1","text":"read","status":"in_progress"},{"id":"2","text":"write","status":"pending","due":"2999-12-01"},{"id":"3","text":"test","status":"pending"}]`
	second := `[{"id":"1","text":"read","status":"completed"},{"id":"2","text":"write","status":"in_progress","due":"2999-12-01"},{"id":"3","text":"test","status":"pending"},` +
		`{"id":"4","text":"tell","status":"pending"},{"id":"5","text":"rest","status":"pending"}]`
	if diff := cmp.Diff([]string{first, second}, todosOf(events)); diff != "" {
		t.Errorf("watchers are told (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(events, func(e todoEvent) bool { return e.Type == "compacted" && e.Summary == "Much was done." }) {
		t.Error("the conversation was not summed up")
	}
	if got := lastText(events); got != "After all: [x] 1. read\n[>] 2. write (in_progress, due 2999-12-01)\n[ ] 3. test\n[ ] 4. tell\n[ ] 5. rest\n1 of 5 are done." {
		t.Errorf("after the summary the model says %q", got)
	}

	var id string
	for _, e := range events {
		if e.RunID != "" {
			id = e.RunID
		}
	}
	h.agentdOf(t, "go on\n", append([]string{"chat", id}, with...)...)
	events = todoEvents(t, h.agentdOf(t, "", "show", id, "--journal", journal, "-o", "json"))
	story := h.agentdOf(t, "", "show", id, "--journal", journal)
	if want := "☐ todos: 1 of 5 are done\n  2. write (in progress), due 2999-12-01\n  3. test\n  4. tell\n  5. rest\n"; !strings.Contains(story, want) {
		t.Errorf("agentd show prints\n%s\nwithout\n%s", story, want)
	}
	third := strings.Replace(second, `"tell","status":"pending"`, `"tell","status":"cancelled"`, 1)
	if diff := cmp.Diff([]string{first, second, third}, todosOf(events)); diff != "" {
		t.Errorf("the journal tells (-want +got):\n%s", diff)
	}
	if got := lastText(events); !strings.Contains(got, "Now: [x] 1. read\n[>] 2. write (in_progress, due 2999-12-01)\n[ ] 3. test\n[-] 4. tell (cancelled)\n[ ] 5. rest\n2 of 5 are done.") {
		t.Errorf("in the end the model says %q", got)
	}
}

// created matches the time at which a todo was created.
var created = regexp.MustCompile(`,"created":"[0-9]{4}-[^"]*Z"`)

func todosOf(events []todoEvent) []string {
	var all []string
	for _, e := range events {
		if e.Type == "todo_change" {
			all = append(all, created.ReplaceAllString(string(e.Todos), ""))
		}
	}
	return all
}

func lastText(events []todoEvent) string {
	text := ""
	for _, e := range events {
		if e.Type == "assistant_message" && e.Text != "" {
			text = e.Text
		}
	}
	return text
}

// agentdOf runs a command of agentd to its end with typed input, and returns its output.
func (h *toolhost) agentdOf(t *testing.T, typed string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, h.home, nil, "agentd", args...)
	cmd.Stdin = strings.NewReader(typed)
	r := run(t, cmd)
	r.exits(t, 0)
	return r.stdout
}

func todoEvents(t *testing.T, lines string) []todoEvent {
	t.Helper()
	var events []todoEvent
	for line := range strings.Lines(lines) {
		var e todoEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}
