package releases

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// write writes the fixtures of the present version before the tests read them.
var write = flag.Bool("write", false, "write the folder of testdata for the present version")

// bin is the folder with the programs under test.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "releases-")
	if err == nil {
		bin = dir
		err = programs.Build(context.Background(), dir, "./cmd/toolhost", "./cmd/agentd", "./plugins/calculator", "./internal/e2e/testplugins/counterplugin")
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// fixtures returns the folders of testdata, one for each release.
func fixtures(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob("testdata/*.*.*")
	if err != nil || !strings.Contains(strings.Join(folders, " "), version.Number) {
		t.Fatalf("testdata has %q, and not %s: %v; run make fixtures", folders, version.Number, err)
	}
	return folders
}

// server is a running toolhost or agentd.
type server struct {
	cmd    *exec.Cmd
	log    *syncbuf.Buffer
	exited <-chan struct{} // closed when the process has ended
}

func (h home) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, program), args...)
	cmd.Env = []string{"HOME=" + string(h), "PATH=/usr/bin:/bin", "TMPDIR=" + string(h), "TOOLHOST_ADDR=" + h.socket("t"), "AGENTD_ADDR=" + h.socket("a")}
	cmd.Dir = string(h)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// serve starts a server and waits until it is ready. The server is killed at the end of the test.
func (h home) serve(t *testing.T, program string, args ...string) *server {
	t.Helper()
	s := &server{cmd: h.command(program, append([]string{"serve"}, args...)...), log: &syncbuf.Buffer{}}
	s.cmd.Stderr = s.log
	line, exited, err := programs.Start(s.cmd)
	if err != nil {
		t.Fatal(err)
	}
	s.exited = exited
	t.Cleanup(func() {
		s.end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the log of %s:\n%s", program, s.log)
		}
	})
	if !strings.Contains(line, "ready") {
		t.Fatalf("%s is not ready: %q\n%s", program, line, s.log)
	}
	return s
}

// end sends the server a signal and waits until it has ended.
func (s *server) end(signal os.Signal) {
	_ = s.cmd.Process.Signal(signal)
	<-s.exited
}

// do runs a command to its end, and returns what it printed. It fails the test if the exit code is
// not the given one.
func (h home) do(t *testing.T, code int, program string, args ...string) string {
	t.Helper()
	cmd := h.command(program, args...)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%s %s: exit code %d, want %d: %v\n%s", program, strings.Join(args, " "), got, code, err, out)
	}
	return string(out)
}
