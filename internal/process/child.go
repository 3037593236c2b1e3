package process

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/guardian/proc"
)

// child is an operating system process that leads a group of its own.
type child struct {
	id      proc.ID
	started time.Time
	exited  chan struct{} // closed when it is reaped and its group killed

	mu     sync.Mutex
	reaped bool             // the pid may be another's
	state  *os.ProcessState // set before exited is closed
}

// startChild starts a process as attr says, with nothing else inherited. Its goroutine ends when the process has ended.
func startChild(ctx context.Context, path string, argv []string, attr *os.ProcAttr) (*child, error) {
	c := &child{exited: make(chan struct{})}
	started := make(chan error)
	go c.own(ctx, path, argv, attr, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// own starts the process and reaps it on one thread that it keeps for so long: the kernel sends a child's death signal
// when the thread that started it ends, not when the process does.
func (c *child) own(ctx context.Context, path string, argv []string, attr *os.ProcAttr, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr.Sys = ownGroup()
	proc.SealDescriptors()
	process, err := startBusy(ctx, path, argv, attr)
	if err != nil {
		started <- err
		return
	}
	c.started = time.Now()
	c.id = proc.Identify(process.Pid)
	started <- nil

	if awaitEnd(process.Pid) {
		// Before the process is reaped: as long as it is a zombie, nobody else can have its number.
		c.signalGroup(syscall.SIGKILL)
	}
	state, err := process.Wait()
	if err != nil {
		state = nil
	}
	c.mu.Lock()
	c.reaped, c.state = true, state
	c.mu.Unlock()
	_ = proc.KillGroup(c.id) // where it could not be done before
	close(c.exited)
}

// startBusy tries again for a moment if the file is still open for writing. Even after its writer closed it, a process
// that is being started elsewhere in this program may hold it open until it has loaded its own.
func startBusy(ctx context.Context, path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	const tries, pause = 200, 5 * time.Millisecond
	for try := 1; ; try++ {
		process, err := os.StartProcess(path, argv, attr)
		if !errors.Is(err, syscall.ETXTBSY) || try == tries {
			return process, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

// signalGroup sends a signal to the whole group, unless the leader is reaped. It does not block.
func (c *child) signalGroup(signal syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = proc.SignalGroup(c.id.PID, signal) // what cannot be reached is found by its mark later
	}
}

// hasExited reports whether exited is closed.
func (c *child) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}
