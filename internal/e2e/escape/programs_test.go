//go:build linux && (amd64 || arm64)

package escape_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/e2e/programs"
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
