package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chat asks for the calls of a sub-run as for those of the run, once for each call, also after the
// person left and another agentd continues the conversation.
func TestChatAsksForSubRuns(t *testing.T) {
	w := newWorld(t).withToolhost()
	config := filepath.Join(w.folder, "agentd.yaml")
	if err := os.WriteFile(config, []byte("system_tools: [new_task]\nsub_runs: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The run and its sub-run use the same script. The sub-run does not have the tool new_task.
	args := []string{"--config", config, "--model", w.script(`
turns:
  - calls: [{id: a, tool: new_task, arguments: {task: delegated}}]
  - calls: [{id: b, tool: danger, arguments: {}}]
  - text: '{{json prompt}} got {{result "b"}}.'
`)}
	y, e, wait := w.chats(args...)
	y.sees("› ")
	y.types("hi")
	y.sees("? danger needs approval (run-", "/d1)", "allow it? ")
	_ = y.in.Close()
	e.code = wait()
	_, left, _ := strings.Cut(e.stdout.String(), "agentd chat ")
	id, _, _ := strings.Cut(left, " ")

	y, e, wait = w.chats(append(args, id)...)
	y.sees("? danger needs approval ("+id, "/d1)", "allow it? ")
	y.types("y")
	y.sees("delegated", "got done", "? danger needs approval (d1)", "allow it? ")
	y.types("no, thanks")
	y.sees("hi", "no, thanks", "› ")
	y.types("/quit")
	e.code = wait()
	e.want(t, 0)
	if n := strings.Count(e.stdout.String(), "allow it? "); n != 2 {
		t.Errorf("asked %d times:\n%s", n, e.stdout)
	}
}
