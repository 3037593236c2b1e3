//go:build linux && (amd64 || arm64)

package escape_test

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// In the default sandbox, each attempt fails if at least one of the layers against it is effective.
func TestEscape(t *testing.T) {
	w := newWorld(t, os.Getuid())
	paths := w.paths(t)
	h := w.serve(t)
	h.logLayers(t, "escapeplugin")
	h.checkOffer(t, "escapeplugin")
	h.settle(t)
	t.Run("plugin", func(t *testing.T) { h.tryList(t, "escapeplugin") })
	t.Run("other tables", h.testOtherTables)
	t.Run("shell", h.testShell)
	t.Run("fs", func(t *testing.T) { h.testFiles(t, paths) })
	t.Run("race", h.testRace)
	t.Run("network granted", h.testGuest)
	t.Run("sandbox switched off", h.testFree)
	t.Run("resources", h.testResources)
	h.unharmed(t)
}

// Each attempt of TestEscape also fails if toolhost runs as an ordinary user.
func TestUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("all tests are those of an ordinary user")
		return
	}
	h := newWorld(t, nobody).serve(t)
	h.logLayers(t, "escapeplugin")
	h.settle(t)
	h.tryList(t, "escapeplugin")
	t.Run("sandbox switched off", h.testFree)
	h.unharmed(t)
}

// Each attempt of TestEscape also fails if toolhost may not create namespaces, as in most
// containers.
func TestConfined(t *testing.T) {
	w := newWorld(t, nobodyOrSelf())
	h := w.serve(t, confined(t)...)
	h.logLayers(t, "escapeplugin")
	h.settle(t)
	h.tryList(t, "escapeplugin")
	t.Run("sandbox switched off", h.testFree)
	h.unharmed(t)
}

func nobodyOrSelf() int {
	if uid := os.Getuid(); uid != 0 {
		return uid
	}
	return nobody
}

// tryList makes all attempts of the list in a plugin.
func (h *toolhost) tryList(t *testing.T, plugin string) {
	t.Helper()
	for _, part := range []struct {
		name string
		all  []attempt
	}{
		{"network", h.network()}, {"sockets", h.sockets()}, {"kernel", kernel()}, {"files", h.files()}, {"processes", h.processes(t)},
	} {
		t.Run(part.name, func(t *testing.T) { h.tryAll(t, plugin, part.all) })
	}
}

// logLayers starts a plugin's instance and logs its layers.
func (h *toolhost) logLayers(t *testing.T, plugin string) {
	t.Helper()
	if _, err := h.try(t, plugin, "environment"); err != nil {
		t.Fatal(err)
	}
	shown := h.instance(t, plugin).Sandbox
	want := []string{sandbox.Files, sandbox.Landlock, sandbox.Network, sandbox.PID, sandbox.IPC, sandbox.Privileges, sandbox.Syscalls}
	if shown.Network {
		want = slices.DeleteFunc(want, func(name string) bool { return name == sandbox.Network })
	}
	var names []string
	for _, layer := range shown.Layers {
		names = append(names, layer.Name)
	}
	mode := "required" // if no layer is missing
	if slices.ContainsFunc(shown.Layers, func(w tool.SandboxLayer) bool { return !w.Effective }) {
		mode = "on"
	}
	if shown.Mode != mode || !slices.Equal(names, want) {
		t.Errorf("the sandbox is shown as %s with the layers %q; want %s and %q", shown.Mode, names, mode, want)
	}
	for _, layer := range shown.Layers {
		if layer.Effective {
			t.Logf("%s: layer %q: %s; %s", plugin, layer.Name, layer.Mechanism, layer.Note)
		} else {
			t.Logf("%s: this machine does not give the layer %q: %s", plugin, layer.Name, layer.Note)
		}
	}
}

// checkOffer fails the test if a layer is shown as missing although this machine has its mechanism,
// so that no attempt is excused without a reason.
func (h *toolhost) checkOffer(t *testing.T, plugin string) {
	t.Helper()
	var offered []string
	child := exec.Command("/bin/true")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWPID}
	if err := child.Run(); err == nil {
		offered = append(offered, sandbox.Files, sandbox.Network, sandbox.PID, sandbox.IPC)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); errno == 0 {
		offered = append(offered, sandbox.Landlock)
	}
	if _, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err == nil {
		offered = append(offered, sandbox.Syscalls)
	}
	for _, name := range append(offered, sandbox.Privileges) {
		if layer := h.layer(t, plugin, name); !layer.Effective {
			t.Errorf("this machine gives the layer %q, and it is not effective: %s", name, layer.Note)
		}
	}
}
