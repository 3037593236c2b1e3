package boundary_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// process is a server under test. It is ready when launch returns it.
type process struct {
	cmd    *exec.Cmd
	log    *lockedBuffer
	exited chan struct{} // closed when the process has exited
}

// lockedBuffer is a buffer that a process writes to while a test reads it.
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

// launch starts a binary and returns when the binary has printed that it is ready. The process
// inherits the files, from descriptor 3 on.
func launch(home string, log *lockedBuffer, env []string, files []*os.File, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(filepath.Join(bin, name), args...), log: log, exited: make(chan struct{})}
	p.cmd.Env = append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}, env...)
	p.cmd.Dir, p.cmd.Stderr, p.cmd.ExtraFiles = home, log, files
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() { // ends with the process
		defer close(p.exited)
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- line
		_, _ = io.Copy(io.Discard, stdout)
		_ = p.cmd.Wait()
	}()
	if line := <-ready; !strings.Contains(line, "ready at") && !strings.Contains(line, "unix://") {
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
