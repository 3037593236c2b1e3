package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/tool"
)

// patience bounds every wait, so that a hang fails the test instead of blocking it.
const patience = 3 * time.Minute

// toolhost is a running toolhost binary and a client of it.
type toolhost struct {
	home   home
	cmd    *exec.Cmd
	log    *lastWords
	exited <-chan struct{}
	client *client.Client
	groups []string // the control groups that toolhost created for its plugins
	pid    int      // the process that serves: cmd's, or the one below two subreapers
}

// serve starts toolhost and returns when toolhost is ready.
func (h home) serve(t *testing.T) *toolhost {
	t.Helper()
	addr := "unix://" + h.path("t.sock")
	s := &toolhost{home: h, log: &lastWords{}}
	s.cmd = exec.Command(h.path("toolhost"), "serve", "--plugins", h.path("plugins"), "--listen", addr,
		"--state", h.path("state"), "--workspace", h.path("work"), "--config", h.path("toolhost.yaml"))
	s.cmd.Dir = h.path()
	s.cmd.Env = []string{"HOME=" + h.path(), "PATH=/usr/bin:/bin", "TMPDIR=" + h.path(), "GOTRACEBACK=all"}
	s.cmd.Stderr = s.log
	line, exited, err := programs.Start(s.cmd)
	if err != nil {
		t.Fatal(err)
	}
	s.exited = exited
	t.Cleanup(func() {
		select {
		case <-s.exited:
		default:
			s.abandon(t)
		}
	})
	if !strings.Contains(line, addr) {
		t.Fatalf("toolhost says %q\n%s", line, s.log.tail(someWords))
	}
	s.pid = h.served(s.cmd.Process.Pid)
	s.groups = s.controlGroups(t)
	if s.client, err = client.Dial(addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.client.Close() })
	return s
}

// abandon ends a toolhost that a failed test left running, and logs its goroutines.
func (h *toolhost) abandon(t *testing.T) {
	log := h.log.tail(someWords)
	_ = syscall.Kill(h.pid, syscall.SIGQUIT) // SIGQUIT dumps all goroutines
	select {
	case <-h.exited:
	case <-time.After(patience):
		_ = h.cmd.Process.Kill()
		<-h.exited
	}
	_, dump, _ := strings.Cut(h.log.tail(mostWords), quit)
	t.Logf("the end of toolhost's log:\n%s\nits goroutines:\n%s", log, dump)
}

// rest calls each plugin once, stops all instances, and returns the number of toolhost's
// descriptors by kind.
func (h *toolhost) rest(t *testing.T) map[string]int {
	t.Helper()
	for _, plugin := range allPlugins() {
		h.echo(t, plugin)
	}
	h.stopAll(t)
	open := h.descriptors(t)
	for _, plugin := range allPlugins() {
		if err := h.client.Admin().Resume(t.Context(), plugin); err != nil {
			t.Fatal(err)
		}
	}
	return open
}

// repair gives each wild plugin a good file and clears its state, as an operator would. Then the
// plugin must work again.
func (h *toolhost) repair(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, plugin := range wildPlugins() {
		h.home.install(t, "one", plugin)
	}
	// Upgrade below reports a failed takeover
	if _, err := h.client.Admin().Reload(ctx); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range wildPlugins() {
		if _, err := h.client.Admin().Upgrade(ctx, plugin); err != nil {
			t.Errorf("upgrading %s to a good file: %v", plugin, err)
		}
		if err := h.client.Admin().ClearQuarantine(ctx, plugin); err != nil {
			t.Errorf("clearing %s: %v", plugin, err)
		}
		// An accident may have ended between Pause and Resume.
		if err := h.client.Admin().Resume(ctx, plugin); err != nil {
			t.Errorf("resuming %s: %v", plugin, err)
		}
		// Some processes still have SIGSTOP, so the restart is forced.
		if _, err := h.client.Admin().Restart(ctx, plugin, true); err != nil {
			t.Errorf("restarting %s: %v", plugin, err)
		}
		h.echo(t, plugin)
	}
}

func (h *toolhost) echo(t *testing.T, plugin string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	outcome, err := h.client.Call(ctx, tool.Call{Tool: plugin, Arguments: json.RawMessage(`{"do":"echo","text":"x"}`)})
	if err != nil || outcome.Result.Text() != "x" {
		t.Fatalf("a call of %s ended with %v %q", plugin, err, outcome.Result.Text())
	}
}

// stopAll pauses all plugins and stops all instances.
func (h *toolhost) stopAll(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, plugin := range allPlugins() {
		if err := h.client.Admin().Pause(ctx, plugin); err != nil {
			t.Errorf("pausing %s: %v", plugin, err)
		}
		if err := h.client.Admin().Drain(ctx, plugin); err != nil {
			t.Errorf("draining %s: %v", plugin, err)
		}
	}
	eventually.Shows(t, "no instance is left", func() (bool, any) {
		instances, err := h.client.Admin().Instances(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return len(instances) == 0, instances
	})
}

// descriptors counts toolhost's open descriptors by kind or path.
func (h *toolhost) descriptors(t *testing.T) map[string]int {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", h.pid))
	if err != nil || len(links) == 0 {
		t.Fatalf("no descriptors: %v", err)
	}
	found := map[string]int{}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			continue // closed in the meantime
		}
		kind, _, _ := strings.Cut(target, ":[") // removes the inode number of sockets and pipes
		found[kind]++
	}
	return found
}

// controlGroups returns the control groups that toolhost has created. toolhost keeps each one open.
func (h *toolhost) controlGroups(t *testing.T) []string {
	t.Helper()
	var found []string
	for path := range h.descriptors(t) {
		if strings.HasPrefix(path, "/sys/fs/cgroup/") && strings.HasPrefix(filepath.Base(path), "toolhost-") {
			found = append(found, path)
		}
	}
	return found
}

// end sends toolhost a signal, waits until it exits and checks the exit code.
func (h *toolhost) end(t *testing.T, signal syscall.Signal, code int) {
	t.Helper()
	to := h.cmd.Process.Pid
	if signal == syscall.SIGQUIT {
		to = h.pid
	}
	if err := syscall.Kill(to, signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-h.exited:
	case <-time.After(patience):
		t.Fatalf("toolhost did not end after %v", signal)
	}
	if got := h.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("after %v toolhost ended with exit code %d, want %d", signal, got, code)
	}
}

// lastWords is a writer that keeps the last bytes written to it. It is safe for concurrent use.
type lastWords struct {
	mu  sync.Mutex
	buf []byte
}

const (
	mostWords = 16 << 20 // enough for the stacks of thousands of goroutines
	someWords = 8 << 10  // enough for a person to read
)

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buf) > 2*mostWords {
		w.buf = append([]byte(nil), w.buf[len(w.buf)-mostWords:]...)
	}
	w.buf = append(w.buf, p...)
	return len(p), nil
}

// tail returns the last n bytes.
func (w *lastWords) tail(n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(bytes.Clone(w.buf[max(0, len(w.buf)-n):]))
}
