package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// instance is one plugin process with what the host does with it. The machine decides; this carries it out.
type instance struct {
	id     string
	plugin *catalog.Plugin
	ready  chan struct{} // closed once it can take calls
	routed chan struct{} // closed once the machine knows that, and has decided what follows from it
	gone   chan struct{} // closed once it has exited, or failed to start, and the machine knows
	stop   chan struct{} // closed when it is to stop
	proc   Process       // may be used once ready is closed
	exit   tool.Exit     // may be read once gone is closed
	err    *tool.Error   // why it did not start; may be read once gone is closed

	victims []*run // that were executed when it ended; its goroutine's

	lived atomic.Int64 // until when calls came that need not ask whether the process lives, in nanoseconds since the host began

	mu     sync.Mutex
	detail tool.InstanceState // while it starts
	reason string             // why it is to stop; empty if it is not
	force  bool
	runs   map[*run]struct{}
}

func newInstance(id string, p *catalog.Plugin) *instance {
	return &instance{
		id: id, plugin: p, detail: tool.InstanceQueued,
		ready: make(chan struct{}), routed: make(chan struct{}), gone: make(chan struct{}), stop: make(chan struct{}),
		runs: map[*run]struct{}{},
	}
}

// live carries an instance from its launch to its exit. It is the instance's goroutine.
func (s *supervisor) live(in *instance) {
	proc, err := s.start(in)
	if err != nil {
		in.err = s.launchError(in, err)
		s.host.cfg.Logger.Error("launch failed", "plugin", s.name, "instance", in.id, "error", in.err)
		s.leave(in, func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.LaunchFailed(now, in.id, in.err)
		})
		return
	}
	in.proc = proc
	close(in.ready)
	s.host.cfg.Logger.Info("instance ready", "plugin", s.name, "instance", in.id, "pid", proc.PID())
	s.tell(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Ready(now, in.id) })
	close(in.routed)
	crashed := s.watch(in)
	in.victims = in.executing()
	in.exit = s.awaitExit(in)
	withdrawn := in.proc.Withdrawn()
	if withdrawn != "" {
		in.requestStop(withdrawn, true) // so that it is logged and shown as no crash
	}
	s.logExit(in)
	s.leave(in, func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		if withdrawn != "" {
			return m.Withdrawn(now, in.id, withdrawn)
		}
		if crashed && s.suspects.blame(in.victims, now) {
			return m.CrashedAgain(now, in.id, in.exit.String())
		}
		if crashed {
			return m.Crashed(now, in.id, in.exit.String())
		}
		return m.Exited(now, in.id, in.exit.String())
	})
}

// watch returns when the process has ended, is ending, or was told to end; it reports whether it ends by itself.
func (s *supervisor) watch(in *instance) (crashed bool) {
	select {
	case <-in.proc.Done():
		return true
	case <-in.proc.Conn().Done():
		return true
	case <-in.stop:
	}
	select {
	case <-in.proc.Done(): // before it was told
		return true
	default:
		s.stopProcess(in)
		return false
	}
}

// start waits for the instance's turn and launches it. Being told to stop, or the host's end, aborts it.
func (s *supervisor) start(in *instance) (Process, error) {
	h := s.host
	aborted, abort := context.WithCancelCause(h.ctx)
	defer abort(nil)
	watched := make(chan struct{})
	defer func() { abort(nil); <-watched }()
	go func() { // ends with start
		defer close(watched)
		select {
		case <-in.stop:
			abort(errors.New(in.stopReason()))
		case <-aborted.Done():
		}
	}()
	select {
	case h.launching <- struct{}{}:
		defer func() { <-h.launching }()
	case <-aborted.Done():
		return nil, context.Cause(aborted)
	}
	in.setDetail(tool.InstanceStarting)
	ctx, cancel := context.WithTimeoutCause(aborted, h.cfg.LaunchTimeout, fmt.Errorf("it did not get ready within %v", h.cfg.LaunchTimeout))
	defer cancel()
	proc, err := h.cfg.Launch(context.WithValue(ctx, launchKey{}, in), in.plugin, in.id)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = context.Cause(ctx)
	}
	return proc, err
}

// launchKey is where the context of a LaunchFunc has the instance that is launched.
type launchKey struct{}

// ReportLaunch says how far a launch is: what the instance is shown as until it is ready. ctx is that of the LaunchFunc;
// with any other it does nothing. It does not block.
func ReportLaunch(ctx context.Context, state tool.InstanceState) {
	if in, ok := ctx.Value(launchKey{}).(*instance); ok {
		in.setDetail(state)
	}
}

func (s *supervisor) launchError(in *instance, err error) *tool.Error {
	e := tool.Errorf(tool.KindUnavailable, "the plugin %q did not start: %w", s.name, err)
	e.Plugin, e.Instance = s.name, in.id
	if inner, ok := errors.AsType[*tool.Error](err); ok && inner.Exit != nil {
		e.Exit = inner.Exit
	}
	return s.host.cfg.Secrets.Redactor().Error(e)
}

// leave tells the machine that an instance is no more, and then everybody else.
func (s *supervisor) leave(in *instance, what func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, in.id)
	if in.err == nil {
		s.noteExit(in, in.exit)
	} else if in.err.Exit != nil {
		s.noteExit(in, *in.err.Exit)
	}
	s.crashed = exitCalls(in.victims)
	s.tellLocked(what)
	s.crashed = nil
	close(in.gone)
}

// exitGrace is how long an exit may take to be known after the connection has broken.
const exitGrace = 2 * time.Second

// awaitExit returns how an instance ended that lost its connection or was stopped. A process that nobody can talk to is
// of no use: if it lives on it is stopped.
func (s *supervisor) awaitExit(in *instance) tool.Exit {
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-in.proc.Done():
	case <-timer.C:
		s.stopProcess(in)
		<-in.proc.Done()
	}
	exit := in.proc.Exit()
	if reason := in.stopReason(); reason != "" {
		exit.Reason = reason
	}
	return s.host.cfg.Secrets.Redactor().Exit(exit)
}

func (s *supervisor) stopProcess(in *instance) {
	// Not the host's context: it ends when the host closes, and stopping is bounded by itself.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if in.forced() {
		cancel() // at once
	}
	if err := in.proc.Stop(ctx); err != nil {
		s.host.cfg.Logger.Error("stopping failed", "plugin", s.name, "instance", in.id, "error", err)
	}
}

func (s *supervisor) logExit(in *instance) {
	log := s.host.cfg.Logger.With("plugin", s.name, "instance", in.id, "exit", in.exit.String())
	if in.stopReason() == "" {
		log.Error("instance crashed"+whileExecuting(exitCalls(in.victims)), "last_stderr", in.exit.MostTelling()) // `toolhost why` shows more
		return
	}
	log.Info("instance exited")
}

// livedWith reports whether the process lived after a call came: the kernel is asked once for all calls that came together. So a
// call that came after the process had ended is not given to it, also where nobody has noticed yet.
func (in *instance) livedWith(r *run) bool {
	if r.call.Came.IsZero() {
		return in.proc.Alive()
	}
	came, known := int64(r.call.Came.Sub(r.host.began)), in.lived.Load()
	if known >= came {
		return true
	}
	if !in.proc.Alive() {
		return false
	}
	in.lived.CompareAndSwap(known, came) // who was faster asked, too
	return true
}

// requestStop lets the instance's goroutine stop it. The first request counts, but for force.
func (in *instance) requestStop(reason string, force bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.force = in.force || force
	if in.reason == "" {
		in.reason = reason
		close(in.stop)
	}
}

func (in *instance) stopReason() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.reason
}

func (in *instance) forced() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.force
}

func (in *instance) setDetail(state tool.InstanceState) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.detail = state
}

// executing returns the calls that are executed, not those whose arguments are only looked at.
func (in *instance) executing() []*run {
	in.mu.Lock()
	defer in.mu.Unlock()
	var runs []*run
	for r := range in.runs {
		if r.executed() {
			runs = append(runs, r)
		}
	}
	return runs
}

// begin and end count calls in and out, so that they can be cancelled.
func (in *instance) begin(r *run) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.runs[r] = struct{}{}
}

func (in *instance) end(r *run) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.runs, r)
}

// cancelRuns ends the calls that are left.
func (in *instance) cancelRuns(reason string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for r := range in.runs {
		r.cancel(fmt.Errorf("its instance was stopped: %s", reason))
	}
}

// info returns what is to be shown of an instance.
func (in *instance) info(state *lifecycle.Instance) tool.InstanceInfo {
	info := tool.InstanceInfo{
		ID: in.id, Plugin: in.plugin.Info.Name, State: state.State, Calls: state.Calls, TotalCalls: state.Total,
		StartTime: state.Created, Digest: state.Revision,
	}
	select {
	case <-in.ready:
	default:
		if info.State == tool.InstanceStarting {
			in.mu.Lock()
			info.State = in.detail
			in.mu.Unlock()
		}
		return info
	}
	info.PID, info.RSSBytes, info.Limits = in.proc.PID(), in.proc.RSS(), in.proc.Limits()
	info.Sandbox = new(in.proc.Sandbox())
	if info.State == tool.InstanceReady && !in.proc.Alive() {
		info.State = tool.InstanceStopping // dead, and about to be noticed
	}
	return info
}
