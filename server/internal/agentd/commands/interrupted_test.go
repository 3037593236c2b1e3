package commands

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// separately starts agentd in a separate process. The caller ends it.
func (w *world) separately(args ...string) *exec.Cmd {
	w.t.Helper()
	binary := filepath.Join(w.folder, program)
	if err := os.Symlink(mustExecutable(w.t), binary); err != nil && !errors.Is(err, os.ErrExist) {
		w.t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "HOME="+w.folder, "XDG_RUNTIME_DIR="+w.folder, "TOOLHOST_ADDR="+w.toolhost.String(), raceEnv+"="+atOnce)
	cmd.Stderr = w.t.Output()
	return cmd
}

// `agentd runs` distinguishes a run that a process works on from a run whose process has died, and
// names the command that continues it.
func TestRunsOfDeadProcesses(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{text: turn, calls: [{id: a, tool: wait, arguments: {key: k}}]}, " +
		// The run does not end before agentd writes into the closed pipe.
		"{text: 'it was {{result \"a\"}}', calls: [{id: b, tool: wait, arguments: {key: never}}]}, {text: over}]")
	killed := w.separately("run", "--model", script, "kill me")
	out, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = killed.Process.Kill() })
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "→ wait"); {
	}
	w.untilWaiting("k") // release has no effect before
	w.run("runs", "--state", "running").want(t, 0, "kill me")
	if e := w.run("runs", "--state", "interrupted"); strings.Contains(e.stdout.String(), "kill me") {
		t.Errorf("a run that a process works on is interrupted:\n%s", e.stdout)
	}
	id := regexp.MustCompile(`run-[a-z2-7]{16}`).FindString(w.run("runs").stdout.String())
	w.run("resume", "--model", script, id).want(t, 3, "conflict", "another process works on the run")
	_ = killed.Process.Kill()
	_ = killed.Wait()

	w.run("runs").want(t, 0, id+"  interrupted", "continue it: agentd resume "+id)
	w.run("runs", "-o", "json").want(t, 0, `"state":"interrupted"`, `"interrupted":true`)
	w.run("show", id).want(t, 0, "state   interrupted")
	if e := w.run("runs", "--state", "running"); strings.Contains(e.stdout.String(), id) {
		t.Errorf("a run that no process works on is running:\n%s", e.stdout)
	}
	w.release("k")
	w.run("resume", "--model", script, id).want(t, 0, "it was released")
	w.run("runs").want(t, 0, id+"  end_turn")
}

// If the reader of its output closes the pipe, SIGPIPE ends agentd, and the run is interrupted.
func TestRunOfABrokenPipe(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{text: \"turn\\n\", calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: 'it was {{result \"a\"}}', delay: 1m}]") // the run does not end before agentd writes
	cmd := w.separately("run", "--model", script, "break me")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := bufio.NewReader(reader).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	w.untilWaiting("k") // release has no effect before
	if err := errors.Join(writer.Close(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	w.release("k")
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGPIPE {
		t.Fatalf("agentd ended with %v, not by SIGPIPE", cmd.ProcessState)
	}
	w.run("runs").want(t, 0, "  interrupted")
}
