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

// Plan is the sandbox of one process. New makes it. It must not be used concurrently until its
// process executes, except for Sandbox.
type Plan struct {
	cfg       Config
	situation Situation
	view      *view
	layout    []item
	mounted   []string // the mounts in the layout; nil unless Current will be called
	shown     tool.Sandbox

	caps      uint64 // toolhost's own capabilities
	namespace bool   // whether namespaces can be made
	mounts    bool   // whether the process gets its own file system
	abi       int    // the version of Landlock; 0: none
	seccomp   bool

	program entry.Program
	steps   []step // the steps of the program, by call
	loaded  *entry.Loaded
}

// step describes what a system call is for.
type step struct {
	layer, what string
	optional    bool // a kernel, or a filter of its calls, may refuse it; all others must succeed
	changing    bool // it fails if a file or folder vanished or became a link since the plan was made
}

// New makes a plan. It looks at the machine and at files, and changes nothing. The error is a
// *RefusedError if this machine does not give a required layer. Close the plan.
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

// draw is New without the parts that have to be closed.
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

// demand refuses a plan that lacks a required layer, and sets the mode that ModeAuto results in.
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
		case p.cfg.Mode == ModeAuto && p.cfg.Machine.has(layer.Name) && !(all && layer.Name == Files): // the layer would confine nothing
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

// Current reports whether New would make the same plan now: the same layers around the same files,
// none of which was replaced by another of its name, with the same mounts in them. Situation.Waits
// must be set. Current may be called concurrently with all other methods, and after Close.
func (p *Plan) Current() bool {
	now, err := draw(p.cfg, p.situation)
	return err == nil && now.program.Equal(&p.program) && now.view.sameFiles(p.view, p.layout) && slices.Equal(now.mounted, p.mounted)
}

// Names returns the names whose change removes protection, in no order. The process must be killed
// when one of them begins to denote another file, because no layer alone protects them.
func (p *Plan) Names() []string { return slices.Collect(maps.Keys(p.view.names)) }

// SameNames reports whether each of Names denotes the same file as when the plan was made.
func (p *Plan) SameNames() bool { return p.view.sameNames() }

// Close releases the plan. It does not affect started processes.
func (p *Plan) Close() {
	if p.loaded != nil {
		p.loaded.Close()
	}
}

// Sandbox returns what the process may access, and its layers.
func (p *Plan) Sandbox() tool.Sandbox {
	s := p.shown
	s.Read, s.Write, s.Layers = slices.Clone(s.Read), slices.Clone(s.Write), slices.Clone(s.Layers)
	return s
}

// CanWait says that a process can be prestarted: it enters its sandbox and waits there.
const CanWait = true

// Entered is a process that enters its sandbox and waits there. The owner must call Execute or
// Abandon, once.
type Entered struct {
	*entry.Entered
	plan *Plan
}

// Enter starts the process, which enters its sandbox at once. The attributes are those of
// os.StartProcess, with three files and no folder: the working folder is part of the Situation.
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

// Execute lets the process execute its program, and returns when it does. The error is a
// *LayerError if this machine does not give a layer after all, and the error of exec if the program
// cannot be executed. With an error, nothing of the process is left.
func (e *Entered) Execute(ctx context.Context) (*os.Process, error) {
	process, err := e.Entered.Execute(ctx)
	if failed, ok := errors.AsType[*entry.CallError](err); ok {
		err = e.plan.explain(failed)
	}
	return process, err
}

// explain returns what the failure of a call means.
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

// refusal reports whether a kernel, or a filter of its calls, returns this error for a call that it
// does not support, as opposed to a fault of a file.
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

// write adds all calls in the only order in which each of them is still possible.
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
