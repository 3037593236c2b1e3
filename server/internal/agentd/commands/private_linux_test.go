package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// If the toolhost of a run dies, the run stays unfinished, and resume continues it with another
// toolhost. Without that, agentd would give the lost toolhost up after a while, and end the run.
func TestTheToolhostOfARunDies(t *testing.T) {
	w := newWorld(t)
	t.Setenv(noteEnv, filepath.Join(w.folder, "note"))
	t.Setenv("TMPDIR", w.folder)
	if err := os.Symlink(mustExecutable(t), filepath.Join(w.folder, program)); err != nil {
		t.Fatal(err)
	}
	script := w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: 'it said {{result \"a\"}}'}]")
	journal := filepath.Join(w.folder, "runs.db")
	command := exec.Command(filepath.Join(w.folder, program), "run", "--model", script, "--journal", journal, "hi")
	command.Env = append(os.Environ(), "HOME="+w.folder, "XDG_RUNTIME_DIR="+w.folder, "TOOLHOST_ADDR=")
	output := newOutput()
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	output.until(t, "→ wait")
	for _, pid := range childrenOf(t, command.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"the toolhost of this command ended: signal: killed", "go on with it: agentd resume run-"} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("want %q in:\n%s", want, output.String())
		}
	}
	w.run("runs", "--journal", journal, "--state", "interrupted").want(t, 0, "hi")
}

// childrenOf returns the processes that a process has started.
func childrenOf(t *testing.T, pid int) (list []int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tasks {
		data, _ := os.ReadFile(path) // the thread may have ended
		for _, field := range strings.Fields(string(data)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, child)
		}
	}
	return list
}
