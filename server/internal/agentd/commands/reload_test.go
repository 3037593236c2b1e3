package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// `agentd config diff` shows what a reload would change, and `agentd reload` applies it to new
// runs. A wrong file changes nothing.
func TestReload(t *testing.T) {
	w := newWorld(t).withToolhost()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	file := filepath.Join(w.folder, "reloaded.yaml")
	script := func(name string) string {
		t.Helper()
		path := filepath.Join(w.folder, name+".yaml")
		if err := os.WriteFile(path, []byte("turns: [{text: of the "+name+" model}]"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put := func(model string, turns int, more string) {
		t.Helper()
		text := fmt.Sprintf("model: %s\nmodels:\n  one: {provider: scripted, model: %q}\n  two: {provider: scripted, model: %q}\nlimits: {max_turns: %d}\n%s",
			model, script("first"), script("second"), turns, more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("one", 5, "")
	served, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "runs.db"), "--config", file)
	served.stdout.until(t, "agentd is ready at "+socket)
	w.run("config", "diff", "--config", file, "--addr", socket).want(t, 0, "nothing differs")
	put("two", 9, "max_runs: 7\nlog: {level: warn}\n")
	w.run("config", "diff", "--config", file, "--addr", socket).want(t, 1, "limits.max_turns\n  - 5\n  + 9\n", "after a restart:\nmax_runs\n")
	w.run("run", "--addr", socket, "hello").want(t, 0, "of the first model")
	w.run("reload", "--config", file, "--addr", socket).want(t, 0, "in force for new runs: log.level, model, limits.max_turns\n", "restart agentd to apply max_runs")
	w.run("run", "--addr", socket, "hello").want(t, 0, "of the second model")
	put("one", 9, "nonsense: 1\n")
	w.run("reload", "--config", file, "--addr", socket).want(t, 2, "nonsense: there is no such key")
	w.run("run", "--addr", socket, "hello").want(t, 0, "of the second model")
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, served.stderr)
	}
}
