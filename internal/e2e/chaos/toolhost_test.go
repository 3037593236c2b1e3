package chaos_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/eventually"
	"github.com/toolhost/toolhost/tool"
)

// patience bounds every wait, so that what hangs fails the test instead of stopping it.
const patience = time.Minute

// toolhost is the real binary at work.
type toolhost struct {
	home   home
	cmd    *exec.Cmd
	log    *lastWords
	exited chan struct{}
	client *client.Client
	groups []string // its control groups
}

// serve starts toolhost and returns once it is ready.
func (h home) serve(t *testing.T) *toolhost {
	t.Helper()
	addr := "unix://" + h.path("t.sock")
	s := &toolhost{home: h, log: &lastWords{}, exited: make(chan struct{})}
	s.cmd = exec.Command(h.path("toolhost"), "serve", "--plugins", h.path("plugins"), "--listen", addr,
		"--state", h.path("state"), "--workspace", h.path("work"), "--config", h.path("toolhost.yaml"))
	s.cmd.Dir = h.path()
	s.cmd.Env = []string{"HOME=" + h.path(), "PATH=/usr/bin:/bin", "TMPDIR=" + h.path(), "GOTRACEBACK=all"}
	s.cmd.Stderr = s.log
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() { // ends with the process
		defer close(s.exited)
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- line
		io.Copy(io.Discard, stdout)
		s.cmd.Wait()
	}()
	t.Cleanup(func() {
		select {
		case <-s.exited:
		default:
			s.abandon(t)
		}
	})
	if line := <-ready; !strings.Contains(line, addr) {
		t.Fatalf("toolhost says %q\n%s", line, s.log.tail(someWords))
	}
	s.groups = s.controlGroups(t)
	if s.client, err = client.Dial(addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.client.Close() })
	return s
}

// abandon ends a toolhost that a failed test left alone, and shows what it was doing.
func (h *toolhost) abandon(t *testing.T) {
	log := h.log.tail(someWords)
	_ = h.cmd.Process.Signal(syscall.SIGQUIT) // which dumps all goroutines
	select {
	case <-h.exited:
	case <-time.After(patience):
		_ = h.cmd.Process.Kill()
		<-h.exited
	}
	_, dump, _ := strings.Cut(h.log.tail(mostWords), quit)
	t.Logf("the end of toolhost's log:\n%s\nits goroutines:\n%s", log, dump)
}

// rest lets each plugin run once, stops all, and returns what toolhost has open then.
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

// mend does what an operator does after a bad night: each wild plugin gets a file that is good, and must work again.
func (h *toolhost) mend(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, plugin := range wildPlugins() {
		h.home.install(t, "one", plugin)
	}
	if _, err := h.client.Admin().Reload(ctx); err != nil { // what could not be taken over, Upgrade tells
		t.Fatal(err)
	}
	for _, plugin := range wildPlugins() {
		if _, err := h.client.Admin().Upgrade(ctx, plugin); err != nil {
			t.Errorf("upgrading %s to a good file: %v", plugin, err)
		}
		if err := h.client.Admin().ClearQuarantine(ctx, plugin); err != nil {
			t.Errorf("clearing %s: %v", plugin, err)
		}
		if err := h.client.Admin().Resume(ctx, plugin); err != nil { // it may have ended between pause and resume
			t.Errorf("resuming %s: %v", plugin, err)
		}
		if _, err := h.client.Admin().Restart(ctx, plugin, true); err != nil { // some of its processes are stopped
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

// stopAll pauses all plugins and stops all their instances.
func (h *toolhost) stopAll(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, plugin := range allPlugins() {
		if err := h.client.Admin().Pause(ctx, plugin); err != nil { // so that none is kept warm
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

// descriptors counts what toolhost has open, by what it is.
func (h *toolhost) descriptors(t *testing.T) map[string]int {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", h.cmd.Process.Pid))
	if err != nil || len(links) == 0 {
		t.Fatalf("no descriptors: %v", err)
	}
	found := map[string]int{}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			continue // closed since
		}
		kind, _, _ := strings.Cut(target, ":[") // sockets and pipes have numbers
		found[kind]++
	}
	return found
}

// controlGroups returns the groups that toolhost has made for itself: it keeps each open.
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

// end sends toolhost a signal and checks its exit code.
func (h *toolhost) end(t *testing.T, signal syscall.Signal, code int) {
	t.Helper()
	if err := h.cmd.Process.Signal(signal); err != nil {
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

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu  sync.Mutex
	buf []byte
}

const (
	mostWords = 16 << 20 // enough for the stacks of thousands of goroutines
	someWords = 8 << 10  // what a person reads
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
