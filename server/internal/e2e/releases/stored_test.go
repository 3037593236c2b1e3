package releases

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// each runs a test for every release, in a home folder with the release's files.
func each(t *testing.T, test func(t *testing.T, h home)) {
	for _, fixture := range fixtures(t) {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			t.Parallel()
			test(t, restore(t, fixture))
		})
	}
}

// toolhost starts a toolhost with the release's state.
func (h home) toolhost(t *testing.T) *server {
	t.Helper()
	s := h.serve(t, "toolhost", "--config", "toolhost.yaml", "--listen", h.socket("t"))
	if strings.Contains(s.log.String(), "WARN") {
		t.Errorf("toolhost warns about what the release stored:\n%s", s.log)
	}
	return s
}

// answer is what `toolhost call -o json` prints.
type answer struct {
	Text  string `json:"text"`
	Error *struct {
		Kind string `json:"kind"`
	} `json:"error"`
}

// call repeats or makes a call.
func (h home) call(t *testing.T, code int, id, session, tool, arguments string) answer {
	t.Helper()
	out := h.do(t, code, "toolhost", "call", tool, arguments, "--call-id", id, "--session", session, "-o", "json")
	var a answer
	line, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return a
}

// executions returns the number of executions that the tools of counterplugin recorded in a
// session.
func (h home) executions(t *testing.T, session string) string {
	t.Helper()
	data, err := os.ReadFile(h.path("workspace/" + session))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}

// The ledger answers the calls of the release. It replays ended calls and refuses other arguments.
// For the call during which toolhost was killed, it answers with an unknown outcome. It forgets old
// outcomes.
func TestLedger(t *testing.T) {
	each(t, func(t *testing.T, h home) {
		toolhost := h.toolhost(t)
		if got := h.call(t, 0, "done", "s", "counterplugin_write", `{"key":"a"}`); got.Text != "a: d229e52dba84" {
			t.Errorf("the outcome that the release recorded is now %+v", got)
		}
		if got := h.call(t, 1, "failed", "s", "counterplugin_fail", `{"key":"b"}`); got.Error != nil {
			t.Errorf("the tool error that the release recorded is now %+v", got)
		}
		if got := h.call(t, 3, "done", "s", "counterplugin_write", `{"key":"other"}`); got.Error == nil || got.Error.Kind != "conflict" {
			t.Errorf("an id of the release with other arguments: %+v", got)
		}
		if got := h.call(t, 3, "begun", "hung", "counterplugin_hang", `{"key":"c"}`); got.Error == nil || got.Error.Kind != "outcome_unknown" {
			t.Errorf("the call during which toolhost was killed: %+v", got)
		}
		if got := h.executions(t, "s") + ", " + h.executions(t, "hung"); got != "done failed, begun" {
			t.Errorf("the calls were executed: %s", got)
		}
		h.call(t, 0, "new", "s", "counterplugin_write", `{"key":"new"}`)
		toolhost.end(syscall.SIGTERM)

		// With a shorter retention, the outcomes have expired but the ids have not.
		config, err := os.ReadFile(h.path("toolhost.yaml"))
		if err == nil {
			err = os.WriteFile(h.path("toolhost.yaml"), []byte(strings.ReplaceAll(string(config), "keep_results: 876000h", "keep_results: 1m")), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.do(t, 0, "toolhost", "trust", "--config", "toolhost.yaml")
		h.toolhost(t)
		if got := h.call(t, 3, "done", "s", "counterplugin_write", `{"key":"a"}`); got.Error == nil || got.Text != "" {
			t.Errorf("an expired outcome: %+v", got)
		}
		if got := h.executions(t, "s"); got != "done failed new" {
			t.Errorf("the calls were executed: %s", got)
		}
	})
}

// run is a line of `agentd runs -o json`.
type run struct {
	ID         string `json:"run_id"`
	Prompt     string `json:"prompt"`
	State      string `json:"state"`
	StopReason string `json:"stop_reason"`
}

// runs returns the runs of the journal by their prompts.
func (h home) runs(t *testing.T) map[string]run {
	t.Helper()
	all := map[string]run{}
	for d := json.NewDecoder(strings.NewReader(h.do(t, 0, "agentd", "runs", "--config", "agentd.yaml", "--journal", "runs.db", "-o", "json"))); d.More(); {
		var r run
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all[r.Prompt] = r
	}
	return all
}

// The runs of the release continue: the finished one can be read, the waiting one can be approved,
// and the one that was working continues by itself.
func TestJournal(t *testing.T) {
	each(t, func(t *testing.T, h home) {
		before := h.runs(t)
		finished, waiting, running := before["What is six times seven?"], before["Drop it."], before["Write it."]
		if finished.State != "finished" || waiting.State != "waiting" || running.State != "interrupted" {
			t.Fatalf("the runs are %+v", before)
		}
		h.toolhost(t)
		script := "turns:\n- calls: [{id: one, tool: calculator, arguments: {expression: 1+1}}]\n- text: 'it is {{result \"one\"}}'\n"
		if err := os.WriteFile(h.path("script.yaml"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		h.agentd(t, "script.yaml")
		if shown := h.do(t, 0, "agentd", "show", finished.ID, "--config", "agentd.yaml", "--journal", "runs.db"); !strings.Contains(shown, "it is 42") {
			t.Errorf("the finished run: %s", shown)
		}
		h.do(t, 0, "agentd", "respond", waiting.ID, "--approve", "d1")
		for _, r := range []run{waiting, running} {
			eventually.Holds(t, "the run ends", func() bool { return h.runs(t)[r.Prompt].State == "finished" })
			shown := h.do(t, 0, "agentd", "show", r.ID, "--config", "agentd.yaml", "--journal", "runs.db")
			if h.runs(t)[r.Prompt].StopReason != "end_turn" || !strings.Contains(shown, "it is "+map[string]string{"Drop it.": "dropped: ", "Write it.": "written: "}[r.Prompt]) {
				t.Errorf("the continued run %q: %s", r.Prompt, shown)
			}
			if got := h.executions(t, r.ID); strings.Contains(got, " ") {
				t.Errorf("the call of the run %q was executed more than once: %s", r.Prompt, got)
			}
		}
	})
}

// toolhost reads the release's records of plugins, its trust records and its lock file, and appends
// to its audit log.
func TestState(t *testing.T) {
	each(t, func(t *testing.T, h home) {
		audit, err := os.ReadFile(h.path("audit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		listed := h.do(t, 0, "toolhost", "trust", "--list", "-o", "json")
		for _, want := range []string{h.path("toolhost.yaml"), h.path("plugins"), `"calculator"`, `"counterplugin"`} {
			if !strings.Contains(listed, want) {
				t.Errorf("the trust records of the release lack %s: %s", want, listed)
			}
		}
		h.toolhost(t)
		h.call(t, 0, "after", "s", "calculator", `{"expression":"6*7"}`)
		var plugins []struct {
			State string `json:"state"`
		}
		if err := json.Unmarshal([]byte(h.do(t, 0, "toolhost", "plugins", "-o", "json")), &plugins); err != nil || len(plugins) != 2 || plugins[0].State != "enabled" {
			t.Errorf("the plugins are %+v, %v", plugins, err)
		}
		now, err := os.ReadFile(h.path("audit.jsonl"))
		if err != nil || !strings.HasPrefix(string(now), string(audit)) || len(now) == len(audit) {
			t.Errorf("toolhost did not append to the release's audit log: %v\n%s", err, now)
		}
		old, recent := keysOf(t, audit), keysOf(t, now[len(audit):])
		for _, key := range []string{"time", "principal", "session", "call_id", "tool", "plugin", "decision", "arguments_sha256"} {
			if !old[key] || !recent[key] {
				t.Errorf("the key %s is not in the lines of both releases", key)
			}
		}
	})
}

// keysOf returns the keys of all lines of JSON.
func keysOf(t *testing.T, lines []byte) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for line := range strings.Lines(string(lines)) {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		for key := range object {
			found[key] = true
		}
	}
	return found
}

// A toolhost that uses only locked plugins reads the lock file of the release. That file pins other
// builds than those in the folder, so toolhost uses none of them.
func TestLockFile(t *testing.T) {
	each(t, func(t *testing.T, h home) {
		for _, name := range []string{"calculator", "counterplugin"} { // another build has another digest
			file, err := os.OpenFile(h.path("plugins/"+name), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = file.WriteString("x")
				err = errors.Join(err, file.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		h.serve(t, "toolhost", "--config", "toolhost.yaml", "--listen", h.socket("t"), "--locked", "--lock-file", "toolhost.lock")
		var plugins []struct {
			Pinned  string `json:"pinned_digest"`
			Refusal struct {
				Locked bool `json:"locked"`
			} `json:"refusal"`
		}
		out := h.do(t, 0, "toolhost", "plugins", "-o", "json")
		if err := json.Unmarshal([]byte(out), &plugins); err != nil {
			t.Fatal(err)
		}
		lock, err := os.ReadFile(h.path("toolhost.lock"))
		if err != nil || len(plugins) == 0 {
			t.Fatalf("%v, %s", err, out)
		}
		for _, p := range plugins {
			if p.Pinned == "" || !p.Refusal.Locked || !strings.Contains(string(lock), p.Pinned) {
				t.Errorf("the pin of the release is now %+v: %s", p, out)
			}
		}
	})
}
