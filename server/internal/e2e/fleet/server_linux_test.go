//go:build more

package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// again is the pause before something is tried again that a fault made fail.
const again = 50 * time.Millisecond

// server is an agentd or a toolhost. One goroutine at a time starts and ends it.
type server struct {
	name, home string
	address    string // of its listener with TLS
	wire       *wire  // to the database
	args, env  []string
	program    string
	older      bool // it is of before the last step of the migrations

	struck sync.Mutex // has the server while a fault of it is made

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited <-chan struct{} // closed when the process has ended
}

// path returns the path of a file in the folder of the server.
func (s *server) path(names ...string) string {
	return filepath.Join(append([]string{s.home}, names...)...)
}

// command returns a command of the server's program with its environment.
func (s *server) command(args ...string) *exec.Cmd {
	program := filepath.Join(bin, s.program)
	if s.older {
		program = filepath.Join(bin, "older", s.program)
	}
	cmd := exec.Command(program, args...)
	// Tools may write in the folder of a command, so its settings must not be below it.
	cmd.Dir = s.path("work")
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=/usr/bin:/bin", "TMPDIR=" + s.path("work"), "XDG_RUNTIME_DIR=" + s.home}, s.env...)
	return cmd
}

// log opens the log to append to it.
func (s *server) log() (*os.File, error) {
	return os.OpenFile(s.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// start starts the server, and returns when it is ready. It starts it again while that fails,
// because the database may be away.
func (s *server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, eventually.Patience)
	defer cancel()
	for {
		said, err := s.try()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return fmt.Errorf("starting %s: it says %q, %w", s.name, said, err)
		}
	}
}

func (s *server) try() (string, error) {
	log, err := s.log()
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd := s.command(s.args...)
	cmd.Stderr = log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		return "", err
	}
	if !strings.Contains(line, s.address) {
		_ = cmd.Process.Kill() // fails if the process has ended
		<-exited
		return line, errors.New("it does not name its address")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd, s.exited = cmd, exited
	return line, nil
}

func (s *server) process() (*os.Process, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process, s.exited
}

func (s *server) signal(signal syscall.Signal) {
	process, _ := s.process()
	_ = process.Signal(signal) // fails if the process has ended
}

func (s *server) kill() {
	_, exited := s.process()
	s.signal(syscall.SIGKILL)
	<-exited
}

// stop ends the server in good order, and returns its exit code.
func (s *server) stop() int {
	_, exited := s.process()
	s.signal(syscall.SIGTERM)
	<-exited
	return s.cmd.ProcessState.ExitCode()
}

// ended returns an error if the server has ended by itself.
func (s *server) ended() error {
	_, exited := s.process()
	select {
	case <-exited:
		return fmt.Errorf("%s has ended by itself, with %v", s.name, s.cmd.ProcessState)
	default:
		return nil
	}
}

// run runs a command of the program with the server's configuration, and repeats it while it fails,
// because the database may be away.
func (s *server) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, eventually.Patience)
	defer cancel()
	for {
		cmd := s.command(args...)
		var failure strings.Builder
		cmd.Stderr = &failure
		out, err := cmd.Output()
		if err == nil {
			return strings.TrimSpace(string(out)), nil
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return "", fmt.Errorf("%s %v: %w: %s", s.program, args, err, failure.String())
		}
	}
}
