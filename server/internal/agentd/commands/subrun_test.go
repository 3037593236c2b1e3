package commands

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/client"
)

// A run whose sub-run waits is listed as waiting, and an answer to the run reaches the sub-run.
// Both use the same script. The sub-run does not have the tool new_task, and asks first.
func TestRespondAboveASubRun(t *testing.T) {
	w := newWorld(t).withToolhost()
	socket, journal := "unix://"+filepath.Join(w.folder, "agentd.sock"), filepath.Join(w.folder, "runs.db")
	config := filepath.Join(w.folder, "agentd.yaml")
	if err := os.WriteFile(config, []byte("system_tools: [new_task, ask_user]\nsub_runs: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, interrupt, wait := w.begin("serve", "--config", config, "--listen", socket, "--journal", journal, "--model", w.script(`
turns:
  - calls: [{id: a, tool: new_task, arguments: {task: ask}}]
  - calls: [{id: q, tool: ask_user, arguments: {question: Where to?}}]
  - text: '{{result "a"}}, {{result "q"}}'
`))
	server.stdout.until(t, "agentd is ready")
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.StartRun(t.Context(), client.Task{Prompt: "go", RunID: "r"}); err != nil {
		t.Fatal(err)
	}
	for e, err := range a.WatchRun(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := e.Payload.(*client.SubRunWaiting); ok && len(w.DecisionIDs) > 0 {
			break
		}
	}
	w.run("runs", "--journal", journal, "--state", "waiting").want(t, 0, "r ")
	w.run("show", "r", "--journal", journal).want(t, 0, "state   waiting", "/d1")
	w.run("respond", "r", "--addr", socket, "--answer", "t2.c0", "to Rome").want(t, 0, "1 decided, 0 still wait")
	text := ""
	for e, err := range a.WatchRun(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "decision_requested" {
			w.run("respond", "r", "--addr", socket, "--answer", "d1", "to Bern").want(t, 0, "1 decided")
		}
		if end, ok := e.Payload.(*client.RunEnded); ok {
			text = end.Text
		}
	}
	if want := `to Rome, to Bern`; len(text) < len(want) || text[len(text)-len(want):] != want {
		t.Errorf("the run ended with %q", text)
	}
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, server.stderr)
	}
}
