package process

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process/pidns"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// child is an operating system process that leads its own process group.
type child struct {
	id        proc.ID
	started   time.Time
	namespace *pidns.Namespace // nil: none
	holder    *limits.Holder
	known     chan struct{} // closed when id is set; the process is not reaped before
	exited    chan struct{} // closed when the process is reaped, and its group and namespace are killed

	surveyed  string   // the mark by which its descendants are looked for at its end; empty: they are not
	survivors []string // the descendants that were found; set before exited is closed

	mu     sync.Mutex
	reaped bool             // the pid may belong to another process
	state  *os.ProcessState // set before exited is closed
}

// spec describes a child to start.
type spec struct {
	path      string
	argv      []string
	attr      os.ProcAttr
	holder    *limits.Holder
	namespace bool          // whether the child gets a PID namespace
	beside    uintptr       // the other namespaces that are made with that one, as flags of clone
	grouped   bool          // whether the child is started only if a control group of version 2 takes it in
	mark      string        // the environment entry that identifies the child
	plan      planner       // plans the sandbox, concurrently with the namespace; nil: there is no sandbox
	layers    *sandbox.Plan // the sandbox; set by start
	survey    string        // the mark of the processes to look for at the child's end; empty: none
}

// planner plans the sandbox of a process.
type planner func() (*sandbox.Plan, error)

// besideError says that a PID namespace could not be made together with other namespaces.
type besideError struct{ err error }

func (e *besideError) Error() string { return e.err.Error() }
func (e *besideError) Unwrap() error { return e.err }

// namespaceError says why there is no PID namespace.
type namespaceError struct{ err error }

func (e *namespaceError) Error() string { return e.err.Error() }
func (e *namespaceError) Unwrap() error { return e.err }

// errNotGrouped says that no control group of version 2 took the process in, and that the process
// was not started.
var errNotGrouped = errors.New("no control group of version 2 takes it in")

// startChild starts a process as s describes. The process inherits nothing else. The goroutines
// that startChild starts end with the process.
func startChild(ctx context.Context, s spec) (*child, error) {
	c := &child{holder: s.holder, surveyed: s.survey, known: make(chan struct{}), exited: make(chan struct{})}
	started, ended, plan := make(chan startedAs), make(chan struct{}), make(chan planned, 1)
	pidns.Go(func() (reusable bool) { return c.own(ctx, s, plan, started, ended) })
	if s.plan != nil {
		layers, err := s.plan() // while own makes the namespaces
		plan <- planned{layers, err}
	}
	as := <-started
	if as.err != nil {
		return nil, as.err
	}
	// The thread that started the process may see another /proc, so this thread reads the id.
	c.id = proc.Identify(as.pid)
	close(c.known)
	go func() { // ends with the process
		<-ended
		_ = proc.KillGroup(c.id) // if signalGroup could not reach it before
		close(c.exited)
	}()
	return c, nil
}

// planned is a planner's result.
type planned struct {
	layers *sandbox.Plan
	err    error
}

type startedAs struct {
	pid int
	err error
}

// own starts the process and reaps it on one thread, and keeps the thread for the process's life.
// The kernel sends the parent-death signal when the thread that started the child ends, even if
// toolhost still runs.
func (c *child) own(ctx context.Context, s spec, plan <-chan planned, started chan<- startedAs, ended chan<- struct{}) (reusable bool) {
	process, reusable, err := c.start(ctx, s, plan)
	if err != nil {
		started <- startedAs{err: err}
		return reusable
	}
	c.started = time.Now()
	started <- startedAs{pid: process.Pid}
	<-c.known
	c.reap(process)
	if c.namespace != nil {
		c.namespace.Close()
	}
	close(ended)
	return reusable
}

// start starts the process in its namespace and control groups. If it fails, nothing of the process
// is left.
func (c *child) start(ctx context.Context, s spec, plan <-chan planned) (process *os.Process, reusable bool, err error) {
	proc.SealDescriptors()
	if s.namespace {
		if reusable, err := c.enter(s); err != nil {
			return nil, reusable, err
		}
	}
	if s.plan != nil {
		made := <-plan
		if made.err != nil {
			if c.namespace != nil {
				c.namespace.Close()
			}
			return nil, c.namespace == nil, made.err
		}
		s.layers = made.layers
	}
	stuck := false
	process, err = startBusy(ctx, func() (*os.Process, error) {
		process, away, err := s.launch(ctx, c.namespace != nil)
		stuck = stuck || away
		return process, err
	})
	if err != nil && c.namespace != nil {
		c.namespace.Close()
	}
	return process, !stuck && c.namespace == nil, err
}

// enter makes the process's namespaces and enters them. If it fails, nothing of them is left.
func (c *child) enter(s spec) (reusable bool, err error) {
	because := func(err error) error {
		if s.beside != 0 {
			return &besideError{err}
		}
		return &namespaceError{err}
	}
	if c.namespace, err = pidns.New([]string{s.mark}, s.beside); err != nil {
		return true, because(err)
	}
	if err := c.namespace.Enter(s.path); err != nil {
		c.namespace.Close()
		return false, because(err)
	}
	return false, nil
}

// launch starts the process in its control groups, sandboxed if s says so. stuck means that the
// thread is still in a control group of the process.
func (s *spec) launch(ctx context.Context, namespaced bool) (process *os.Process, stuck bool, err error) {
	var entered *sandbox.Entered
	stuck, err = s.holder.Start(func(cgroup int) (err error) {
		if cgroup < 0 && s.grouped {
			return errNotGrouped
		}
		s.attr.Sys = ownGroup(cgroup, namespaced)
		if s.layers == nil {
			process, err = os.StartProcess(s.path, s.argv, &s.attr)
		} else {
			entered, err = s.layers.Enter(s.argv, &s.attr)
		}
		return err
	})
	if err != nil || entered == nil {
		return process, stuck, err
	}
	_ = s.holder.Started(entered.PID()) // before the plugin's program runs; Limits reports an error later
	process, err = entered.Execute(ctx)
	return process, stuck, err
}

// reap waits for the process to end and takes its exit status.
func (c *child) reap(process *os.Process) {
	if awaitEnd(process.Pid) {
		if c.surveyed != "" {
			c.survivors = c.lookForSurvivors(c.surveyed)
		}
		// Before the process is reaped: while it is a zombie, no other process can get its id.
		c.signalGroup(syscall.SIGKILL)
	}
	c.holder.Kill()
	state, err := process.Wait()
	if err != nil {
		state = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaped, c.state = true, state
}

// startBusy repeats a start that fails because the file is open for writing. After the writer has
// closed the file, a process that this program forked at that moment holds it open until it has
// executed its own program.
func startBusy(ctx context.Context, start func() (*os.Process, error)) (*os.Process, error) {
	const tries, pause = 200, 5 * time.Millisecond
	for try := 1; ; try++ {
		process, err := start()
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

// signalGroup sends a signal to the process group, unless its leader is reaped. It does not block.
func (c *child) signalGroup(signal syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = proc.SignalGroup(c.id.PID, signal) // processes that it does not reach are found by their mark later
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

// exitsWithin waits for the process to exit, at most for d, and reports whether it did.
func (c *child) exitsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}
