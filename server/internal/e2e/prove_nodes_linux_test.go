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

// proveNodes returns a command for three toolhosts that share a ledger, and the folder below which
// all of its files are. Every user can pass through the folder, because root runs PostgreSQL as
// another one.
func proveNodes(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	dir := shortdir.Make(t)
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + os.Getenv("PATH") // has PostgreSQL
	return command(t.Context(), newHome(t), []string{"TMPDIR=" + dir, path}, "toolhost", append([]string{"prove", "--nodes", "3"}, args...)...), dir
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

// A toolhost is killed, one is paused beyond its lease, and a plugin is killed alone, while three
// toolhosts share a ledger. No call is doubled, lost, stuck or changed. The loss of a toolhost in
// the end fails few calls.
func TestProveNodes(t *testing.T) {
	t.Parallel()
	cmd, dir := proveNodes(t, "--calls", "201", "--seed", "170", "-o", "json")
	r := run(t, cmd)
	r.exits(t, 0)
	type tallied struct{ Calls, Doubled, Lost, Settled, Stuck, Changed int }
	var got struct {
		OK           bool
		Seed, Nodes  int
		Faults       map[string]int
		WithoutCheck tallied `json:"without_check"`
		WithCheck    tallied `json:"with_check"`
		WithSealing  tallied `json:"with_sealing_check"`
		Loss         struct{ Calls, Failed int }
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	want := got
	want.OK, want.Seed, want.Nodes, want.Faults = true, 170, 3, map[string]int{"kill": 1, "pause": 1, "plugin kill": 1}
	if got.WithSealing.Settled == 0 {
		t.Error("no call was sealed at the toolhost that was paused")
	}
	for _, t := range []*tallied{&want.WithoutCheck, &want.WithCheck, &want.WithSealing} {
		*t = tallied{Calls: t.Calls, Settled: t.Settled}
	}
	// The calls of four rounds, with the first one, are 400. The others are those of the loss.
	if all := got.WithoutCheck.Calls + got.WithCheck.Calls + got.WithSealing.Calls; all <= 400 || got.Loss.Calls == 0 || got.Loss.Calls > all-400 || 2*got.Loss.Failed > got.Loss.Calls {
		t.Errorf("%d calls, and %+v of a loss", all, got.Loss)
	}
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
	if err != nil || !strings.Contains(line, "3 toolhosts and a PostgreSQL") {
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
