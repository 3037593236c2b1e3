package supervisor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/crashoutput"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// Process is a running plugin process that is ready for calls, such as a *process.Process. All
// methods are safe for concurrent use.
type Process interface {
	// Conn returns the connection over which the process takes calls.
	Conn() *pluginwire.Conn
	PID() int
	// Alive reports whether the process runs. It notices an exit earlier than Done does.
	Alive() bool
	// Done is closed when the process is gone and all of its resources are released.
	Done() <-chan struct{}
	// Exit returns how the process ended. It may be called once Done is closed.
	Exit() tool.Exit
	// Withdrawn returns why toolhost ended the process by itself, which is not a crash; empty if it
	// did not. It may be called once Done is closed.
	Withdrawn() string
	// Limits returns the limits of the process and how they are enforced.
	Limits() []tool.EffectiveLimit
	// Sandbox returns what the process may access, and which mechanisms enforce it.
	Sandbox() tool.Sandbox
	// RSS returns the resident memory in bytes; 0: unknown.
	RSS() uint64
	// Stop ends the process, by force if necessary, and waits until it is gone. Each of its steps
	// has a timeout. When ctx ends, Stop uses force at once.
	Stop(ctx context.Context) error
}

// LaunchFunc starts an instance of a plugin and returns when the instance takes calls. When ctx
// ends, it must return soon; when it fails, it must leave nothing behind. It may call ReportLaunch.
type LaunchFunc func(ctx context.Context, p *catalog.Plugin, instance string) (Process, error)

// launchKey is the key of the *Instance in the context of a LaunchFunc.
type launchKey struct{}

// ReportLaunch sets the state that operators see of an instance while it starts. ctx must come from
// the context of the LaunchFunc; with any other context ReportLaunch does nothing. It does not
// block.
func ReportLaunch(ctx context.Context, state tool.InstanceState) {
	if in, ok := ctx.Value(launchKey{}).(*Instance); ok {
		in.setDetail(state)
	}
}

// Instance is one process of a plugin, from its launch to its exit. The state machine decides what
// happens to it. One goroutine per instance, live, carries that out and reports to the machine.
type Instance struct {
	id         string
	plugin     *catalog.Plugin
	supervisor *Supervisor

	ready  chan struct{} // closed when the process takes calls
	routed chan struct{} // closed when the machine knows that, and has reacted
	gone   chan struct{} // closed when the machine knows that the process has ended
	stop   chan struct{} // closed when the process has to stop
	proc   Process       // valid after ready
	exit   tool.Exit     // valid after gone
	err    *tool.Error   // why the process did not start; valid after gone

	victims []*Lease // the calls that were executed when the process ended; used by live only

	// livedUntil is a time at which the process was alive, in nanoseconds since Plugins was made.
	// For a call that arrived no later than that, livedWith does not ask the operating system
	// whether the process is alive.
	livedUntil atomic.Int64

	mu     sync.Mutex
	detail tool.InstanceState // while the process starts
	reason string             // why the process has to stop; empty: it does not
	force  bool               // stop it without asking
	leases map[*Lease]struct{}
}

func newInstance(s *Supervisor, id string, p *catalog.Plugin) *Instance {
	return &Instance{
		id: id, plugin: p, supervisor: s, detail: tool.InstanceQueued,
		ready: make(chan struct{}), routed: make(chan struct{}), gone: make(chan struct{}), stop: make(chan struct{}),
		leases: map[*Lease]struct{}{},
	}
}

// ID returns the name of the instance, which no other instance of the plugin gets.
func (in *Instance) ID() string { return in.id }

// Digest returns the digest of the executable that the instance runs.
func (in *Instance) Digest() string { return in.plugin.Digest }

// Conn returns the connection to a ready instance.
func (in *Instance) Conn() *pluginwire.Conn { return in.proc.Conn() }

// Gone is closed when the process has ended and the state machine knows. Exit may be called then.
func (in *Instance) Gone() <-chan struct{} { return in.gone }

// Exit returns how the process ended.
func (in *Instance) Exit() tool.Exit { return in.exit }

// live takes the instance from its launch to its exit.
func (in *Instance) live() {
	s := in.supervisor
	log := s.cfg.Logger.With("plugin", s.name, "instance", in.id)
	proc, err := in.start()
	if err != nil {
		in.err = in.launchError(err)
		log.Error("launch failed", "error", in.err)
		in.leave(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.LaunchFailed(now, in.id, in.err)
		})
		return
	}
	in.proc = proc
	close(in.ready)
	log.Info("instance ready", "pid", proc.PID())
	s.apply(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Ready(now, in.id) })
	close(in.routed)
	crashed := in.watch()
	in.victims = in.executing()
	in.exit = in.awaitExit()
	withdrawn := in.proc.Withdrawn()
	if withdrawn != "" {
		in.requestStop(withdrawn, true) // so that logs and operators do not see a crash
	}
	in.logExit()
	in.leave(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		switch {
		case withdrawn != "":
			return m.Withdrawn(now, in.id, withdrawn)
		case crashed && s.crashes.add(in.victims, now):
			return m.CrashedAgain(now, in.id, in.exit.String())
		case crashed:
			return m.Crashed(now, in.id, in.exit.String())
		default:
			return m.Exited(now, in.id, in.exit.String())
		}
	})
}

// start waits until the process may launch, and launches it. A request to stop and the end of the
// host abort it.
func (in *Instance) start() (Process, error) {
	cfg, launching := in.supervisor.cfg, in.supervisor.plugins.launching
	aborted, abort := context.WithCancelCause(cfg.Context)
	defer abort(nil)
	watched := make(chan struct{})
	defer func() { abort(nil); <-watched }()
	go func() { // owned by start, which ends it and waits for it
		defer close(watched)
		select {
		case <-in.stop:
			abort(errors.New(in.stopReason()))
		case <-aborted.Done():
		}
	}()
	select {
	case launching <- struct{}{}:
		defer func() { <-launching }()
	case <-aborted.Done():
		return nil, context.Cause(aborted)
	}
	in.setDetail(tool.InstanceStarting)
	ctx, cancel := context.WithTimeoutCause(aborted, cfg.LaunchTimeout, fmt.Errorf("it did not get ready within %v", cfg.LaunchTimeout))
	defer cancel()
	proc, err := cfg.Launch(context.WithValue(ctx, launchKey{}, in), in.plugin, in.id)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = context.Cause(ctx)
	}
	return proc, err
}

func (in *Instance) launchError(err error) *tool.Error {
	e := tool.Errorf(tool.KindUnavailable, "the plugin %q did not start: %w", in.supervisor.name, err)
	e.Plugin, e.Instance = in.supervisor.name, in.id
	if inner, ok := errors.AsType[*tool.Error](err); ok && inner.Exit != nil {
		e.Exit = inner.Exit
	}
	return in.supervisor.cfg.Secrets.Redactor().Error(e)
}

// watch returns when the process has ended, is ending, or was asked to stop. It reports whether the
// process ends by itself.
func (in *Instance) watch() (crashed bool) {
	select {
	case <-in.proc.Done():
		return true
	case <-in.proc.Conn().Done():
		return true
	case <-in.stop:
	}
	select {
	case <-in.proc.Done(): // before it could be asked
		return true
	default:
		in.stopProcess()
		return false
	}
}

// exitGrace is how long a process may take to exit after its connection has broken.
const exitGrace = 2 * time.Second

// awaitExit returns how a process ended that lost its connection or was stopped. A process without
// a connection is useless, so awaitExit stops it if it does not exit.
func (in *Instance) awaitExit() tool.Exit {
	timer := time.NewTimer(exitGrace)
	defer timer.Stop()
	select {
	case <-in.proc.Done():
	case <-timer.C:
		in.stopProcess()
		<-in.proc.Done()
	}
	exit := in.proc.Exit()
	if reason := in.stopReason(); reason != "" {
		exit.Reason = reason
	}
	return in.supervisor.cfg.Secrets.Redactor().Exit(exit)
}

func (in *Instance) stopProcess() {
	// Not the host's context: it ends when the host closes, and a process may end in good order
	// then.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if in.forced() {
		cancel()
	}
	if err := in.proc.Stop(ctx); err != nil {
		in.supervisor.cfg.Logger.Error("stopping failed", "plugin", in.supervisor.name, "instance", in.id, "error", err)
	}
}

func (in *Instance) logExit() {
	log := in.supervisor.cfg.Logger.With("plugin", in.supervisor.name, "instance", in.id, "exit", in.exit.String())
	if in.stopReason() == "" {
		// `toolhost why` shows more
		log.Error("instance crashed"+whileExecuting(exitCalls(in.victims)), "last_stderr", crashoutput.Reason(in.exit.LastStderr))
		return
	}
	log.Info("instance exited")
}

// leave passes the end of the instance to the state machine, and then closes gone.
func (in *Instance) leave(event func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	s := in.supervisor
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, in.id)
	if in.err == nil {
		s.noteExitLocked(in, in.exit)
	} else if in.err.Exit != nil {
		s.noteExitLocked(in, *in.err.Exit)
	}
	s.crashed = exitCalls(in.victims)
	s.applyLocked(event)
	s.crashed = nil
	close(in.gone)
}

// livedWith reports whether the process lived after a call arrived, so that a call that arrived
// after the end of the process never goes to it, even if the supervisor has not noticed the end
// yet. One question to the system serves all calls that arrived before it.
func (in *Instance) livedWith(call *tool.Call) bool {
	if call.ReceivedAt.IsZero() {
		return in.proc.Alive()
	}
	arrived, known := int64(call.ReceivedAt.Sub(in.supervisor.plugins.began)), in.livedUntil.Load()
	if known >= arrived {
		return true
	}
	if !in.proc.Alive() {
		return false
	}
	in.livedUntil.CompareAndSwap(known, arrived) // if it fails, another goroutine has asked as well
	return true
}

// requestStop makes live stop the process. The reason of the first request counts; any request can
// add force.
func (in *Instance) requestStop(reason string, force bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.force = in.force || force
	if in.reason == "" {
		in.reason = reason
		close(in.stop)
	}
}

func (in *Instance) stopReason() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.reason
}

func (in *Instance) forced() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.force
}

func (in *Instance) setDetail(state tool.InstanceState) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.detail = state
}

// executing returns the leases of calls that the process executes. It leaves out calls that the
// process only previews.
func (in *Instance) executing() []*Lease {
	in.mu.Lock()
	defer in.mu.Unlock()
	var executing []*Lease
	for l := range in.leases {
		if l.request.State.Executed() {
			executing = append(executing, l)
		}
	}
	return executing
}

func (in *Instance) addLease(l *Lease) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.leases[l] = struct{}{}
}

func (in *Instance) removeLease(l *Lease) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.leases, l)
}

// cancelCalls ends the calls of an instance that stops.
func (in *Instance) cancelCalls(reason string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for l := range in.leases {
		l.request.State.Cancel(fmt.Errorf("its instance was stopped: %s", reason))
	}
}

// awaitReady returns when the instance takes calls, or why it does not.
func (in *Instance) awaitReady(ctx context.Context) error {
	select {
	case <-in.routed:
		return nil
	case <-in.gone:
		if in.err != nil {
			return in.err
		}
		return nil // it took calls and has exited since
	case <-ctx.Done():
		return tool.AsError(context.Cause(ctx))
	}
}

// info returns what operators see of the instance.
func (in *Instance) info(state *lifecycle.Instance) tool.InstanceInfo {
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
		info.State = tool.InstanceStopping // it has ended, and the supervisor has not noticed yet
	}
	return info
}
