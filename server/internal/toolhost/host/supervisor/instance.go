package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// Instance is one process of a plugin, from its launch to its exit. The state machine decides what
// happens to it. One goroutine per instance, live, carries that out and reports to the machine.
type Instance struct {
	id         string
	owner      Owner
	plugin     *catalog.Plugin
	supervisor *Supervisor
	place      place
	forced     bool // an operator or a change of the configuration needs it, so that no bound delays it

	ready  chan struct{} // closed when the process takes calls
	routed chan struct{} // closed when the machine knows that, and has reacted
	gone   chan struct{} // closed when the machine knows that the process has ended
	stop   chan struct{} // closed when the process has to stop
	proc   Process       // valid after ready

	created time.Time // when the machine wanted it
	readyAt time.Time // when it took calls; valid after ready

	exit tool.Exit   // valid after gone
	err  *tool.Error // why the process did not start; valid after gone

	victims []*Lease // the calls that were executed when the process ended; used by live only

	// The mutex of the supervisor guards these.
	unyielding []tool.ExitCall // the calls that did not stop after a cancel, at most maxExitCalls
	unhealthy  bool            // the process stops because of them

	mu     sync.Mutex
	detail tool.InstanceState // while the process starts
	reason string             // why the process has to stop; empty: it does not
	force  bool               // stop it without asking
	leases map[*Lease]struct{}
}

func newInstance(s *Supervisor, id string, owner Owner, p *catalog.Plugin) *Instance {
	return &Instance{
		place: place{plugin: s.name, tenant: s.tenant, principal: owner.Principal, granted: make(chan struct{})},
		id:    id, owner: owner, plugin: p, supervisor: s, detail: tool.InstanceQueued, created: time.Now(),
		ready: make(chan struct{}), routed: make(chan struct{}), gone: make(chan struct{}), stop: make(chan struct{}),
		leases: map[*Lease]struct{}{},
	}
}

// ID returns the name of the instance, which no other instance of the plugin gets.
func (in *Instance) ID() string { return in.id }

// Digest returns the digest of the executable that the instance runs.
func (in *Instance) Digest() string { return in.plugin.Digest }

// Revision returns the plugin that the process runs, with its description.
func (in *Instance) Revision() *catalog.Plugin { return in.plugin }

// Workspace returns the folder in which the tools of a ready instance work; empty: that of the
// host.
func (in *Instance) Workspace() string { return in.proc.Workspace() }

// Conn returns the connection to a ready instance.
func (in *Instance) Conn() pluginconn.Conn { return in.proc.Conn() }

// Gone is closed when the process has ended and the state machine knows. Exit may be called then.
func (in *Instance) Gone() <-chan struct{} { return in.gone }

// Exit returns how the process ended.
func (in *Instance) Exit() tool.Exit { return in.exit }

// live takes the instance from its launch to its exit.
func (in *Instance) live() {
	s := in.supervisor
	proc, err := in.start()
	if refused, ok := errors.AsType[*refusedLaunch](err); ok {
		in.err = refused.err
		in.leave(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.LaunchRefused(now, in.id, refused.err)
		})
		return
	}
	if err != nil {
		in.err = in.launchError(err)
		if observer := s.cfg.Settings().Observer; observer != nil {
			observer.LaunchFailed(s.name, in.err)
		}
		in.logLaunchFailed()
		in.leave(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.LaunchFailed(now, in.id, in.err)
		})
		return
	}
	in.proc, in.readyAt = proc, time.Now()
	close(in.ready)
	in.logReady()
	if observer := s.cfg.Settings().Observer; observer != nil {
		observer.InstanceReady(s.name, in.readyAt.Sub(in.created))
	}
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
	s.reportRefusals()
}

// start waits until there is a place for the process and it may launch, and launches it. A request
// to stop and the end of the host abort it.
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
	if err := in.awaitPlace(aborted); err != nil {
		return nil, err
	}
	select {
	case launching <- struct{}{}:
		defer func() { <-launching }()
	case <-aborted.Done():
		return nil, context.Cause(aborted)
	}
	in.setDetail(tool.InstanceStarting)
	timeout := cfg.Settings().LaunchTimeout
	ctx, cancel := context.WithTimeoutCause(aborted, timeout, fmt.Errorf("it did not get ready within %v", timeout))
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
	return in.supervisor.cfg.Redactor.Error(e)
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

// awaitExit returns the exit of a process that lost its connection or was stopped. A process
// without a connection is useless, so awaitExit stops it if it does not exit by itself.
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
	return in.supervisor.cfg.Redactor.Exit(exit)
}

func (in *Instance) stopProcess() {
	// The context is not derived from the host's, which ends when the host closes. The process must
	// still be able to end cleanly then.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if in.stopsByForce() {
		cancel()
	}
	if err := in.proc.Stop(ctx); err != nil {
		in.logger().Error("stopping an instance failed", "error", err)
	}
}

// leave reports the end of the instance to the state machine, and then closes gone.
func (in *Instance) leave(event func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	s := in.supervisor
	s.plugins.places.leave(&in.place)
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

// requestStop makes live stop the process. The reason of the first request stays; any request can
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

func (in *Instance) stopsByForce() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.force
}

func (in *Instance) setDetail(state tool.InstanceState) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.detail = state
}

// executing returns the leases of calls that the process executes, the first to arrive first. It
// leaves out calls that the process only previews, and those that have their result but not yet
// given back their lease.
func (in *Instance) executing() []*Lease {
	in.mu.Lock()
	defer in.mu.Unlock()
	var executing []*Lease
	for l := range in.leases {
		if state := l.request.State; state.Executed() && !state.Succeeded() {
			executing = append(executing, l)
		}
	}
	slices.SortFunc(executing, func(a, b *Lease) int {
		return cmp.Or(a.request.State.Received().Compare(b.request.State.Received()), cmp.Compare(a.request.Call.ID, b.request.Call.ID))
	})
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

// awaitReady returns nil when the instance takes calls. It returns an error that says why the
// instance does not, or when ctx ends.
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
