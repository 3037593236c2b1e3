package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/catalog"
	"github.com/toolhost/toolhost/tool"
)

// supervisor looks after the instances of one plugin. Launches run on the host's context, so that a waiter that leaves
// does not abort them for the others; its lock is never held across one.
type supervisor struct {
	host *Host
	name string

	mu        sync.Mutex
	current   *instance              // takes new calls; nil if none does
	launching *launch                // under way; nil if none is
	instances map[*instance]struct{} // all that have not exited
	numbered  int                    // instances made so far
	launches  uint64                 // processes started so far
	lastExit  *tool.Exit
	closed    bool
}

// launch is an instance on its way. instance and err may be read after done is closed.
type launch struct {
	done     chan struct{}
	instance *instance
	err      error
}

func newSupervisor(h *Host, name string) *supervisor {
	return &supervisor{host: h, name: name, instances: map[*instance]struct{}{}}
}

// maxAcquireLaunches bounds how many launches one call waits for: an instance may crash between its launch and the
// call, but not for ever.
const maxAcquireLaunches = 3

// acquire returns the instance for a new call, counted in; launching one if none runs. The caller must release it.
func (s *supervisor) acquire(ctx context.Context, p *catalog.Plugin, r *run) (*instance, error) {
	for range maxAcquireLaunches {
		in, l := s.pick(p, r)
		if in != nil {
			return in, nil
		}
		select {
		case <-l.done:
			if l.err != nil {
				return nil, l.err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return nil, tool.Errorf(tool.KindUnavailable, "the plugin %q crashes as soon as it has started; `toolhost plugins` shows how its last instance ended", s.name)
}

// pick returns the current instance with the call counted in, or the launch to wait for.
func (s *supervisor) pick(p *catalog.Plugin, r *run) (*instance, *launch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.current; in != nil {
		if in.proc.Alive() {
			in.begin(r)
			return in, nil
		}
		s.current = nil // dead, and its watcher has not noticed yet
	}
	return nil, s.launchLocked(p)
}

// launchLocked joins the launch that is under way, or starts one.
func (s *supervisor) launchLocked(p *catalog.Plugin) *launch {
	if s.launching != nil {
		return s.launching
	}
	l := &launch{done: make(chan struct{})}
	s.numbered++
	in := newInstance(fmt.Sprintf("%s-%d", s.name, s.numbered), p)
	s.instances[in] = struct{}{}
	s.launching = l
	// Owned by the host: bounded by LaunchTimeout and the host's context.
	if s.closed || !s.host.spawn(func() { s.launch(l, in) }) {
		delete(s.instances, in)
		s.launching = nil
		l.err = tool.Errorf(tool.KindUnavailable, "%w", errStopping)
		close(l.done)
	}
	return l
}

func (s *supervisor) launch(l *launch, in *instance) {
	h := s.host
	ctx, cancel := context.WithTimeoutCause(h.ctx, h.cfg.LaunchTimeout,
		fmt.Errorf("it did not get ready within %v", h.cfg.LaunchTimeout))
	defer cancel()
	proc, err := h.cfg.Launch(ctx, in.plugin, in.id)
	s.mu.Lock()
	s.launching = nil
	switch {
	case err != nil:
		delete(s.instances, in)
		l.err = s.launchError(ctx, in, err)
	case s.closed:
		l.err = tool.Errorf(tool.KindUnavailable, "%w", errStopping)
	default:
		s.launches++
		in.ready(proc)
		s.current = in
		l.instance = in
	}
	s.mu.Unlock()
	close(l.done)
	switch {
	case err != nil:
		h.cfg.Logger.Error("launch failed", "plugin", s.name, "instance", in.id, "error", l.err)
	case l.err != nil:
		_ = proc.Stop(context.Background())
		s.forget(in, proc.Exit())
	default:
		h.cfg.Logger.Info("instance ready", "plugin", s.name, "instance", in.id, "pid", proc.PID())
		s.watch(in)
	}
}

func (s *supervisor) launchError(ctx context.Context, in *instance, err error) *tool.Error {
	kind := tool.KindUnavailable
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	e := tool.Errorf(kind, "launching plugin %q: %w", s.name, err)
	e.Plugin, e.Instance = s.name, in.id
	if inner, ok := errors.AsType[*tool.Error](err); ok && inner.Exit != nil {
		e.Exit = inner.Exit
		s.lastExit = inner.Exit
	}
	return e
}

// watch waits for the end of an instance. It runs in the goroutine that launched it.
func (s *supervisor) watch(in *instance) {
	select {
	case <-in.proc.Done():
	case <-in.proc.Conn().Done():
		s.drop(in)
	}
	exit := s.awaitExit(in)
	s.forget(in, exit)
	log := s.host.cfg.Logger.With("plugin", s.name, "instance", in.id, "exit", exit.String())
	if in.stopReason() == "" {
		log.Error("instance crashed", "last_stderr", exit.LastStderr)
		return
	}
	log.Info("instance exited", "reason", in.stopReason())
}

// exitGrace is how long an exit may take to be known after the connection has broken.
const exitGrace = 2 * time.Second

// awaitExit returns how an instance ended whose connection is lost. A process that nobody can talk to is of no use: if
// it lives on it is stopped.
func (s *supervisor) awaitExit(in *instance) tool.Exit {
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-in.proc.Done():
	case <-timer.C:
		s.stop(in)
		<-in.proc.Done()
	}
	return in.proc.Exit()
}

func (s *supervisor) forget(in *instance, exit tool.Exit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, in)
	if s.current == in {
		s.current = nil
	}
	s.lastExit = &exit
}

// drop takes an instance out of routing.
func (s *supervisor) drop(in *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == in {
		s.current = nil
	}
}

// retire takes an instance out of routing, lets its calls end for at most DrainTimeout, and stops it. It does not wait.
func (s *supervisor) retire(in *instance, state tool.InstanceState, reason string) {
	s.drop(in)
	if !in.retire(state, reason) {
		return // somebody else has begun
	}
	s.host.cfg.Logger.Info("instance retires", "plugin", s.name, "instance", in.id, "reason", reason)
	// Owned by the host: bounded by DrainTimeout and the bounds of Stop.
	if !s.host.spawn(func() { s.drain(in) }) {
		return // close stops it
	}
}

func (s *supervisor) drain(in *instance) {
	ctx, cancel := context.WithTimeout(s.host.ctx, s.host.cfg.DrainTimeout)
	defer cancel()
	select {
	case <-in.idle():
	case <-in.proc.Done():
	case <-ctx.Done():
		in.cancelRuns(fmt.Errorf("its instance was stopped: %s", in.stopReason()))
	}
	s.stop(in)
}

func (s *supervisor) stop(in *instance) {
	in.setState(tool.InstanceStopping)
	// Not the host's context: it ends when the host closes, and stopping is bounded by itself.
	if err := in.proc.Stop(context.Background()); err != nil {
		s.host.cfg.Logger.Error("stopping failed", "plugin", s.name, "instance", in.id, "error", err)
	}
}

// restart launches a new instance and, once it is ready, retires those that took calls before.
func (s *supervisor) restart(ctx context.Context, p *catalog.Plugin) (tool.Restarted, error) {
	s.mu.Lock()
	old := s.current
	l := s.launchLocked(p)
	s.mu.Unlock()
	select {
	case <-l.done:
	case <-ctx.Done():
		return tool.Restarted{}, tool.AsError(context.Cause(ctx))
	}
	if l.err != nil {
		return tool.Restarted{}, l.err
	}
	done := tool.Restarted{Stopped: []string{}, Started: []string{l.instance.id}}
	if old != nil && old != l.instance {
		s.retire(old, tool.InstanceDraining, "an operator restarted the plugin")
		done.Stopped = append(done.Stopped, old.id)
	}
	return done, nil
}

// close stops all instances side by side; the host's Close waits for them.
func (s *supervisor) close() {
	s.mu.Lock()
	s.closed = true
	s.current = nil
	running := make([]*instance, 0, len(s.instances))
	for in := range s.instances {
		running = append(running, in)
	}
	s.mu.Unlock()
	for _, in := range running {
		if in.launched() {
			in.retire(tool.InstanceStopping, errStopping.Error())
			// Owned by the host, which is closing: Stop is bounded.
			s.host.wg.Go(func() { s.stop(in) })
		}
	}
}

// infos returns what is to be shown of the instances, in the order of their start.
func (s *supervisor) infos() []tool.InstanceInfo {
	s.mu.Lock()
	running := make([]*instance, 0, len(s.instances))
	for in := range s.instances {
		running = append(running, in)
	}
	s.mu.Unlock()
	infos := make([]tool.InstanceInfo, len(running))
	for i, in := range running {
		infos[i] = in.info()
	}
	slices.SortFunc(infos, func(a, b tool.InstanceInfo) int { return a.StartTime.Compare(b.StartTime) })
	return infos
}
