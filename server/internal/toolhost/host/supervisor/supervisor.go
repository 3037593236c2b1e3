package supervisor

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Supervisor drives the state machine of one plugin for one tenant: it passes events to the machine
// and executes the actions that the machine returns. All methods are safe for concurrent use.
//
// The machine is not safe for concurrent use, and the order of its events matters. So the mutex of
// the supervisor is held from an event until its actions are executed. Nothing that blocks may run
// under it: a launch or a stop only starts or signals the goroutine of the instance.
type Supervisor struct {
	plugins  *Plugins
	group    *Group
	cfg      *Config
	name     string
	tenant   string
	reporter reporter

	mu         sync.Mutex
	machine    *lifecycle.Machine
	succession succession
	instances  map[string]*Instance // all that have not exited, by id
	queue      queue
	isolation  atomic.Pointer[lifecycle.Isolation] // in force
	timer      *time.Timer                         // calls tick
	wake       time.Time                           // when timer fires; zero: it does not
	forgotten  bool                                // another supervisor serves the tenant now
	exits      []tool.PluginExit                   // of the last instances, the newest first
	crashes    crashCounts
	by         By              // whose command the machine gets; zero: it gets none
	crashed    []tool.ExitCall // of the crash that is being passed to the machine
}

func newSupervisor(group *Group, p *catalog.Plugin, tenant string) *Supervisor {
	plugins, name := group.plugins, group.name
	seed := fnv.New64a()
	seed.Write([]byte(name))
	cfg := plugins.cfg.Settings().Lifecycle(name)
	s := &Supervisor{
		plugins:   plugins,
		group:     group,
		tenant:    tenant,
		cfg:       &plugins.cfg,
		name:      name,
		machine:   lifecycle.New(name, p.Digest, cfg, rand.New(rand.NewPCG(seed.Sum64(), uint64(time.Now().UnixNano()))), group.number),
		instances: map[string]*Instance{},
		queue:     queue{waiting: map[lifecycle.CallRef]*Lease{}},
	}
	s.reporter = reporter{plugins: plugins, cfg: s.cfg, name: name, tenant: tenant}
	s.succession = succession{of: s, revisions: map[string]*catalog.Plugin{p.Digest: p}}
	for _, past := range plugins.pastExits[name] {
		if cmp.Or(past.Tenant, identity.DefaultTenant) == tenant {
			s.exits = append(s.exits, past)
		}
	}
	if group.paused {
		_ = s.machine.Pause(time.Now()) // its event is that of the group
	}
	s.isolation.Store(&cfg.Isolation)
	s.timer = time.AfterFunc(time.Hour, s.tick)
	s.timer.Stop()
	return s
}

// Name returns the name of the plugin.
func (s *Supervisor) Name() string { return s.name }

// Tenant returns the tenant that the supervisor's instances serve.
func (s *Supervisor) Tenant() string { return s.tenant }

// apply reports an event to the machine and executes the actions that it returns.
func (s *Supervisor) apply(event func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyLocked(event)
}

func (s *Supervisor) applyLocked(event func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	now := time.Now()
	s.executeLocked(event(s.machine, now))
	s.rearmLocked(now)
}

// tick tells the machine the current time. The timer calls it.
func (s *Supervisor) tick() {
	s.apply(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Tick(now) })
}

// rearmLocked sets the timer to the moment at which the machine needs the next tick.
func (s *Supervisor) rearmLocked(now time.Time) {
	wake := s.machine.Wake()
	if wake.Equal(s.wake) && wake.After(now) {
		return
	}
	s.wake = wake
	if wake.IsZero() || s.cfg.Context.Err() != nil {
		s.timer.Stop()
		return
	}
	s.timer.Reset(max(time.Until(wake), 0))
}

// executeLocked executes actions of the machine. If a launch is impossible, it reports that to the
// machine as an event, and executes the resulting actions as well.
func (s *Supervisor) executeLocked(actions []lifecycle.Action) {
	for len(actions) > 0 {
		a := actions[0]
		actions = actions[1:]
		switch {
		case a.Assign != nil:
			s.queue.answer(a.Assign.Call, s.instances[a.Assign.Instance], nil)
		case a.Reject != nil:
			s.queue.answer(a.Reject.Call, nil, a.Reject.Err)
		case a.Launch != nil:
			actions = append(actions, s.launchLocked(a.Launch)...)
		case a.Stop != nil:
			if in := s.instances[a.Stop.Instance]; in != nil {
				in.unhealthy = in.unhealthy || a.Stop.Unhealthy
				in.requestStop(a.Stop.Reason, a.Stop.Force)
			}
		case a.Cancel != nil:
			if in := s.instances[a.Cancel.Instance]; in != nil {
				in.cancelCalls(a.Cancel.Reason)
			}
		case a.Event != nil:
			event := *a.Event
			if event.Type == lifecycle.EventCrashed {
				event.Reason += whileExecuting(s.crashed)
			}
			s.reporter.report(event, s.by)
		}
	}
}

// launchLocked starts the goroutine of an instance. If the host is closed, or if the tenant may not
// start another process now, it reports that to the machine and returns the actions that follow.
// Launches that an operator requests, such as those of an upgrade, are not limited.
func (s *Supervisor) launchLocked(l *lifecycle.Launch) []lifecycle.Action {
	forced := s.machine.Replacing() == l.Instance
	if mayLaunch := s.cfg.Settings().MayLaunch; mayLaunch != nil && !forced {
		if refused := mayLaunch(s.tenant); refused != nil {
			return s.machine.LaunchRefused(time.Now(), l.Instance, refused)
		}
	}
	in := newInstance(s, l.Instance, ownerOf(s.tenant, l.Session), s.succession.revisions[l.Revision])
	in.forced = forced
	// Owned by the host: ends when the process has exited.
	if !s.cfg.Spawn(in.live) {
		return s.machine.LaunchFailed(time.Now(), l.Instance, tool.Errorf(tool.KindUnavailable, "%w", ErrStopping))
	}
	s.instances[l.Instance] = in
	return nil
}

// noteExitLocked stores how an instance ended. It writes the end to the history if the instance
// crashed or was unhealthy. Operators look for both later.
func (s *Supervisor) noteExitLocked(in *Instance, exit tool.Exit) {
	noted := tool.PluginExit{Tenant: s.tenant, Instance: in.id, Time: time.Now(), Exit: exit, Expected: in.stopReason() != "", Unhealthy: in.unhealthy, Calls: exitCalls(in.victims)}
	noted.Calls = append(noted.Calls, in.unyielding[:min(len(in.unyielding), maxExitCalls-len(noted.Calls))]...)
	if observer := s.cfg.Settings().Observer; observer != nil {
		observer.InstanceEnded(s.name, noted, in.cpu())
	}
	if !noted.Expected || in.unhealthy {
		s.cfg.History.Append(history.Entry{Exit: &history.Exit{Plugin: s.name, PluginExit: noted}})
	}
	s.exits = append([]tool.PluginExit{noted}, s.exits[:min(len(s.exits), s.cfg.MaxExits-1)]...)
}

// close stops all instances. It does not wait for them: their goroutines belong to the host.
func (s *Supervisor) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Close(now) })
	s.timer.Stop()
}

// whyGone returns the reason why a plugin left service: its file is gone, or the plugin cannot be
// used.
func whyGone(snapshot *catalog.Snapshot, name string) string {
	for _, p := range snapshot.Plugins() {
		if p.Info.Name == name && p.Problem != "" {
			return p.Problem
		}
	}
	return "its file is gone"
}

// busy reports whether the supervisor has instances, or calls that wait for one.
func (s *Supervisor) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.instances)+len(s.queue.waiting) > 0
}

// forget makes the supervisor pass its calls to another one of the same plugin and tenant, if it
// has nothing that the tenant would miss: no instance, no call, and no crash that counts for a
// backoff or a quarantine. It returns what operators still want to see.
func (s *Supervisor) forget() (launches uint64, exits []tool.PluginExit, forgotten bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.instances)+len(s.queue.waiting)+s.succession.takeovers+s.succession.ordered > 0 || !s.machine.Calm(time.Now()) {
		return 0, nil, false
	}
	s.forgotten = true
	return s.machine.Report(time.Now()).Launches, s.exits, true
}
