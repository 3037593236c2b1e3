package supervisor

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/host/history"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// Supervisor drives the state machine of one plugin: it passes events to the machine and executes
// the actions that the machine returns. All methods are safe for concurrent use.
//
// The machine is not safe for concurrent use, and the order of its events matters. So the mutex of
// the supervisor is held from an event until its actions are executed. Nothing that blocks may run
// under it: a launch or a stop only starts or signals the goroutine of the instance.
type Supervisor struct {
	plugins *Plugins
	cfg     *Config
	name    string

	mu        sync.Mutex
	machine   *lifecycle.Machine
	revisions map[string]*catalog.Plugin   // what may be launched, by digest
	takeovers int                          // takeovers that run and have launched another revision
	ordered   int                          // operators that wait for another revision
	instances map[string]*Instance         // all that have not exited, by id
	waiting   map[lifecycle.CallRef]*Lease // the queue
	// the lease without an answer that Ask passes on; nil: none
	asking   *Lease
	lastRef  lifecycle.CallRef
	sessions bool              // each session has an instance for itself
	timer    *time.Timer       // calls tick
	wake     time.Time         // when timer fires; zero: it does not
	gone     bool              // the plugin's file is gone
	exits    []tool.PluginExit // of the last instances, the newest first
	crashes  crashCounts
	crashed  []tool.ExitCall // of the crash that is being passed to the machine
}

func newSupervisor(plugins *Plugins, p *catalog.Plugin) *Supervisor {
	name := p.Info.Name
	seed := fnv.New64a()
	seed.Write([]byte(name))
	cfg := plugins.cfg.Lifecycle(name)
	s := &Supervisor{
		plugins:   plugins,
		cfg:       &plugins.cfg,
		name:      name,
		sessions:  cfg.Isolation == lifecycle.PerSession,
		machine:   lifecycle.New(name, p.Digest, cfg, rand.New(rand.NewPCG(seed.Sum64(), uint64(time.Now().UnixNano())))),
		revisions: map[string]*catalog.Plugin{p.Digest: p},
		instances: map[string]*Instance{},
		waiting:   map[lifecycle.CallRef]*Lease{},
		exits:     plugins.pastExits[name],
	}
	s.timer = time.AfterFunc(time.Hour, s.tick)
	s.timer.Stop()
	return s
}

// Name returns the name of the plugin.
func (s *Supervisor) Name() string { return s.name }

// apply passes an event to the machine and executes the actions that it returns.
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

// tick passes the time to the machine. The timer calls it.
func (s *Supervisor) tick() {
	s.apply(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Tick(now) })
}

// rearmLocked sets the timer to the moment at which the machine needs the time next.
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

// executeLocked executes actions of the machine. A launch that is impossible is an event, whose
// actions are executed too.
func (s *Supervisor) executeLocked(actions []lifecycle.Action) {
	for len(actions) > 0 {
		a := actions[0]
		actions = actions[1:]
		switch {
		case a.Assign != nil:
			s.answerLocked(a.Assign.Call, s.instances[a.Assign.Instance], nil)
		case a.Reject != nil:
			s.answerLocked(a.Reject.Call, nil, a.Reject.Err)
		case a.Launch != nil:
			if refused := s.launchLocked(a.Launch); refused != nil {
				actions = append(actions, s.machine.LaunchFailed(time.Now(), a.Launch.Instance, refused)...)
			}
		case a.Stop != nil:
			if in := s.instances[a.Stop.Instance]; in != nil {
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
			s.plugins.note(s.name, event)
			s.logEvent(event)
		}
	}
}

// launchLocked starts the goroutine of an instance. It fails if the host is closed.
func (s *Supervisor) launchLocked(l *lifecycle.Launch) *tool.Error {
	in := newInstance(s, l.Instance, s.revisions[l.Revision])
	// Owned by the host: ends when the process has exited.
	if !s.cfg.Spawn(in.live) {
		return tool.Errorf(tool.KindUnavailable, "%w", ErrStopping)
	}
	s.instances[l.Instance] = in
	return nil
}

// noteExitLocked keeps how an instance ended, and writes it to the history if it was a crash.
func (s *Supervisor) noteExitLocked(in *Instance, exit tool.Exit) {
	noted := tool.PluginExit{Instance: in.id, Time: time.Now(), Exit: exit, Expected: in.stopReason() != "", Calls: exitCalls(in.victims)}
	if !noted.Expected {
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

// reconcile routes calls to the revision that the catalog has in service. The catalog decides some
// changes by itself: a plugin leaves and returns with its file, and its name may pass to another
// plugin. While a takeover runs, routing and catalog may differ; the end of the takeover reconciles
// them.
func (s *Supervisor) reconcile() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reconcileLocked()
}

func (s *Supervisor) reconcileLocked() {
	snapshot := s.cfg.Catalog.Snapshot()
	p := snapshot.Plugin(s.name)
	switch {
	case p == nil && !s.gone: // calls that run finish
		s.gone = true
		s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.Disable(now, whyGone(snapshot, s.name))
		})
	case p == nil:
	case s.gone:
		s.gone = false
		s.adoptLocked(p)
		s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Disable(now, "") })
	case s.takeovers == 0:
		s.adoptLocked(p)
	}
}

// whyGone returns why a plugin left service: its file is gone, or it cannot be used.
func whyGone(snapshot *catalog.Snapshot, name string) string {
	for _, p := range snapshot.Plugins() {
		if p.Info.Name == name && p.Problem != "" {
			return p.Problem
		}
	}
	return "its file is gone"
}

// adoptLocked routes calls to the revision that is in service.
func (s *Supervisor) adoptLocked(p *catalog.Plugin) {
	if known := s.revisions[p.Digest]; known == nil || known.Source != p.Source {
		s.revisions[p.Digest] = p
	}
	routed, _ := s.machine.Revision()
	if routed == p.Digest {
		return
	}
	s.cfg.Logger.Info("what is in service was replaced", "plugin", s.name, "digest", p.Digest, "previous", routed)
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Adopt(now, p.Digest) })
	s.forgetRevisionsLocked()
}

// forgetRevisionsLocked forgets the revisions that are no longer launched. A takeover that runs may
// still launch one.
func (s *Supervisor) forgetRevisionsLocked() {
	if s.takeovers > 0 {
		return
	}
	routed, _ := s.machine.Revision()
	maps.DeleteFunc(s.revisions, func(digest string, _ *catalog.Plugin) bool { return digest != routed })
}
