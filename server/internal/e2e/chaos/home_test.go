package chaos_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// config makes toolhost restart crashed plugins soon, because a plugin in quarantine causes no
// disturbance. The plugins differ in isolation and pool size.
const config = `
new_plugins: allow
defaults:
  backoff: {initial: 10ms, max: 300ms}
  quarantine: {crashes: 30, window: 1m, probe_after: 1s}
  drain_timeout: 2s
calls: {yield_timeout: 500ms}
plugin:
  chaos-wild-1: {isolation: session, max_instances: 4}
  chaos-wild-2: {isolation: call, max_instances: 8, prewarmed: 2}
  chaos-wild-3: {max_instances: 3, max_calls_per_instance: 4, recycle_after_calls: 50}
`

// home is the path of a folder with the binaries, the plugins and everything that toolhost writes.
type home string

// newHome builds the binaries and installs the plugins.
func newHome(t *testing.T) home {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "chaos-") // the length of a socket path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := home(dir)
	for _, folder := range []string{"plugins", "one", "two", "broken", "fresh", "work"} {
		if err := os.Mkdir(h.path(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.build(t, "./cmd/toolhost", *race)
	h.build(t, "./internal/toolhost/process/fault/faultplugin", false)
	write(t, h.path("toolhost.yaml"), []byte(config), 0o600)
	if err := trust.NewStore(h.path(".local", "state", "toolhost")).TrustFile(h.path("toolhost.yaml"), []byte(config)); err != nil {
		t.Fatal(err) // the file is in the workspace, so it needs a trust record
	}
	binary, err := os.ReadFile(h.path("faultplugin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range calmPlugins() {
		write(t, h.file(name), fmt.Append(bytes.Clone(binary), name), 0o700)
	}
	for _, name := range wildPlugins() {
		// The appended bytes change the digest of the executable.
		for _, build := range []string{"one", "two"} {
			write(t, h.path(build, name), fmt.Appendf(bytes.Clone(binary), "%s %s", name, build), 0o700)
		}
		write(t, h.path("broken", name), fmt.Appendf(nil, "#!/bin/sh\nexit 7 # %s\n", name), 0o700)
		h.install(t, "one", name)
	}
	return h
}

func (h home) path(elements ...string) string {
	return filepath.Join(append([]string{string(h)}, elements...)...)
}

// file returns the path of a plugin's executable.
func (h home) file(plugin string) string { return h.path("plugins", plugin) }

// install replaces a plugin's executable atomically with one of its builds. It is safe for
// concurrent use.
func (h home) install(t *testing.T, build, plugin string) {
	fresh, err := os.MkdirTemp(h.path("fresh"), "")
	if err != nil {
		t.Error(err)
		return
	}
	defer os.RemoveAll(fresh)
	if err := os.Link(h.path(build, plugin), filepath.Join(fresh, plugin)); err != nil {
		t.Error(err)
		return
	}
	// If both names are links to the same file, rename does nothing. That is correct here.
	if err := os.Rename(filepath.Join(fresh, plugin), h.file(plugin)); err != nil {
		t.Error(err)
	}
}

// build builds a program, shared with other packages unless it has the race detector.
func (h home) build(t *testing.T, pkg string, race bool) {
	t.Helper()
	if !race {
		if err := programs.Build(t.Context(), string(h), pkg); err != nil {
			t.Fatal(err)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-race", "-o", string(h)+"/", pkg)
	cmd.Dir, cmd.Env = "../../..", append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
}

// checkEmpty checks that a toolhost that has exited left nothing behind.
func (h home) checkEmpty(t *testing.T, ended *toolhost) {
	t.Helper()
	eventually.Shows(t, "no process is left that toolhost or a plugin started", func() (bool, any) {
		left := h.processes()
		return len(left) == 0, left
	})
	eventually.Shows(t, "no run folder, no socket and no control group is left", func() (bool, any) {
		left, err := filepath.Glob(h.path("toolhost-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append([]string{h.path("t.sock")}, ended.groups...) {
			if _, err := os.Lstat(path); err == nil {
				left = append(left, path)
			}
		}
		return len(left) == 0, left
	})
}

// served returns the process that serves, of a toolhost whose first process is given. Where plugins
// have neither control groups nor PID namespaces, two subreapers are above it.
func (h home) served(first int) int {
	serves := first
	for _, dir := range h.processDirs() {
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		pid, err := strconv.Atoi(filepath.Base(dir))
		// The reaper has the variable, too, and is younger.
		if err == nil && (serves == first || pid < serves) && h.ownProgram(dir) && bytes.Contains(environ, []byte("TOOLHOST_SUBREAPER=served\x00")) {
			serves = pid
		}
	}
	return serves
}

// ownProgram reports whether a process executes toolhost.
func (h home) ownProgram(dir string) bool {
	exe, _ := os.Readlink(filepath.Join(dir, "exe"))
	return exe == h.path("toolhost")
}

// processes returns the processes that execute a program of this folder, work in it, or have its
// path in their environment. At least one of these holds for every process that a plugin starts.
func (h home) processes() []string {
	var found []string
	for _, dir := range h.processDirs() {
		if process, ours := h.process(dir); ours {
			found = append(found, process)
		}
	}
	return found
}

// process describes a process, and reports whether it is one of processes.
func (h home) process(dir string) (text string, ours bool) {
	exe, _ := os.Readlink(filepath.Join(dir, "exe"))
	cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
	environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
	ours = strings.HasPrefix(exe, string(h)) || strings.HasPrefix(cwd, string(h)) || bytes.Contains(environ, []byte(h+"/"))
	return fmt.Sprintf("%s %s in %s", dir, exe, cwd), ours
}

// processDirs returns the folders of all processes.
func (h home) processDirs() []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	return dirs
}

func write(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}
