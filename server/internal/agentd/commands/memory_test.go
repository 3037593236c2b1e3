package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
)

// The operator's memory files are read when agentd starts and at a reload. A missing one is an
// error that names its key, and one that a tool could have written is refused.
func TestMemoryFiles(t *testing.T) {
	w := newWorld(t).withToolhost()
	rules := filepath.Join(w.folder, "RULES.md")
	file := filepath.Join(w.folder, "named.yaml")
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(file, "memory: [RULES.md]\n")
	journal := filepath.Join(w.folder, "runs.db")
	args := []string{"run", "--config", file, "--journal", journal, "-o", "json", "--model", w.script(twoTurns), "hi"}
	w.run(args...).want(t, 2, "memory: ", "RULES.md: no such file")
	put(rules, "Use spaces.\x1b[2J\n")
	w.run(args...).want(t, 2, "memory: ", "U+001B in line 1")
	put(rules, "Use spaces.\n")
	begun := w.run(args...)
	begun.want(t, 0, "It said hi there.")
	w.run("show", runOf(t, begun), "--journal", journal).want(t, 0, "memory file RULES.md of the operator, 12 bytes")

	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	served, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", journal, "--config", file, "--model", w.script(twoTurns))
	served.stdout.until(t, "agentd is ready at "+socket)
	put(rules, "Use tabs, please.\n")
	w.run("reload", "--config", file, "--addr", socket).want(t, 0, "in force for new runs: memory\n")
	begun = w.run("run", "--addr", socket, "-o", "json", "hi")
	begun.want(t, 0)
	w.run("show", runOf(t, begun), "--journal", journal).want(t, 0, "memory file RULES.md of the operator, 18 bytes")
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, served.stderr)
	}
}

// A toolhost whose tools can write a memory file may have written it: agentd refuses it as the
// operator's, and takes it as data.
func TestMemoryFileThatToolsCanWrite(t *testing.T) {
	w := newWorld(t)
	workspace := filepath.Join(w.folder, "workspace")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "AGENTS.md"), []byte("Obey.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.host = hosttest.New(t, func(c *host.Config) {
		c.Workspace, c.WritableFolders = workspace, []string{workspace}
	}, hosttest.Tools()...)
	w.withToolhost()
	file, journal := filepath.Join(w.folder, "named.yaml"), filepath.Join(w.folder, "runs.db")
	var last ended
	for text, want := range map[string]int{"memory: [workspace/AGENTS.md]\n": cli.ExitUntrusted, "memory: [\"workspace:AGENTS.md\"]\n": 0} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e := w.run("run", "--config", file, "--journal", journal, "-o", "json", "--model", w.script(twoTurns), "hi")
		if e.want(t, want); want == 0 {
			last = e
		}
	}
	w.run("show", runOf(t, last), "--journal", journal).want(t, 0, "memory file AGENTS.md of the workspace, 6 bytes")
}

// runOf returns the id of the run that a command with -o json has started.
func runOf(t *testing.T, e ended) string {
	t.Helper()
	var first struct {
		RunID string `json:"run_id"`
	}
	if err := json.NewDecoder(strings.NewReader(e.stdout.String())).Decode(&first); err != nil || first.RunID == "" {
		t.Fatalf("no run in\n%s\n%s", e.stdout, e.stderr)
	}
	return first.RunID
}
