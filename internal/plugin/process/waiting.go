package process

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

// ErrNotSandboxed says that a process cannot be prestarted, because it gets no sandbox or because
// this system has none.
var ErrNotSandboxed = errors.New("there are no layers behind which it could wait")

// errStuck is the reason for ending a prestarted process that does not run its plugin when it
// should, for example because another process stopped it.
var errStuck = errors.New("it did not begin to run its plugin")

// errNotWanted is the reason for ending a prestarted process that is not needed.
var errNotWanted = errors.New("it is not wanted any more")

// Waiting is a prestarted process. It is sandboxed and has not yet begun to run its plugin. It
// consists of some pages of memory, with namespaces, mounts, control groups and its own folder, so
// that a launch need not wait for these. All methods are safe for concurrent use. The owner must
// call Launch or Close.
type Waiting struct {
	p      *Process
	asked  Config // the argument of Wait
	launch context.Context
	cancel context.CancelCauseFunc
	run    chan struct{} // closed when the launch has succeeded or failed
}

// Wait prestarts a process for later use by Launch. It returns before the sandbox is complete:
// Launch reports what is wrong with the sandbox or the process. An error of Wait means that nothing
// was started, for example because the process would get no sandbox (ErrNotSandboxed).
func Wait(cfg Config) (*Waiting, error) {
	asked := cfg
	cfg, err := cfg.checked()
	if err != nil {
		return nil, fmt.Errorf("preparing a process of plugin %q: %w", cfg.Plugin, err)
	}
	if !cfg.sandboxed() || !sandbox.CanWait {
		return nil, fmt.Errorf("preparing a process of plugin %q: %w", cfg.Plugin, ErrNotSandboxed)
	}
	p, err := prepare(cfg)
	if err != nil {
		return nil, fmt.Errorf("preparing a process of plugin %q: %w", cfg.Plugin, err)
	}
	p.gate = &gate{open: make(chan struct{}), current: make(chan bool, 1)}
	w := &Waiting{p: p, asked: asked, run: make(chan struct{})}
	w.launch, w.cancel = context.WithCancelCause(context.Background())
	p.begin(w.launch)
	go func() { // ends with the launch, or with Close
		defer close(w.run)
		p.run(w.launch)
	}()
	return w, nil
}

// Fits reports whether package function Launch would start the same process with this Config: the
// same program, run in the same way, with the same access. Fields that only concern the launch
// itself, such as Report and StartTimeout, do not matter. Fits does not block.
func (w *Waiting) Fits(cfg Config) bool {
	return cfg.StartsLike(w.asked)
}

// StartsLike reports whether two Configs start the same program with the same environment, limits
// and sandbox. A process of one can then stand for a process of the other.
func (c Config) StartsLike(other Config) bool {
	return c.Reaper == other.Reaper && c.Cgroups == other.Cgroups && (c.Pipes == nil) == (other.Pipes == nil) && reflect.DeepEqual(c.lasting(), other.lasting())
}

// lasting returns the fields of a Config that a process keeps for its life, as far as they can be
// compared.
func (c Config) lasting() Config {
	c.Instance, c.Tenant, c.StartTimeout, c.Report, c.Redact, c.Carried = "", "", 0, nil, nil, nil
	c.Logger, c.Reaper, c.Cgroups, c.Names, c.Pipes = nil, nil, nil, nil, nil
	return c
}

// Launch runs the plugin in the process, and otherwise does what the package function Launch does.
// The Config must be one that Fits. If the process has failed, or would get another sandbox by now,
// Launch ends it and launches another one.
func (w *Waiting) Launch(ctx context.Context, cfg Config) (*Process, error) {
	cfg, err := cfg.checked()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("launching plugin %q: %w", cfg.Plugin, err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		cfg.StartTimeout = min(cfg.StartTimeout, time.Until(deadline))
	}
	p := w.p
	if p.Withdrawn() != "" {
		w.Close()
		return Launch(ctx, cfg)
	}
	p.cfg.Instance, p.cfg.Tenant, p.cfg.StartTimeout, p.cfg.Report = cfg.Instance, cfg.Tenant, cfg.StartTimeout, cfg.Report
	p.cfg.Pipes = cfg.Pipes // both are set or neither is: StartsLike compares that
	stop := context.AfterFunc(ctx, func() { w.cancel(context.Cause(ctx)) })
	defer stop()
	late := time.AfterFunc(cfg.StartTimeout, func() { w.cancel(errStartTimeout) })
	defer late.Stop()
	const share = 10 // 1/share of the start timeout is enough for a step that takes a millisecond
	stuck := time.AfterFunc(cfg.StartTimeout/share, w.endStuck)
	defer stuck.Stop()
	close(p.gate.open)
	<-w.run
	began := p.child != nil
	current := began && <-p.gate.current
	if p.err == nil && current {
		return p, nil
	}
	if p.err == nil {
		p.kill("its layers are not those that it would get now")
	}
	<-p.done
	if ctx.Err() == nil && p.Withdrawn() != "" {
		return Launch(ctx, cfg)
	}
	if ctx.Err() != nil || began && current && context.Cause(w.launch) != errStuck {
		return nil, p.failure(ctx, w.launch)
	}
	return Launch(ctx, cfg)
}

// endStuck ends the launch if the plugin's program does not run yet.
func (w *Waiting) endStuck() {
	select {
	case <-w.p.spawned:
	default:
		w.cancel(errStuck)
	}
}

// Close ends the process and returns when everything of it is gone.
func (w *Waiting) Close() {
	w.cancel(errNotWanted)
	<-w.p.done
}

// gate is where a prestarted process waits, sandboxed.
type gate struct {
	open    chan struct{} // closed when the plugin's program is to run
	current chan bool     // of capacity 1: whether the sandbox is the one that the process would get now
}

// wait returns nil when the gate is open, and ctx's cause if ctx ends before.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// check finds out whether the sandbox is still the right one. The plugin starts meanwhile, which
// takes longer than the check. check is called once, and does not block.
func (g *gate) check(layers *sandbox.Plan) {
	go func() { g.current <- layers.Current() }() // ends soon: the channel has room
}
