//go:build linux && (amd64 || arm64)

package escape_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// Protected files stay protected after an operator replaces them, while a plugin runs that may
// write to the folders around them.
func TestNamesStayProtected(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) *toolhost{
		"as this user":       func(t *testing.T) *toolhost { return newProtectedWorld(t, os.Getuid()).serve(t) },
		"as another user":    func(t *testing.T) *toolhost { return newProtectedWorld(t, nobodyOrSelf()).serve(t) },
		"without namespaces": func(t *testing.T) *toolhost { return newProtectedWorld(t, nobodyOrSelf()).serve(t, confined(t)...) },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			h.logLayers(t, "escapeplugin")
			t.Run("a secret is replaced", h.testSecretIsReplaced)
			t.Run("the configuration is edited in its place", h.testConfigurationIsEdited)
			t.Run("plugins are locked", h.testPluginsAreLocked)
			t.Run("a folder of plugins is replaced", h.testPluginFolderIsReplaced)
			t.Run("other ways to a name", h.testOtherWays)
			t.Run("a file directly in the workspace is replaced", h.testFileInRootIsReplaced)
			t.Run("the folder around plugins is replaced", h.testParentIsReplaced)
			t.Run("a name that is free", h.testFreeNames)
		})
	}
}

// newProtectedWorld makes a world whose workspace contains all files that toolhost protects: its
// configuration, a secret, the lock file and a folder of plugins. Directly in the workspace is a
// toolhost.yaml that this toolhost does not use.
func newProtectedWorld(t *testing.T, uid int) *world {
	t.Helper()
	w := newWorld(t, uid)
	for _, dir := range []string{"work/conf", "work/etc", "work/bin", "work/bin/plugins"} {
		if err := os.Mkdir(w.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.own(t, "work/conf/key", w.token())
	w.own(t, "work/toolhost.yaml", "log: {level: debug}\n")
	w.own(t, "work/etc/toolhost.yaml", strings.ReplaceAll(w.settings(), w.path("secrets/token"), w.path("work/conf/key")))
	for _, dir := range []string{"work/conf", "work/etc", "work/bin", "work/bin/plugins"} {
		if err := os.Lchown(w.path(dir), uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if out, err := w.command(ctx, nil, "trust", w.path("work/etc/toolhost.yaml")).CombinedOutput(); err != nil {
		t.Fatalf("toolhost trust: %v\n%s", err, out)
	}
	w.more = []string{"--config", w.path("work/etc/toolhost.yaml"), "--plugins", w.path("work/bin/plugins"), "--lock-file", w.path("work/etc/toolhost.lock")}
	return w
}

// own makes a file that belongs to the world's user.
func (w *world) own(t *testing.T, name, text string) {
	t.Helper()
	w.file(t, name, text)
	if err := os.Lchown(w.path(name), w.uid, -1); err != nil {
		t.Fatal(err)
	}
}

// operator runs a command in the workspace as the operator.
func (h *toolhost) operator(t *testing.T, line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := h.command(ctx, nil)
	cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-c", line}, h.path("work")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// keeps makes an attempt in the escapeplugin, and fails the test if it succeeds.
func (h *toolhost) keeps(t *testing.T, do string, with ...string) {
	t.Helper()
	if answer, err := h.try(t, "escapeplugin", do, with...); err == nil {
		t.Errorf("%s %q: it got %q", do, with, clip(answer))
	}
}

// pid returns the process id of the escapeplugin, which it starts if necessary.
func (h *toolhost) pid(t *testing.T) int {
	t.Helper()
	h.instanceOf(t, "escapeplugin")
	return h.instance(t, "escapeplugin").PID
}

// replaced waits until a process has exited and another one has replaced it. It fails the test if
// toolhost counts the exit as a crash.
func (h *toolhost) replaced(t *testing.T, pid int) {
	t.Helper()
	eventually.Holds(t, "the plugin's process is ended", func() bool { return syscall.Kill(pid, 0) != nil })
	if next := h.pid(t); next == pid {
		t.Errorf("process %d is there still", pid)
	}
	if log := h.stderr.String(); strings.Contains(log, "instance crashed") {
		t.Errorf("its end counts as a crash:\n%s", log)
	}
}

// hunting makes a change while the escapeplugin repeatedly tries to read a file, and returns all
// that it read. An error says that its process was killed.
func (h *toolhost) hunting(t *testing.T, file, how string, change func()) (string, error) {
	t.Helper()
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	hunt := func() { // ends with the call
		outcome, err := h.call(t, "escapeplugin", map[string]any{"do": "hunt", "with": []string{file, "400", how}})
		if err != nil {
			answers <- answer{err: err}
			return
		}
		answers <- answer{text: outcome.Result.Text()}
	}
	go hunt()
	eventually.Holds(t, "the hunt is on", func() bool {
		if h.instance(t, "escapeplugin").Calls > 0 {
			return true
		}
		select {
		case <-answers: // on a busy machine it is over before it is seen
			go hunt()
		default:
		}
		return false
	})
	change()
	a := <-answers
	return a.text, a.err
}

func (h *toolhost) testSecretIsReplaced(t *testing.T) {
	key, pid := h.path("work/conf/key"), h.pid(t)
	h.keeps(t, "read", key)
	seen, err := h.hunting(t, key, "read", func() {
		h.operator(t, "printf %s "+h.canary+" >conf/.new && mv conf/.new conf/key")
	})
	if leaks(seen, h.canary) {
		t.Errorf("it read %q, %v", seen, err)
	}
	h.keeps(t, "read", key)
	h.keeps(t, "read", h.path("work/conf/.new"))
	h.keeps(t, "write", key)
	if now := h.pid(t); now != pid {
		t.Errorf("its process was replaced, which was not necessary: %d and %d", pid, now)
	}
}

func (h *toolhost) testConfigurationIsEdited(t *testing.T) {
	config, pid := h.path("work/etc/toolhost.yaml"), h.pid(t)
	for range 3 {
		h.operator(t, "sed -i 's/audit/audit/' etc/toolhost.yaml")
		h.keeps(t, "write", config)
		h.keeps(t, "remove", config)
		h.keeps(t, "rename", h.path("work/inside/file.txt"), config)
		h.keeps(t, "write", h.path("work/etc/agentd.yaml"))
	}
	if now := h.pid(t); now != pid {
		t.Errorf("its process was replaced, which was not necessary: %d and %d", pid, now)
	}
}

func (h *toolhost) testPluginsAreLocked(t *testing.T) {
	lock := h.path("work/etc/toolhost.lock")
	h.keeps(t, "write", lock)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 2 { // first a new file, then a replacement
		if out, err := h.command(ctx, nil, "lock", "--addr", "unix://"+h.socket, "--file", lock).CombinedOutput(); err != nil {
			t.Fatalf("toolhost lock: %v\n%s", err, out)
		}
		h.keeps(t, "write", lock)
		h.keeps(t, "remove", lock)
	}
}

func (h *toolhost) testPluginFolderIsReplaced(t *testing.T) {
	pid := h.pid(t)
	h.operator(t, "mkdir bin/next && mv bin/plugins bin/old && mv bin/next bin/plugins")
	for _, path := range []string{"work/bin/plugins/evil", "work/bin/old/evil", "work/bin/evil"} {
		h.keeps(t, "write", h.path(path))
	}
	h.keeps(t, "rename", h.path("work/bin/plugins"), h.path("work/inside/plugins"))
	if now := h.pid(t); now != pid {
		t.Errorf("its process was replaced, which was not necessary: %d and %d", pid, now)
	}
}

func (h *toolhost) testOtherWays(t *testing.T) {
	file := h.path("work/toolhost.yaml")
	h.keeps(t, "write", file)
	h.keeps(t, "remove", file)
	h.keeps(t, "link", file, h.path("work/inside/alias"))
	h.keeps(t, "rename", file, h.path("work/inside/moved"))
	h.keeps(t, "rename", h.path("work/inside/file.txt"), file)
	h.keeps(t, "symlink", h.path("work/inside/file.txt"), file)
	h.keeps(t, "rename", h.path("work/bin"), h.path("work/inside/bin"))
	h.keeps(t, "rename", h.path("work/etc"), h.path("work/inside/etc"))
	h.keeps(t, "write", h.path("work/inside/../bin/plugins/evil"))
	h.keeps(t, "write", "/proc/self/root"+h.path("work/bin/plugins/evil"))
	h.keeps(t, "run", "/bin/sh", "-c", "cd "+h.path("work/inside")+" && ln -s ../bin/plugins way && echo evil >way/evil")
	h.operator(t, "rm -f inside/way")
}

func (h *toolhost) testFileInRootIsReplaced(t *testing.T) {
	file := h.path("work/toolhost.yaml")
	for what, line := range map[string]string{
		"edited":  "sed -i s/debug/info/ toolhost.yaml",
		"renamed": "cp toolhost.yaml .new && mv .new toolhost.yaml",
		"made":    "rm toolhost.yaml && echo 'log: {level: info}' >toolhost.yaml",
	} {
		pid := h.pid(t)
		h.operator(t, line)
		h.replaced(t, pid)
		h.keeps(t, "write", file)
		h.keeps(t, "remove", file)
		t.Log(what)
	}
}

func (h *toolhost) testParentIsReplaced(t *testing.T) {
	pid := h.pid(t)
	h.operator(t, "mv bin bin.old && mkdir -p bin/plugins")
	h.replaced(t, pid)
	for _, path := range []string{"work/bin/plugins/evil", "work/bin/evil"} {
		h.keeps(t, "write", h.path(path))
	}
	h.keeps(t, "rename", h.path("work/bin"), h.path("work/inside/bin"))
}

func (h *toolhost) testFreeNames(t *testing.T) {
	for _, name := range []string{"agentd.yaml", "toolhost.lock"} {
		path, pid := h.path("work", name), h.pid(t)
		outcome, err := h.call(t, "escapeplugin", map[string]any{"do": "hunt", "with": []string{path, "2000", "write"}})
		if _, missing := os.Stat(path); missing != nil {
			if layer := h.layer(t, "escapeplugin", sandbox.Landlock); !strings.Contains(layer.Note, h.path("work")) {
				t.Errorf("%s was not made, and the layer does not say why: %+v", name, layer)
			}
			continue
		}
		if err == nil {
			t.Errorf("it made %s and went on: %s", name, clip(outcome.Result.Text()))
		}
		h.replaced(t, pid)
		h.keeps(t, "write", path)
		h.keeps(t, "remove", path)
	}
}

// toolhost refuses to start if it cannot protect a path by its name.
func TestUnprotectableNamesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, w *world)
		want    string
	}{
		"a folder of plugins behind a link": {func(t *testing.T, w *world) {
			if err := os.Symlink(w.path("plugins"), w.path("work/plugins")); err != nil {
				t.Fatal(err)
			}
			w.more = []string{"--plugins", w.path("work/plugins")}
		}, "work/plugins is a symbolic link in"},
		"a secret directly in the workspace": {func(t *testing.T, w *world) {
			w.own(t, "work/token", w.token())
			w.own(t, "toolhost.yaml", strings.ReplaceAll(w.settings(), w.path("secrets/token"), w.path("work/token")))
		}, "move it into a separate folder"},
		"a secret with another name": {func(t *testing.T, w *world) {
			if err := os.Link(w.path("secrets/token"), w.path("work/inside/token")); err != nil {
				t.Fatal(err)
			}
			w.own(t, "toolhost.yaml", strings.ReplaceAll(w.settings(), w.path("secrets/token"), w.path("work/inside/token")))
		}, "hard link"},
		"the folder of plugins as the workspace": {func(_ *testing.T, w *world) {
			w.more = []string{"--workspace", w.path("plugins")}
		}, "grant another folder"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nobodyOrSelf())
			test.prepare(t, w)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			args := append([]string{"serve", "--config", w.path("toolhost.yaml"), "--plugins", w.path("plugins"), "--listen", "unix://" + w.path("api.sock"), "--state", w.path("state")}, w.more...)
			out, err := w.command(ctx, nil, args...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("toolhost serve says %s, %v; want %q", out, err, test.want)
			}
			if fmt.Sprint(ctx.Err()) != "<nil>" {
				t.Error("it was started")
			}
		})
	}
}
