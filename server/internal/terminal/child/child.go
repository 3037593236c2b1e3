// Package child runs a server for as long as a command needs it: `agentd run` has its own toolhost,
// and `toolhost prove` starts toolhost, agentd and PostgreSQL.
//
// It owns the process: its start, its end, and the last lines of its standard error. It does not
// know what the server does, and removes no files.
package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// startWait bounds the time until a server is ready. toolhost reads the descriptions of new
	// plugins first.
	startWait = 30 * time.Second
	// stopWait bounds the time until a server stops after SIGTERM. It is longer than toolhost's own
	// grace for calls.
	stopWait = 15 * time.Second
	// lastWords bounds the bytes of its standard error that are kept.
	lastWords = 4 << 10
)

// Child is a server that this process has started. All methods are safe for concurrent use.
type Child struct {
	cmd    *exec.Cmd
	stderr tail
	ready  chan string   // receives its first line
	exited chan struct{} // closed when the process has ended
	err    error         // how the process ended; set before exited is closed
}

// Start is Launch, and waits until the server is ready, which it says with one line on its standard
// output. The caller must call Stop, unless there is an error.
func Start(ctx context.Context, cmd *exec.Cmd) (*Child, error) {
	c, err := Launch(cmd)
	if err != nil {
		return nil, err
	}
	if err := c.wait(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Launch starts a server. cmd has its program, arguments, environment, files, and the user if it is
// another one; Launch sets the rest. On Linux, the kernel sends the server SIGTERM when this
// process dies. The caller must call Stop or Kill, unless there is an error.
func Launch(cmd *exec.Cmd) (*Child, error) {
	c := &Child{cmd: cmd, ready: make(chan string, 1), exited: make(chan struct{})}
	all := attributes()
	if given := cmd.SysProcAttr; given != nil {
		all.Credential = given.Credential
	}
	cmd.Stderr, cmd.SysProcAttr = &c.stderr, all
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	go c.attend(stdout, started) // ends with the process; Stop waits for it
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// wait returns when the server is ready.
func (c *Child) wait(ctx context.Context) error {
	timer := time.NewTimer(startWait)
	defer timer.Stop()
	name := filepath.Base(c.cmd.Path)
	select {
	case line := <-c.ready:
		if line != "" {
			return nil
		}
		select {
		case <-c.exited:
			return fmt.Errorf("%s ended at once: %w\n%s", name, c.err, &c.stderr)
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return fmt.Errorf("%s was not ready after %s\n%s", name, startWait, &c.stderr)
}

// attend starts the process and waits for its end. The kernel sends the parent-death signal when
// the thread that started the child ends. So this goroutine keeps its thread.
func (c *Child) attend(stdout io.Reader, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.exited)
	if c.err = c.cmd.Start(); c.err != nil {
		started <- fmt.Errorf("starting %s: %w", c.cmd.Path, c.err)
		return
	}
	started <- nil
	lines := bufio.NewReader(stdout)
	line, _ := lines.ReadString('\n')
	c.ready <- line
	_, _ = io.Copy(io.Discard, lines)
	c.err = c.cmd.Wait()
	if c.err == nil {
		c.err = errors.New("exit code 0")
	}
}

// Ended returns a channel that is closed when the process has ended; nil if c is nil.
func (c *Child) Ended() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.exited
}

// Err returns how the process ended. It may be called when Ended is closed.
func (c *Child) Err() error { return c.err }

// LastWords returns the last text that the process has written to its standard error, indented.
func (c *Child) LastWords() string { return c.stderr.String() }

// Stop ends the process, and waits for it: with SIGTERM, and later with SIGKILL.
func (c *Child) Stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // the process may have ended already
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-c.exited:
	case <-timer.C:
		c.Kill()
	}
}

// Signal sends a signal to the process. It does nothing if the process has ended.
func (c *Child) Signal(signal syscall.Signal) { _ = c.cmd.Process.Signal(signal) }

// Kill ends the process with SIGKILL, and waits for it.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // the process may have ended already
	<-c.exited
}

// tail keeps the last bytes that are written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - lastWords; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// String returns the kept bytes, indented.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return "  (it said nothing)"
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
