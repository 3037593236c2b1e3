// Package peer starts the contenders of the benchmark, each in separate processes, and calls them.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
)

// Contender is one way to call a tool.
type Contender struct {
	Key   string // short, for machines
	Title string // for people
	// Do makes one call and returns the length of its answer in bytes. It is safe for concurrent
	// use.
	Do func(ctx context.Context, arguments []byte) (int, error)
	// Processes are the processes that take part in the calls, except this one.
	Processes load.Processes
}

// Field starts contenders and owns their processes and connections.
type Field struct {
	bin, dir string
	mu       sync.Mutex
	closers  []func() error
}

// patience bounds the start and the stop of a contender.
const patience = 20 * time.Second

// NewField returns a field for the programs in the folder bin. The caller must call Close.
func NewField(bin string) (*Field, error) {
	dir, err := os.MkdirTemp("/tmp", "toolhost-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	return &Field{bin: bin, dir: dir}, nil
}

// Close stops everything that was started, in reverse order, and waits for its end.
func (f *Field) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []error
	for i := len(f.closers) - 1; i >= 0; i-- {
		all = append(all, f.closers[i]())
	}
	f.closers = nil
	return errors.Join(append(all, os.RemoveAll(f.dir))...)
}

func (f *Field) owns(closers ...func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closers = append(f.closers, closers...)
}

func (f *Field) program(name string) string { return filepath.Join(f.bin, name) }

// Folder creates a folder that Close removes.
func (f *Field) Folder(pattern string) (string, error) { return os.MkdirTemp(f.dir, pattern) }

// start starts a program that listens on a unix socket and waits until it listens. Close stops the
// program unless it was stopped before. Trust records are in the folder home, not the user's: an
// older toolhost cannot read those of a newer one.
func (f *Field) start(ctx context.Context, home, socket, name string, args ...string) (pid int, stop func() error, err error) {
	cmd := exec.Command(f.program(name), args...)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 0, nil, fmt.Errorf("starting %s: %w", name, err)
	}
	ended := make(chan struct{})
	go func() { // ends with the process
		cmd.Wait()
		close(ended)
	}()
	stop = sync.OnceValue(func() error { return end(cmd.Process, ended) })
	f.owns(stop)
	return cmd.Process.Pid, stop, await(ctx, "unix", socket, ended)
}

func end(p *os.Process, ended <-chan struct{}) error {
	p.Signal(syscall.SIGTERM)
	select {
	case <-ended:
		return nil
	case <-time.After(patience):
		p.Kill()
		<-ended
		return fmt.Errorf("process %d did not stop in %s", p.Pid, patience)
	}
}

// await returns when a server accepts connections at the address. ended is closed when the server
// has ended; nil: unknown.
func await(ctx context.Context, network, address string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var dialer net.Dialer
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := dialer.DialContext(ctx, network, address); err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-ended:
			return fmt.Errorf("the server of %s ended", address)
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", address, ctx.Err())
		}
	}
}
