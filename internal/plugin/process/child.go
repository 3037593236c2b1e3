package process

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/process/pidns"
	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

// child is an operating system process that leads a group of its own.
type child struct {
	id        proc.ID
	started   time.Time
	namespace *pidns.Namespace // nil: none
	holder    *limits.Holder
	known     chan struct{} // closed when id is set: before, the process is not reaped
	exited    chan struct{} // closed when it is reaped, and its group and its namespace are killed

	surveyed  string   // the mark of what it started, if that is to be looked for at its end
	survivors []string // what was found then; set before exited is closed

	mu     sync.Mutex
	reaped bool             // the pid may be another's
	state  *os.ProcessState // set before exited is closed
}

// spec is what a child is to be.
type spec struct {
	path      string
	argv      []string
	attr      os.ProcAttr
	holder    *limits.Holder
	namespace bool          // whether it gets a PID namespace
	beside    uintptr       // which namespaces come with that one; see package pidns
	grouped   bool          // whether it is only started in a control group of version 2
	mark      string        // the entry of the environment by which it is found
	plan      planner       // makes layers, meanwhile; nil: there are none
	layers    *sandbox.Plan // set once the plan is made
	boost     *boost        // what lets it start sooner
	gate      *gate         // where it waits behind its layers; nil: its own program runs at once
	survey    string        // the mark of what to look for at the process's end; empty: nothing is looked for
}

// planner makes the plan of a process's layers.
type planner func() (*sandbox.Plan, error)

// besideError says that a PID namespace is not to be had together with others.
type besideError struct{ err error }

func (e *besideError) Error() string { return e.err.Error() }
func (e *besideError) Unwrap() error { return e.err }

// namespaceError says why there is no PID namespace.
type namespaceError struct{ err error }

func (e *namespaceError) Error() string { return e.err.Error() }
func (e *namespaceError) Unwrap() error { return e.err }

// errNotGrouped says that no control group of version 2 took the process in, which was not started then.
var errNotGrouped = errors.New("no control group of version 2 takes it in")

// startChild starts a process as s says, with nothing else inherited. Its goroutines end when the process has ended.
func startChild(ctx context.Context, s spec) (*child, error) {
	c := &child{holder: s.holder, surveyed: s.survey, known: make(chan struct{}), exited: make(chan struct{})}
	started, ended, plan := make(chan startedAs), make(chan struct{}), make(chan planned, 1)
	pidns.Go(func() (reusable bool) { return c.own(ctx, s, plan, started, ended) })
	if s.plan != nil {
		layers, err := s.plan() // while its namespaces are made
		plan <- planned{layers, err}
	}
	as := <-started
	if as.err != nil {
		return nil, as.err
	}
	// Not by the thread that started it, which may see another /proc.
	c.id = proc.Identify(as.pid)
	close(c.known)
	go func() { // ends when the process has
		<-ended
		_ = proc.KillGroup(c.id) // where it could not be done before
		close(c.exited)
	}()
	return c, nil
}

// planned is what a planner made.
type planned struct {
	layers *sandbox.Plan
	err    error
}

type startedAs struct {
	pid int
	err error
}

// own starts the process and reaps it on one thread that it keeps for so long: the kernel sends a child's death signal
// when the thread that started it ends, not when the process does.
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

// start starts the process in its namespace and in its groups. If it fails, nothing is left of it.
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

// enter makes the process's namespaces and goes there. If it fails, nothing is left of them.
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

// launch starts the process in its groups, behind its layers if there are to be any. stuck means that the thread is still in a
// group of the process's.
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
	s.boost.beginElsewhere(entered.PID())
	_ = s.holder.Started(entered.PID()) // before its own program runs; what is wrong is told when it is asked again
	if s.gate == nil {
		process, err = entered.Execute(ctx)
		return process, stuck, err
	}
	if err := s.gate.wait(ctx); err != nil {
		entered.Abandon()
		return nil, stuck, err
	}
	if process, err = entered.Execute(ctx); err == nil {
		s.gate.check(s.layers)
	}
	return process, stuck, err
}

// reap waits for the process to end and takes its exit status.
func (c *child) reap(process *os.Process) {
	if awaitEnd(process.Pid) {
		if c.surveyed != "" {
			c.survivors = c.lookForSurvivors(c.surveyed)
		}
		// Before the process is reaped: as long as it is a zombie, nobody else can have its number.
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

// startBusy tries again for a moment if the file is still open for writing. Even after its writer closed it, a process
// that is being started elsewhere in this program may hold it open until it has loaded its own.
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
