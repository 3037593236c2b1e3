package releases

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/version"
)

// The settings keep ids and outcomes for a century, because a fixture is read years later.
const (
	toolhostConfig = "plugins: [plugins]\nstate: state\nworkspace: workspace\naudit: {file: audit.jsonl, log: all}\nledger: {keep_results: 876000h, keep_ids: 876000h}\n"
	agentdConfig   = "approvals: {headless: never, expiry: 876000h}\nlimits: {max_wall_time: 876000h}\n"
)

// The scripts of three runs. All of them end with the result of the call "one".
const (
	finishedScript = "turns:\n- calls: [{id: one, tool: calculator, arguments: {expression: 6*7}}]\n- text: 'it is {{result \"one\"}}'\n"
	waitingScript  = "turns:\n- calls: [{id: one, tool: counterplugin_drop, arguments: {key: dropped}}]\n- text: 'it is {{result \"one\"}}'\n"
	runningScript  = "turns:\n- calls: [{id: one, tool: counterplugin_write, arguments: {key: written}}]\n- text: 'it is {{result \"one\"}}'\n  delay: 10m\n"
)

// agentd starts an agentd with the journal of the home folder.
func (h home) agentd(t *testing.T, script string) *server {
	t.Helper()
	return h.serve(t, "agentd", "--config", "agentd.yaml", "--journal", "runs.db", "--listen", h.socket("a"), "--model", "scripted:"+script)
}

// TestWrite writes the home folder of a fixture. It does nothing without -write.
func TestWrite(t *testing.T) {
	if !*write {
		return
	}
	h := newHome(t)
	for name, text := range map[string]string{
		"toolhost.yaml": toolhostConfig, "agentd.yaml": agentdConfig,
		"finished.yaml": finishedScript, "waiting.yaml": waitingScript, "running.yaml": runningScript,
	} {
		if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.do(t, 0, "toolhost", "trust", "--config", "toolhost.yaml")
	toolhost := h.serve(t, "toolhost", "--config", "toolhost.yaml", "--listen", h.socket("t"))
	h.do(t, 0, "toolhost", "call", "calculator", `{"expression":"1+1"}`, "--call-id", "read-only")
	h.do(t, 0, "toolhost", "call", "counterplugin_write", `{"key":"a"}`, "--call-id", "done", "--session", "s")
	h.do(t, 1, "toolhost", "call", "counterplugin_fail", `{"key":"b"}`, "--call-id", "failed", "--session", "s")
	h.do(t, 0, "toolhost", "lock", "--file", "toolhost.lock")
	h.do(t, 0, "agentd", "run", "--config", "agentd.yaml", "--journal", "runs.db", "--model", "scripted:finished.yaml", "What is six times seven?")
	agentd := h.agentd(t, "waiting.yaml")
	h.do(t, 6, "agentd", "run", "--addr", h.socket("a"), "Drop it.")
	agentd.end(syscall.SIGKILL)

	agentd = h.agentd(t, "running.yaml")
	running := h.command("agentd", "run", "--addr", h.socket("a"), "-o", "json", "Write it.")
	stdout, err := running.StdoutPipe()
	if err == nil {
		err = running.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan() && !strings.Contains(lines.Text(), `"type":"call_result"`); {
	}
	agentd.end(syscall.SIGKILL)
	_ = running.Process.Kill()
	_ = running.Wait()

	hanging := h.command("toolhost", "call", "counterplugin_hang", `{"key":"c"}`, "--call-id", "begun", "--session", "hung")
	if err := hanging.Start(); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the call has its effect", func() bool {
		data, _ := os.ReadFile(h.path("workspace/hung"))
		return strings.Contains(string(data), "begun")
	})
	toolhost.end(syscall.SIGKILL)
	_ = hanging.Wait()

	target := filepath.Join("testdata", version.Number, "home")
	if err := os.RemoveAll(target); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, string(h), target, string(h), storedHome)
}
