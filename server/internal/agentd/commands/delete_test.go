package commands

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/audit"
)

// ids returns the ids of the runs in a journal, the newest first, without sub-runs.
func (w *world) ids(journal string) (ids []string) {
	w.t.Helper()
	listed := w.run("runs", "--journal", journal, "-o", "json")
	listed.want(w.t, 0)
	for line := range strings.Lines(listed.stdout.String()) {
		var run struct {
			RunID       string `json:"run_id"`
			ParentRunID string `json:"parent_run_id"`
		}
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			w.t.Fatal(err)
		}
		if run.ParentRunID == "" {
			ids = append(ids, run.RunID)
		}
	}
	return ids
}

// A finished run is deleted with its sub-runs, in the journal and at a server, and the audit log
// says so. A run that has not finished stays.
func TestDelete(t *testing.T) {
	w := newWorld(t).withToolhost()
	journal, socket := filepath.Join(w.folder, "runs.db"), "unix://"+filepath.Join(w.folder, "agentd.sock")
	done := w.script("turns: [{calls: [{id: a, tool: new_task, arguments: {task: part}}]}, {text: done}]")
	for range 2 {
		w.run("run", "--journal", journal, "--model", done, "go").want(t, 0)
	}
	ids := w.ids(journal)
	w.run("delete", "--journal", journal, ids[0]).want(t, 0, "deleted "+ids[0]+" and its 2 sub-runs\n")
	w.run("show", "--journal", journal, ids[0]).want(t, 3, "no such run")
	w.run("delete", "--journal", journal, ids[0]).want(t, 3, "no such run")
	if left := w.ids(journal); !slices.Equal(left, ids[1:]) {
		t.Errorf("the runs are %q", left)
	}
	waits := w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: done}]")
	served, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", journal, "--model", waits)
	served.stdout.until(t, "agentd is ready")
	started, _, waitStarted := w.begin("run", "--addr", socket, "go")
	w.untilWaiting("k")
	working := w.ids(journal)[0]
	w.run("delete", "--journal", journal, working).want(t, 3, "conflict: run "+working+" has not finished")
	w.run("delete", "--addr", socket, working).want(t, 3, "conflict: run "+working+" has not finished")
	w.run("delete", "--journal", journal, "--addr", socket, working).want(t, 2, "use one of them")
	w.release("k")
	if started.code = waitStarted(); started.code != 0 {
		started.want(t, 0)
	}
	w.run("delete", "--addr", socket, ids[1]).want(t, 0, "deleted "+ids[1]+" and its 2 sub-runs\n")
	if left := w.ids(journal); !slices.Equal(left, []string{working}) {
		t.Errorf("the runs are %q", left)
	}
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, served.stderr)
	}
	for target, act := range map[string]string{ids[0]: "agentd delete", ids[1]: "/agentd.v1.AgentService/DeleteRun"} {
		if n := len(w.audited(act, target)); n != 1 {
			t.Errorf("the audit log has %d lines about %s of %s", n, act, target)
		}
	}
}

// audited returns the lines of the audit log about an act.
func (w *world) audited(act, target string) (lines []string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.folder, ".local", "state", toolhostProgram, auditName))
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var event struct{ Act, Target, Decision string }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			w.t.Fatal(err)
		}
		if event.Act == act && event.Target == target && event.Decision == string(audit.Allowed) {
			lines = append(lines, line)
		}
	}
	return lines
}

// A server deletes the finished runs that the configuration does not keep, by age and by number.
func TestServeKeepsRuns(t *testing.T) {
	w := newWorld(t).withToolhost()
	journal, socket := filepath.Join(w.folder, "runs.db"), "unix://"+filepath.Join(w.folder, "agentd.sock")
	script := w.script("turns: [{text: done}]")
	for range 5 {
		w.run("run", "--journal", journal, "--model", script, "go").want(t, 0)
	}
	ids := w.ids(journal)
	db, err := sql.Open("sqlite", journal)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE runs SET updated = ? WHERE id = ?", time.Now().Add(-3*time.Hour).UnixNano(), ids[1]); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(w.folder, "agents.yaml")
	if err := os.WriteFile(config, []byte("model: "+script+"\nruns: {keep: 2h, max_count: 3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	served, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", journal, "--config", config)
	served.stdout.until(t, "agentd is ready")
	kept := []string{ids[0], ids[2], ids[3]} // the second is too old, and the last is one too many
	eventually.Shows(t, "the runs that the configuration keeps", func() (bool, any) {
		left := w.ids(journal)
		return slices.Equal(left, kept), left
	})
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, served.stderr)
	}
	for _, id := range []string{ids[1], ids[4]} {
		if n := len(w.audited("cleanup", id)); n != 1 {
			t.Errorf("the audit log has %d lines about the cleanup of %s", n, id)
		}
	}
}
