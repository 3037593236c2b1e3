package process

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

// ErrNotSandboxed says that a process cannot wait, since it is to have no layers, or that this system has none.
var ErrNotSandboxed = errors.New("there are no layers behind which it could wait")

// errStuck is why a process that waits is ended which does not begin when it is told to, because somebody stopped it, say.
var errStuck = errors.New("it did not begin to run its plugin")

// errNotWanted is why a process that waits is ended.
var errNotWanted = errors.New("it is not wanted any more")

// Waiting is a process that waits behind its layers, and has not yet begun to run its plugin: some pages of memory, with
// namespaces, mounts, control groups and a folder of its own. Whoever launches the plugin next need not wait for these. Its
// methods may be called from any goroutine; it must be ended by Launch or by Close.
type Waiting struct {
	p      *Process
	asked  Config // as Wait was asked
	launch context.Context
	cancel context.CancelCauseFunc
	run    chan struct{} // closed when the launch has succeeded or failed
}

// Wait starts a process as Launch does, and has it wait. It returns before the layers are up: what is wrong with them, or with
// the process while it waits, is seen when it is launched. An error means that nothing was started, as that the process is to
// have no layers behind which it could wait (ErrNotSandboxed).
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

// Fits reports whether the process is what Launch would start with this Config: all that says what it runs, with what it runs
// it, and what it may do, is the same. What is to be told of it and how long that may take are nobody's but the launch's. It does
// not block.
func (w *Waiting) Fits(cfg Config) bool {
	return cfg.Reaper == w.asked.Reaper && cfg.Cgroups == w.asked.Cgroups && reflect.DeepEqual(cfg.lasting(), w.asked.lasting())
}

// lasting returns what of a Config a process keeps for as long as it lives, as far as that can be compared.
func (c Config) lasting() Config {
	c.Instance, c.StartTimeout, c.Report, c.Redact = "", 0, nil, nil
	c.Logger, c.Reaper, c.Cgroups, c.Names = nil, nil, nil, nil
	return c
}

// Launch lets the process run its plugin, and is Launch for the rest. The Config must be one that Fits. Where the process did
// not wait as it should have, or would get other layers by now, it is ended, and another one is launched.
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
	p.cfg.Instance, p.cfg.StartTimeout, p.cfg.Report = cfg.Instance, cfg.StartTimeout, cfg.Report
	stop := context.AfterFunc(ctx, func() { w.cancel(context.Cause(ctx)) })
	defer stop()
	late := time.AfterFunc(cfg.StartTimeout, func() { w.cancel(errStartTimeout) })
	defer late.Stop()
	const share = 10 // the part of its time that it may need for what takes a millisecond
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

// endStuck ends the launch if nothing of the plugin runs yet.
func (w *Waiting) endStuck() {
	select {
	case <-w.p.spawned:
	default:
		w.cancel(errStuck)
	}
}

// Close ends the process and returns when all is gone.
func (w *Waiting) Close() {
	w.cancel(errNotWanted)
	<-w.p.done
}
