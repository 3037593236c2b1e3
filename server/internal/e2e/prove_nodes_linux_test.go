//go:build more

package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

// proveNodes returns a command for two toolhosts that share a ledger, and the folder below which
// all of its files are. Every user can pass through the folder, because root runs PostgreSQL as
// another one.
func proveNodes(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	dir := shortdir.Make(t)
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + os.Getenv("PATH") // has PostgreSQL
	return command(t.Context(), newHome(t), []string{"TMPDIR=" + dir, path}, "toolhost", append([]string{"prove", "--nodes", "2"}, args...)...), dir
}

// leavesNothing checks that no process and no file of a command is left. A process that had a file
// there names it in its arguments.
func leavesNothing(t *testing.T, dir string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, "toolhost-scratch-*")); len(left) > 0 {
		t.Errorf("prove left %v", left)
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if text, _ := os.ReadFile(name); strings.Contains(string(text), dir+"/") {
			t.Errorf("prove left the process %q", text)
		}
	}
}

// A toolhost is killed, and the sessions with the database are cut, while two toolhosts share a
// ledger. No call is doubled, lost, stuck or changed.
func TestProveNodes(t *testing.T) {
	t.Parallel()
	cmd, dir := proveNodes(t, "--calls", "201", "--seed", "33", "-o", "json")
	r := run(t, cmd)
	r.exits(t, 0)
	type tallied struct{ Calls, Doubled, Lost, Stuck, Changed int }
	var got struct {
		OK           bool
		Seed, Nodes  int
		Faults       map[string]int
		WithoutCheck tallied `json:"without_check"`
		WithCheck    tallied `json:"with_check"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	want := got
	want.OK, want.Seed, want.Nodes, want.Faults = true, 33, 2, map[string]int{"cut": 1, "kill": 1, "restart": 1}
	want.WithoutCheck, want.WithCheck = tallied{Calls: 200}, tallied{Calls: 200} // with those of the first round
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	leavesNothing(t, dir)
}

// Ctrl-C ends all processes, also those of PostgreSQL, and leaves no folder.
func TestProveNodesIsInterrupted(t *testing.T) {
	t.Parallel()
	cmd, dir := proveNodes(t)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil || !strings.Contains(line, "2 toolhosts and a PostgreSQL") {
		t.Fatalf("prove says %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // also for the processes that have its standard error
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	leavesNothing(t, dir)
}
