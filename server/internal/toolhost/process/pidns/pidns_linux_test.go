//go:build linux && (amd64 || arm64)

package pidns_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process/pidns"
)

// given reports whether this machine can make namespaces. If it cannot, New must say why.
func given(t *testing.T) bool {
	t.Helper()
	result := make(chan error)
	pidns.Go(func() (reusable bool) {
		n, err := pidns.New(nil, 0)
		if err == nil {
			n.Close()
		}
		result <- err
		return true
	})
	err := <-result
	if os.Geteuid() == 0 && err != nil {
		t.Logf("root gets no namespace: %v", err)
	}
	if err != nil && !strings.Contains(err.Error(), "PID namespace: ") {
		t.Errorf("error %q", err)
	}
	return err == nil
}

// inside starts a shell script in a new namespace and returns its first line of output, and a
// function that ends the namespace and waits until it is gone.
func inside(t *testing.T, script string) (line string, namespace *pidns.Namespace, end func()) {
	t.Helper()
	lines, over, gone := make(chan string), make(chan struct{}), make(chan struct{})
	pidns.Go(func() (reusable bool) {
		defer close(gone)
		defer close(lines)
		n, err := pidns.New([]string{"A=1"}, 0)
		if err != nil {
			t.Error(err)
			return
		}
		namespace = n
		defer n.Close()
		if err := n.Enter("/bin/sh"); err != nil {
			t.Error(err)
			return
		}
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Error(err)
			return
		}
		text, _ := bufio.NewReader(stdout).ReadString('\n')
		lines <- strings.TrimSpace(text)
		<-over
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return
	})
	end = func() {
		select {
		case <-over:
		default:
			close(over)
		}
		<-gone
	}
	t.Cleanup(end)
	return <-lines, namespace, end
}

func TestProcessesSeeOnlyTheirNamespace(t *testing.T) {
	if !given(t) {
		return
	}
	before, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := inside(t, "echo $$ /proc/[0-9]*; exec sleep 600")
	if line != "2 /proc/1 /proc/2" {
		t.Errorf("a process in the namespace sees %q", line)
	}
	if after, err := os.Readlink("/proc/self/ns/mnt"); err != nil || after != before {
		t.Errorf("toolhost is in %s, %v; it was in %s", after, err, before)
	}
}

func TestHiddenProcessDiesWithTheNamespace(t *testing.T) {
	if !given(t) {
		return
	}
	_, n, end := inside(t, "(env -i setsid sleep 600 >/dev/null &) ; echo; exec sleep 600")
	eventually.Holds(t, "the hidden process is an orphan", func() bool { return len(proc.Tree(n.PID())) == 2 })
	hidden := proc.Tree(n.PID())[1]
	end()
	if proc.Alive(hidden) {
		t.Errorf("process %d is alive", hidden)
	}
}

func TestOrphansAreReaped(t *testing.T) {
	if !given(t) {
		return
	}
	_, n, _ := inside(t, "for i in 1 2 3 4 5; do (true & true & true) & done; wait; echo done; exec sleep 600")
	eventually.Holds(t, "the first process has reaped all", func() bool { return len(proc.Tree(n.PID())) == 1 })
}

func TestFirstProcessIsSmall(t *testing.T) {
	if !given(t) {
		return
	}
	_, n, _ := inside(t, "echo; exec sleep 600")
	size, err := proc.ResidentBytes(n.PID())
	if err != nil || size > 128<<10 {
		t.Errorf("it has %d bytes in memory, %v", size, err)
	}
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(n.PID()), "environ"))
	if err != nil || string(text) != "A=1\x00" {
		t.Errorf("its environment is %q, %v", text, err)
	}
	if err := syscall.Kill(n.PID(), syscall.SIGTERM); err != nil || !proc.Alive(n.PID()) {
		t.Errorf("a signal ends it (%v)", err)
	}
}
