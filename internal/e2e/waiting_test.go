package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/eventually"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// waiting returns the prestarted processes of a toolhost.
func (h *toolhost) waiting(t *testing.T) (pids []int) {
	t.Helper()
	for _, pid := range descendants(t, h.cmd.Process.Pid) {
		if program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); strings.Contains(program, "toolhost-entry") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// onlyWaiting ends a plugin's processes and returns the prestarted process.
func (h *toolhost) onlyWaiting(t *testing.T, plugin string) (pid int) {
	t.Helper()
	h.do(t, "drain", plugin).exits(t, 0)
	eventually.Holds(t, "one waits", func() bool {
		pids := h.waiting(t)
		if len(pids) == 1 {
			pid = pids[0]
		}
		return len(pids) == 1
	})
	return pid
}

// A plugin that has been used keeps a prestarted process until the plugin changes or is removed, or
// toolhost ends.
func TestOneWaitsForTheNextCall(t *testing.T) {
	t.Parallel()
	h := start(t)
	sum := func() {
		t.Helper()
		h.do(t, "call", "calculator", `{"expression":"6*7"}`).says(t, "42")
	}
	sum()
	if !sandbox.CanWait {
		return
	}
	pid := h.onlyWaiting(t, "calculator")
	var shown []tool.InstanceInfo
	if h.list(t, &shown, "ps"); len(shown) != 0 {
		t.Errorf("it is shown as an instance: %+v", shown)
	}
	sum()
	if h.list(t, &shown, "ps"); len(shown) != 1 || shown[0].PID != pid {
		t.Errorf("process %d waited, and the instances are %+v", pid, shown)
	}
	pid = h.onlyWaiting(t, "calculator")
	install(t, h, "calculator", "plugins/calculator", "another build")
	h.do(t, "reload").exits(t, 0)
	eventually.Holds(t, "who waited for the one before is gone", func() bool { return !running(pid) })
	sum()
	pid = h.onlyWaiting(t, "calculator")
	if err := os.Remove(filepath.Join(h.plugins, "calculator")); err != nil {
		t.Fatal(err)
	}
	h.do(t, "reload").exits(t, 0)
	eventually.Holds(t, "nobody waits for what is gone", func() bool { return !running(pid) })
	h.do(t, "call", "list_dir", `{"path":"."}`).exits(t, 0)
	pid = h.onlyWaiting(t, "fs")
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.exited
	eventually.Holds(t, "nobody waits without toolhost", func() bool { return !running(pid) && len(runFolders(t, h.home)) == 0 })
}

// launch.prestarted: 0 disables the prestart pool.
func TestNoPrestartPool(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "launch: {prestarted: 0}\n", 0o600)
	h.serve(t)
	for range 3 {
		h.do(t, "call", "calculator", `{"expression":"6*7"}`).says(t, "42")
		h.do(t, "drain", "calculator").exits(t, 0)
		if pids := h.waiting(t); len(pids) > 0 {
			t.Errorf("processes %d wait", pids)
		}
	}
}
