package chaos_test

import (
	"bufio"
	"bytes"
	"context"
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
)

// toolhost is the real binary with the calm and the wild plugins.
type toolhost struct {
	home, addr string
	cmd        *exec.Cmd
	log        *lockedBuffer
	exited     chan struct{}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// tail returns the end of what was written.
func (b *lockedBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	data := b.buf.Bytes()
	return string(data[max(0, len(data)-8000):])
}

// startToolhost builds the binaries and returns once toolhost is ready.
func startToolhost(t *testing.T) *toolhost {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "chaos-") // short: socket paths have a bound
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	build(t, filepath.Join(home, "toolhost"), "./cmd/toolhost")
	plugin := filepath.Join(home, "plugin")
	if err := os.Mkdir(filepath.Join(home, "plugins"), 0o700); err != nil {
		t.Fatal(err)
	}
	build(t, plugin, "./internal/process/fault/faultplugin")
	for i := range calm {
		copyAs(t, plugin, fmt.Sprintf("chaos-calm-%d", i))
	}
	for i := range wild {
		copyAs(t, plugin, fmt.Sprintf("chaos-wild-%d", i))
	}
	h := &toolhost{home: home, addr: "unix://" + filepath.Join(home, "t.sock"), log: &lockedBuffer{}, exited: make(chan struct{})}
	h.cmd = exec.Command(filepath.Join(home, "toolhost"), "serve", "--plugins", filepath.Join(home, "plugins"),
		"--listen", h.addr, "--state", filepath.Join(home, "state"), "--workspace", home)
	h.cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}
	h.cmd.Stderr = h.log
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() { // ends with the process
		defer close(h.exited)
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- line
		io.Copy(io.Discard, stdout)
		h.cmd.Wait()
	}()
	t.Cleanup(func() {
		h.cmd.Process.Kill()
		<-h.exited
		if t.Failed() {
			t.Logf("the end of toolhost's log:\n%s", h.log.tail())
		}
	})
	if line := <-ready; !strings.Contains(line, "8 plugins") {
		t.Fatalf("toolhost says %q; want 8 plugins\n%s", line, h.log.tail())
	}
	return h
}

func build(t *testing.T, target, pkg string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", target, pkg)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
}

// copyAs copies the plugin under another name, and with another digest: what a plugin says of itself goes with that.
func copyAs(t *testing.T, plugin, name string) {
	t.Helper()
	data, err := os.ReadFile(plugin)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(plugin), "plugins", name), append(data, name...), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (h *toolhost) dial(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.Dial(h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// descriptors counts what toolhost has open.
func (h *toolhost) descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// checkQuiet waits until, with all plugins restarted and drained, toolhost holds no more than it did before the chaos.
func (h *toolhost) checkQuiet(t *testing.T, before int) {
	t.Helper()
	c := h.dial(t)
	const spare = 8 // the clients' own connections
	eventually(t, "no instance, and as many descriptors as before", func() bool {
		instances, err := c.Instances(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range instances {
			_ = syscall.Kill(in.PID, syscall.SIGCONT) // some were stopped
			_ = c.Drain(t.Context(), in.Plugin)
		}
		return len(instances) == 0 && h.descriptors(t) <= before+spare
	})
	c.Close()
}

// stopAndCheck ends toolhost and checks that nothing is left.
func (h *toolhost) stopAndCheck(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-h.exited
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("toolhost ended with exit code %d", code)
	}
	eventually(t, "no process is left that runs a plugin of this test", func() bool { return len(h.processes(t)) == 0 })
	left, err := filepath.Glob(filepath.Join(h.home, "toolhost-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := os.Lstat(filepath.Join(h.home, "t.sock")); err == nil {
		t.Error("the socket is left behind")
	}
}

// processes returns those whose environment or executable is of this test's folder.
func (h *toolhost) processes(t *testing.T) []string {
	t.Helper()
	var found []string
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		exe, _ := os.Readlink(filepath.Join(dir, "exe"))
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if strings.HasPrefix(exe, h.home) || bytes.Contains(environ, []byte(h.home+"/")) {
			found = append(found, dir+" "+exe)
		}
	}
	return found
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
