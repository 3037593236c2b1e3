//go:build more

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
)

// Runs go on with the database of Temporal wiped, and agentd serves without Temporal; `agentd
// nodes` says so. `agentd engine rebuild` makes the workflows again.
func TestEngineTemporal(t *testing.T) {
	db, service, w := postgrestest.Start(t), temporaltest.Start(t), newWorld(t).withToolhost()
	file := filepath.Join(w.folder, "agentd.yaml")
	config := "engine: temporal\njournal: " + db.URL(db.Create(t)) + "\ntemporal: {address: \"" + service.Address + "\", task_queue: q}\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	served, interrupt, wait := w.begin("serve", "--config", file, "--listen", socket,
		"--model", w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: 'it was {{result \"a\"}}'}]"))
	served.stdout.until(t, "agentd is ready at "+socket)
	nodes := func(want string) {
		t.Helper()
		eventually.Shows(t, "the engine is shown", func() (bool, any) {
			out := w.run("nodes", "--config", file).stdout.String()
			return strings.Contains(out, want), out
		})
	}
	nodes(" temporal\n")
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	w.untilWaiting("k")
	if open := service.Open(); len(open) != 1 || open[0] != "q/"+id {
		t.Errorf("the workflows %q are open", open)
	}
	service.Wipe()
	for range 2 {
		w.run("engine", "rebuild", "--config", file).want(t, 0, "1 workflow of unfinished runs, and 0 workflows of other runs")
	}
	w.release("k")
	if text := finalText(t, a, id, 0); text != "it was released" {
		t.Errorf("the run ended with %q", text)
	}
	eventually.Holds(t, "the workflow ends with its run", func() bool { return len(service.Open()) == 0 })
	w.run("engine", "rebuild", "--config", file).want(t, 0, "0 workflows of unfinished runs")
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, served.stderr)
	}

	service.SetNamespace(false)
	served, interrupt, wait = w.begin("serve", "--config", file, "--listen", socket, "--model", w.script("turns: [{text: done}]"))
	served.stdout.until(t, "agentd is ready at "+socket)
	served.stderr.until(t, "Temporal is not reached")
	nodes(" temporal (not reached)\n")
	id, err = a.StartRun(t.Context(), client.Task{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if text := finalText(t, a, id, 0); text != "done" {
		t.Errorf("the run ended with %q", text)
	}
	w.run("engine", "rebuild", "--config", file).want(t, 0, "0 workflows")
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, served.stderr)
	}
	w.run("serve", "--config", file, "--journal", filepath.Join(w.folder, "runs.db"), "--model", w.script("turns: [{text: done}]")).want(t, 2, "engine: temporal works on runs in a PostgreSQL database")
	w.run("engine", "rebuild", "--journal", filepath.Join(w.folder, "runs.db")).want(t, 2, "engine: local keeps nothing")
}
