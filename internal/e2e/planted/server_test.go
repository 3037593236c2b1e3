package planted

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// server is a running `toolhost serve`.
type server struct {
	*world
	cmd    *exec.Cmd
	addr   string
	stderr *lockedBuffer
	exited chan struct{} // closed when the process has exited
}

// lockedBuffer is a buffer that a process writes while a test reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serve starts toolhost in the folder etc and returns when it is ready. It stops toolhost at the
// end of the test.
func (w *world) serve(t *testing.T, flags ...string) *server {
	t.Helper()
	s := &server{world: w, addr: "unix://" + w.path("run", "s.sock"), stderr: &lockedBuffer{}, exited: make(chan struct{})}
	s.cmd = w.command(context.Background(), "etc", "toolhost", append([]string{"serve", "--listen", s.addr, "--workspace", w.path("ws")}, flags...)...)
	s.cmd.Stderr = s.stderr
	stdout, err := s.cmd.StdoutPipe()
	must(t, err)
	must(t, s.cmd.Start())
	ready := make(chan string, 1)
	go func() { // ends with the process
		defer close(s.exited)
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- line
		io.Copy(io.Discard, stdout)
		s.cmd.Wait()
	}()
	t.Cleanup(func() {
		s.stop(t)
		if t.Failed() {
			t.Logf("toolhost's log:\n%s", s.stderr)
		}
	})
	if line := <-ready; !strings.Contains(line, s.addr) {
		t.Fatalf("toolhost says %q\n%s", line, s.stderr)
	}
	return s
}

// stop stops toolhost. Further calls do nothing.
func (s *server) stop(t *testing.T) {
	t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // the process may have exited
	<-s.exited
}

// do runs a command of toolhost against this server.
func (s *server) do(t *testing.T, command string, args ...string) result {
	t.Helper()
	return s.run(t, "etc", "toolhost", append([]string{command, "--addr", s.addr}, args...)...)
}
