package boundary_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// process is a server under test. It is ready when launch returns it.
type process struct {
	cmd    *exec.Cmd
	log    *syncbuf.Buffer
	exited <-chan struct{} // closed when the process has exited
}

// launch starts a binary and returns when the binary has printed that it is ready. The process
// inherits the files, from descriptor 3 on.
func launch(home string, log *syncbuf.Buffer, env []string, files []*os.File, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(filepath.Join(bin, name), args...), log: log}
	p.cmd.Env = append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}, env...)
	p.cmd.Dir, p.cmd.Stderr, p.cmd.ExtraFiles = home, log, files
	line, exited, err := programs.Start(p.cmd)
	if err != nil {
		return nil, err
	}
	p.exited = exited
	if !strings.Contains(line, "ready at") && !strings.Contains(line, "unix://") {
		p.kill()
		return nil, fmt.Errorf("starting %s: it says %q\n%s", name, line, log)
	}
	return p, nil
}

// kill sends SIGKILL and waits until the process has exited.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if the process has exited
	<-p.exited
}

// stop sends SIGTERM and waits until the process has exited.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if the process has exited
	<-p.exited
}
