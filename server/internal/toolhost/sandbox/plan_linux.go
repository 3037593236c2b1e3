//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox/entry"
	"github.com/toolhost/toolhost/tool"
)

// Plan is the sandbox of one process. New makes it. It must not be used concurrently until its
// process executes, except for Sandbox.
type Plan struct {
	cfg        Config
	situation  Situation
	view       *view
	layout     layout // of the view
	mechanisms *mechanisms
	shown      tool.Sandbox
	calls      callList // by which the process enters the sandbox
	loaded     *entry.Loaded
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
	p.loaded, err = p.calls.program.Load(s.Program)
	return p, err
}

// draw is New without the parts that have to be closed.
func draw(cfg Config, s Situation) (*Plan, error) {
	v, installed, err := look(cfg, s)
	if err != nil {
		return nil, err
	}
	p := &Plan{cfg: cfg, situation: s, view: v, layout: v.layout(), mechanisms: choose(cfg, s, v)}
	p.shown = tool.Sandbox{
		Mode: string(cfg.Mode), Network: cfg.Network, Workspace: cfg.access(), WorkspaceBackend: cfg.backend(),
		Read: append(append([]string(nil), cfg.Read...), installed...), Write: append([]string(nil), cfg.Write...),
		Layers: p.mechanisms.layers(p.layout),
	}
	if err := p.demand(); err != nil {
		return nil, err
	}
	p.write()
	return p, nil
}

// demand refuses a plan that lacks a required layer, and sets the mode that ModeAuto results in.
func (p *Plan) demand() error {
	if err := p.cfg.lacks(p.shown.Layers); err != nil {
		return err
	}
	complete := true
	for _, layer := range p.shown.Layers {
		if layer.Effective {
			continue
		}
		complete = false
		switch {
		case p.cfg.Mode == ModeRequired:
			return &RefusedError{Layer: layer}
		case p.cfg.Mode == ModeAuto && p.cfg.Machine.has(layer.Name) && !(p.mechanisms.all && layer.Name == Files): // the layer would confine nothing
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

// Names returns the names that a change of their files leaves unprotected, in no order. The process
// must be killed when one of them begins to denote another file, because no layer alone protects
// them.
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
// *LayerError if this machine does not give a layer after all, an *EndedError if a signal ended it,
// and the error of exec if the program cannot be executed. With an error, nothing of the process is
// left.
func (e *Entered) Execute(ctx context.Context) (*os.Process, error) {
	process, err := e.Entered.Execute(ctx)
	if failed, ok := errors.AsType[*entry.CallError](err); ok {
		err = e.plan.calls.explain(failed, e.plan.situation.Program)
	} else if ended, ok := errors.AsType[*entry.EndedError](err); ok {
		err = &EndedError{ended.Signal}
	}
	return process, err
}

// write adds all calls in the only order in which each of them is still possible.
func (p *Plan) write() {
	c, m := &p.calls, p.mechanisms
	first := step{what: "closing what is not its own"}
	c.call(first, unix.SYS_CLOSE_RANGE, entry.StatusFD+1, 1<<32-1, 0)
	c.call(first, unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	writeNamespaces(c, m)
	if m.mounts {
		newRootMounts(c, p.view, p.layout, m).write()
	}
	if dir := p.situation.Dir; dir != "" {
		c.call(step{what: "going to " + dir}, unix.SYS_CHDIR, c.program.Text(dir))
	}
	c.call(step{layer: Privileges, what: "giving up new privileges"}, unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	if m.abi > 0 {
		rules := landlockRules{c, m, p.layout}
		rules.write()
	}
	writePrivileges(c, m)
	if m.seccomp {
		writeFilter(c, m)
	}
}
