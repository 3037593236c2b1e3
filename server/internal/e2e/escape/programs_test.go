//go:build linux && (amd64 || arm64)

package escape_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// A release is unpacked in the workspace, and a plugin has a link to a program that is built there.
// No tool can change what the operator, or another plugin, executes next.
func TestProgramsInTheWorkspaceStay(t *testing.T) {
	for name, uid := range map[string]int{"as this user": os.Getuid(), "as another user": nobodyOrSelf()} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, uid)
			w.bin = w.path("work")
			w.program(t, "toolhost", "work/toolhost")
			w.program(t, "toolhost", "work/agentd")
			if err := os.MkdirAll(w.path("work/dist"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.program(t, "escapeplugin", "work/dist/program")
			if err := os.MkdirAll(w.path("plugins/linked"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(w.path("work/dist/program"), w.path("plugins/linked/program")); err != nil {
				t.Fatal(err)
			}
			w.file(t, "plugins/linked/plugin.yaml", "name: linked\ncommand: [./program, linked]\n")
			for _, path := range []string{"work/toolhost", "work/agentd", "work/dist", "work/dist/program", "plugins/linked", "plugins/linked/plugin.yaml"} {
				if err := os.Lchown(w.path(path), uid, -1); err != nil {
					t.Fatal(err)
				}
			}
			h := w.serve(t)
			for _, path := range []string{"work/toolhost", "work/agentd", "work/dist/program"} {
				h.keeps(t, "write", h.path(path))
				h.keeps(t, "remove", h.path(path))
				h.keeps(t, "rename", h.path("work/inside/file.txt"), h.path(path))
				h.keeps(t, "rename", h.path(path), h.path("work/inside/moved"))
				h.keeps(t, "symlink", h.path("work/inside/file.txt"), h.path(path))
			}
			h.keeps(t, "rename", h.path("work/dist"), h.path("work/inside/dist"))
			h.keeps(t, "run", "/bin/sh", "-c", "cp "+h.path("work/inside/file.txt")+" "+h.path("work/toolhost"))
		})
	}
}

// program copies a program into the world.
func (w *world) program(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(bin, from))
	if err == nil {
		err = programs.Write(w.path(to), data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A plugin is found while another one runs, in whose sandbox nothing protects what the new plugin
// executes. The running call ends in peace, other calls get an instance that cannot change it, and
// the new plugin starts when the old instance is gone.
func TestProgramsOfAPluginThatIsFoundLater(t *testing.T) {
	w := newWorld(t, os.Getuid())
	if err := os.MkdirAll(w.path("work/dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.program(t, "escapeplugin", "work/dist/program")
	h := w.serve(t)
	pid := h.pid(t)
	ended := make(chan error, 1)
	go func() { // ends with the call
		_, err := h.try(t, "escapeplugin", "run", "/bin/sh", "-c", "touch "+h.path("work/inside/began")+"; until test -e "+h.path("work/inside/end")+"; do sleep 0.05; done")
		ended <- err
	}()
	eventually.Holds(t, "the call runs", func() bool {
		_, err := os.Stat(w.path("work/inside/began"))
		return err == nil
	})
	if err := os.Mkdir(w.path("plugins/linked"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.path("work/dist/program"), w.path("plugins/linked/program")); err != nil {
		t.Fatal(err)
	}
	w.file(t, "plugins/linked/plugin.yaml", "name: linked\ncommand: [./program, linked]\n")
	addr := " --addr unix://" + h.socket
	h.operator(t, filepath.Join(h.bin, "toolhost")+" reload"+addr+" || true") // it waits for trust
	h.operator(t, filepath.Join(h.bin, "toolhost")+" trust linked --plugins "+h.path("plugins"))
	h.operator(t, filepath.Join(h.bin, "toolhost")+" reload"+addr)
	eventually.Holds(t, "other calls cannot change the program", func() bool {
		_, err := h.try(t, "escapeplugin", "write", h.path("work/dist/new"))
		return err != nil
	})
	if _, err := h.call(t, "linked", map[string]any{"do": "environment"}); err == nil || !strings.Contains(err.Error(), "does not start yet") {
		t.Errorf("the new plugin starts while a call could change its program: %v", err)
	}
	w.file(t, "work/inside/end", "")
	if err := <-ended; err != nil {
		t.Errorf("the call that ran: %v", err)
	}
	eventually.Holds(t, "the old instance is gone", func() bool { return syscall.Kill(pid, 0) != nil })
	eventually.Holds(t, "the new plugin starts", func() bool {
		_, err := h.call(t, "linked", map[string]any{"do": "environment"})
		return err == nil
	})
	h.keeps(t, "write", h.path("work/dist/program"))
}
