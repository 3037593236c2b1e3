package planted

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// server is a running `toolhost serve`.
type server struct {
	*world
	cmd    *exec.Cmd
	addr   string
	stderr *syncbuf.Buffer
	exited <-chan struct{} // closed when the process has exited
}

// serve starts toolhost in the folder etc and returns when it is ready. It stops toolhost at the
// end of the test.
func (w *world) serve(t *testing.T, flags ...string) *server {
	t.Helper()
	return w.serveWith(t, nil, flags...)
}

// serveWith is serve with further environment variables.
func (w *world) serveWith(t *testing.T, env []string, flags ...string) *server {
	t.Helper()
	s := &server{world: w, addr: "unix://" + w.path("run", "s.sock"), stderr: &syncbuf.Buffer{}}
	s.cmd = w.command(context.Background(), "etc", "toolhost", append([]string{"serve", "--listen", s.addr, "--workspace", w.path("ws")}, flags...)...)
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stderr = s.stderr
	line, exited, err := programs.Start(s.cmd)
	must(t, err)
	s.exited = exited
	t.Cleanup(func() {
		s.stop(t)
		if t.Failed() {
			t.Logf("toolhost's log:\n%s", s.stderr)
		}
	})
	if !strings.Contains(line, "toolhost is ready at ") {
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
