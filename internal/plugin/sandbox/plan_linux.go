//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/plugin/sandbox/entry"
	"github.com/toolhost/toolhost/tool"
)

// Plan is the sandbox of one process. It is made by New, and is for one goroutine at a time until its process executes; Sandbox
// may be called from any.
type Plan struct {
	cfg       Config
	situation Situation
	view      *view
	layout    []item
	mounted   []string // see there; nil: nobody will ask
	shown     tool.Sandbox

	caps      uint64 // toolhost's own capabilities
	namespace bool   // whether namespaces can be made
	mounts    bool   // whether it gets a file system of its own
	abi       int    // of Landlock; 0: none
	seccomp   bool

	program entry.Program
	steps   []step // of the program, call by call
	loaded  *entry.Loaded
}

// step says what a system call is good for.
type step struct {
	layer, what string
	optional    bool // a kernel, or what filters its calls, may refuse it; all else must succeed
	changing    bool // it fails if a file or folder has gone or become a link since the plan was made
}

// New makes a plan. It looks at the machine and at files, and changes nothing. The error is a *RefusedError if a layer is
// required that this machine does not give. Close it.
func New(cfg Config, s Situation) (*Plan, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p, err := draw(cfg, s)
	if err != nil {
		return nil, err
	}
	p.loaded, err = p.program.Load(s.Program)
	return p, err
}

// draw is New without what would have to be closed.
func draw(cfg Config, s Situation) (*Plan, error) {
	p := &Plan{cfg: cfg, situation: s}
	if err := p.look(); err != nil {
		return nil, err
	}
	p.choose()
	if s.Waits {
		var err error
		if p.mounted, err = mounted(p.layout); err != nil {
			return nil, err
		}
	}
	if err := p.demand(); err != nil {
		return nil, err
	}
	p.write()
	return p, nil
}

// demand refuses a plan without a layer that must be there, and says of ModeAuto what came of it.
func (p *Plan) demand() error {
	complete := true
	for _, layer := range p.shown.Layers {
		if layer.Effective {
			continue
		}
		complete = false
		_, all := p.view.items["/"]
		switch {
		case p.cfg.Mode == ModeRequired:
			return &RefusedError{Layer: layer}
		case p.cfg.Mode == ModeAuto && p.cfg.Machine.has(layer.Name) && !(all && layer.Name == Files): // there is nothing to keep it from
			return &RefusedError{Layer: layer, Had: true}
		}
	}
	if p.cfg.Mode == ModeAuto {
		p.shown.Mode = string(ModeOn)
		if complete {
			p.shown.Mode = string(ModeRequired)
		}
	}
	return nil
}

// Current reports whether New would make the same plan now: the same layers around the same files, none of which has been
// replaced by another of its name, with the same mounts in them. The Situation must say that the process waits. It may be called
// beside all else, and after Close.
func (p *Plan) Current() bool {
	now, err := draw(p.cfg, p.situation)
	return err == nil && now.program.Equal(&p.program) && now.view.sameFiles(p.view, p.layout) && slices.Equal(now.mounted, p.mounted)
}

// Names returns the names whose change takes protection away, in no order: the process must be ended when one of them begins
// to denote another file. None is protected by a layer alone.
func (p *Plan) Names() []string { return slices.Collect(maps.Keys(p.view.names)) }

// SameNames reports whether each of Names denotes the same file as when the plan was made.
func (p *Plan) SameNames() bool { return p.view.sameNames() }

// Close releases the plan. What was started is not touched.
func (p *Plan) Close() {
	if p.loaded != nil {
		p.loaded.Close()
	}
}

// Sandbox returns what the process may touch, and which layers it is behind.
func (p *Plan) Sandbox() tool.Sandbox {
	s := p.shown
	s.Read, s.Write, s.Layers = slices.Clone(s.Read), slices.Clone(s.Write), slices.Clone(s.Layers)
	return s
}

// CanWait says that a process that has entered waits until it is told to execute.
const CanWait = true

// Entered is a process that goes behind its layers, and waits there. Either Execute or Abandon must be called, once.
type Entered struct {
	*entry.Entered
	plan *Plan
}

// Enter starts the process, which goes behind its layers at once. The attributes are those of os.StartProcess with three files
// and no folder: where it starts is part of the Situation.
func (p *Plan) Enter(argv []string, attr *os.ProcAttr) (*Entered, error) {
	entered, err := p.loaded.Enter(argv, attr)
	if errors.Is(err, unix.EACCES) {
		return nil, fmt.Errorf("preparing its sandbox needs to execute a file that is in memory, which this machine may forbid: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &Entered{entered, p}, nil
}

// Execute lets the process's own program run, and returns once it does. The error is a *LayerError if this machine does not
// give a layer after all, and what exec says if the program cannot be run; nothing is left of the process then.
func (e *Entered) Execute(ctx context.Context) (*os.Process, error) {
	process, err := e.Entered.Execute(ctx)
	if failed, ok := errors.AsType[*entry.CallError](err); ok {
		err = e.plan.explain(failed)
	}
	return process, err
}

// explain says what a call that failed means.
func (p *Plan) explain(failed *entry.CallError) error {
	if failed.Index >= len(p.steps) {
		return &os.PathError{Op: "fork/exec", Path: p.situation.Program, Err: failed.Err}
	}
	at := p.steps[failed.Index]
	err := fmt.Errorf("%s: %w", at.what, failed.Err)
	if at.optional && refusal(failed.Err) {
		return &LayerError{Layer: at.layer, Err: err}
	}
	if at.changing && (errors.Is(failed.Err, unix.ENOENT) || errors.Is(failed.Err, unix.ELOOP) || errors.Is(failed.Err, unix.ENOTDIR)) {
		return &ChangedError{Err: err}
	}
	return fmt.Errorf("preparing its sandbox: %w", err)
}

// refusal reports whether an error is how a kernel, or what filters its calls, says that it does not do something, as
// opposed to what is wrong with a file.
func refusal(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{
		unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSPC, unix.EUSERS, unix.ENODEV,
	}, func(known syscall.Errno) bool { return errors.Is(err, known) })
}

// call adds a system call to the program.
func (p *Plan) call(s step, number uintptr, arguments ...uint64) {
	p.program.Call(number, arguments...)
	p.steps = append(p.steps, s)
}

// write puts the calls together, in the only order in which each of them is still possible.
func (p *Plan) write() {
	first := step{what: "closing what is not its own"}
	p.call(first, unix.SYS_CLOSE_RANGE, entry.StatusFD+1, 1<<32-1, 0)
	p.call(first, unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	p.writeNamespaces()
	if p.mounts {
		p.writeMounts()
	}
	if dir := p.situation.Dir; dir != "" {
		p.call(step{what: "going to " + dir}, unix.SYS_CHDIR, p.program.Text(dir))
	}
	p.call(step{layer: Privileges, what: "giving up new privileges"}, unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	if p.abi > 0 {
		p.writeLandlock()
	}
	p.writePrivileges()
	if p.seccomp {
		p.writeFilter()
	}
}
