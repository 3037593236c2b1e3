package reaper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

const (
	// writeTimeout bounds one message. A reaper process that reads nothing for that long is stopped
	// or broken.
	writeTimeout = 2 * time.Second
	// exitTimeout bounds the wait for a reaper process that cleans up: its own patience and a
	// margin.
	exitTimeout = patience + 5*time.Second
)

// reaperProcess is toolhost's end of one reaper process.
type reaperProcess struct {
	cmd     *exec.Cmd
	control *os.File      // the reaper process's standard input; its end starts the cleanup
	hello   chan string   // its first line; closed when its output ends
	exited  chan struct{} // closed when it is reaped and its output is read
}

// startReaperProcess starts a reaper process and returns it after the reaper process has reported
// that it is ready.
func startReaperProcess(ctx context.Context, command []string, logger *slog.Logger) (*reaperProcess, error) {
	stdin, control, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	output, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), control.Close())
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = []string{} // without the mark of an outer toolhost, too: it has to outlive the processes that the outer reaper kills
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	proc.SealDescriptors()
	err = cmd.Start()
	_, _ = stdin.Close(), stdout.Close()
	if err != nil {
		_, _ = control.Close(), output.Close()
		return nil, err
	}
	h := &reaperProcess{cmd: cmd, control: control, hello: make(chan string, 1), exited: make(chan struct{})}
	go h.own(output, logger) // ends with the process
	if err := h.awaitHello(ctx); err != nil {
		h.kill()
		return nil, err
	}
	return h, nil
}

// own reads the reaper process's output to its end, and reaps the reaper process.
func (h *reaperProcess) own(output *os.File, logger *slog.Logger) {
	defer close(h.exited)
	lines := bufio.NewScanner(output)
	for first := true; lines.Scan(); first = false {
		if first {
			h.hello <- lines.Text()
			continue
		}
		logger.Warn("the reaper says: "+lines.Text(), "pid", h.cmd.Process.Pid)
	}
	close(h.hello)
	_, _ = io.Copy(io.Discard, output) // if a line is too long for the scanner
	_ = output.Close()
	_ = h.cmd.Wait()
}

func (h *reaperProcess) awaitHello(ctx context.Context) error {
	select {
	case line, ok := <-h.hello:
		if !ok {
			return fmt.Errorf("%s ended without a word", h.cmd.Path)
		}
		if line != ready {
			return fmt.Errorf("%s says %.200q, expected %q", h.cmd.Path, line, ready)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *reaperProcess) tell(s state) error {
	if err := h.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return json.NewEncoder(h.control).Encode(s)
}

// finish lets the reaper process clean up and end. It blocks until the reaper process has ended,
// and reports whether the cleanup succeeded.
func (h *reaperProcess) finish() bool {
	_ = h.control.Close()
	bound := time.NewTimer(exitTimeout)
	defer bound.Stop()
	select {
	case <-h.exited:
	case <-bound.C:
		h.kill()
	}
	return h.cmd.ProcessState.Success()
}

// kill ends the reaper process without a cleanup. It blocks until the reaper process is gone.
func (h *reaperProcess) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.control.Close()
	<-h.exited
}
