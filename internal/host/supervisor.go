package host

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/host/history"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// supervisor drives the machine of one plugin: it tells it what happens and carries out what it decides. Its lock
// orders what the machine is told; nothing that blocks is done under it.
type supervisor struct {
	host *Host
	name string

	mu        sync.Mutex
	machine   *lifecycle.Machine
	revisions map[string]*catalog.Plugin  // what may be launched, by digest: what is routed to, and what is to be
	takeovers int                         // that are under way and warm what is to be routed to
	orders    int                         // of operators who want another revision, and have not got it yet
	instances map[string]*instance        // all that have not exited
	seats     map[lifecycle.CallRef]*seat // that wait
	asking    *seat                       // that which the machine is being told of; nil: none, or it was answered
	lastRef   lifecycle.CallRef
	sessions  bool              // each has processes of its own
	timer     *time.Timer       // tells the machine that time has passed
	wake      time.Time         // when timer fires; zero if it does not
	gone      bool              // the plugin's file is
	exits     []tool.PluginExit // of the last instances, the newest first
	suspects  suspects          // calls that crashes may be due to
	crashed   []tool.ExitCall   // what was executed by the instance whose crash the machine is being told of
}

// seat is a call's place at an instance, or in the queue for one. instance and err may be read once done is closed, or if it is
// nil.
type seat struct {
	ref      lifecycle.CallRef
	run      *run
	done     chan struct{} // nil: it was answered when it was asked for
	instance *instance
	err      *tool.Error
}

func newSupervisor(h *Host, p *catalog.Plugin) *supervisor {
	name := p.Info.Name
	seed := fnv.New64a()
	seed.Write([]byte(name))
	cfg := h.cfg.Lifecycle(name)
	s := &supervisor{
		host:      h,
		name:      name,
		sessions:  cfg.Isolation == lifecycle.PerSession,
		machine:   lifecycle.New(name, p.Digest, cfg, rand.New(rand.NewPCG(seed.Sum64(), uint64(time.Now().UnixNano())))),
		revisions: map[string]*catalog.Plugin{p.Digest: p},
		instances: map[string]*instance{},
		seats:     map[lifecycle.CallRef]*seat{},
		exits:     h.exits[name],
	}
	s.timer = time.AfterFunc(time.Hour, s.tick)
	s.timer.Stop()
	return s
}

// tell tells the machine what happened and carries out what it decides.
func (s *supervisor) tell(what func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellLocked(what)
}

func (s *supervisor) tellLocked(what func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	now := time.Now()
	s.carryOut(what(s.machine, now))
	s.rearm(now)
}

func (s *supervisor) tick() {
	s.tell(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Tick(now) })
}

// rearm sets the timer to when the machine wants to be told the time, next to what it is now.
func (s *supervisor) rearm(now time.Time) {
	wake := s.machine.Wake()
	if wake.Equal(s.wake) && wake.After(now) {
		return
	}
	s.wake = wake
	if wake.IsZero() || s.host.ctx.Err() != nil {
		s.timer.Stop()
		return
	}
	s.timer.Reset(max(time.Until(wake), 0))
}

// carryOut does what the machine decided. s.mu is held; nothing here blocks.
func (s *supervisor) carryOut(actions []lifecycle.Action) {
	for len(actions) > 0 {
		a := actions[0]
		actions = actions[1:]
		switch {
		case a.Assign != nil:
			s.seat(a.Assign.Call, s.instances[a.Assign.Instance], nil)
		case a.Reject != nil:
			s.seat(a.Reject.Call, nil, a.Reject.Err)
		case a.Launch != nil:
			if refused := s.launch(a.Launch); refused != nil {
				actions = append(actions, s.machine.LaunchFailed(time.Now(), a.Launch.Instance, refused)...)
			}
		case a.Stop != nil:
			if in := s.instances[a.Stop.Instance]; in != nil {
				in.requestStop(a.Stop.Reason, a.Stop.Force)
			}
		case a.Cancel != nil:
			if in := s.instances[a.Cancel.Instance]; in != nil {
				in.cancelRuns(a.Cancel.Reason)
			}
		case a.Event != nil:
			event := *a.Event
			if event.Type == lifecycle.EventCrashed {
				event.Reason += whileExecuting(s.crashed)
			}
			s.host.note(s.name, event)
			s.logEvent(event)
		}
	}
}

// seat answers a call that waits for an instance.
func (s *supervisor) seat(ref lifecycle.CallRef, in *instance, err *tool.Error) {
	w := s.asking
	if w != nil && w.ref == ref {
		s.asking = nil
	} else if w = s.seats[ref]; w == nil {
		return
	}
	if in != nil {
		in.begin(w.run)
	}
	w.instance, w.err = in, err
	if w.done != nil {
		delete(s.seats, ref)
		close(w.done)
	}
}

func (s *supervisor) launch(l *lifecycle.Launch) *tool.Error {
	in := newInstance(l.Instance, s.revisions[l.Revision])
	// Owned by the host: ends when the process has exited.
	if !s.host.spawn(func() { s.live(in) }) {
		return tool.Errorf(tool.KindUnavailable, "%w", errStopping)
	}
	s.instances[l.Instance] = in
	return nil
}

// ask asks for a place at an instance, which is answered now or later.
func (s *supervisor) ask(r *run) *seat {
	session := ""
	if s.sessions {
		session = r.sessionKey()
	}
	w := &seat{run: r}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.err = s.suspects.refusal(r, time.Now()); w.err != nil {
		return w
	}
	s.lastRef++
	w.ref, s.asking = s.lastRef, w
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Acquire(now, w.ref, session) })
	if s.asking == w {
		s.asking, w.done, s.seats[w.ref] = nil, make(chan struct{}), w
	}
	return w
}

// answered reports whether the seat is one, or was refused.
func (w *seat) answered() bool {
	if w.done == nil {
		return true
	}
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// ready reports whether the seat is a place at an instance that lives.
func (w *seat) ready() bool {
	return w.answered() && w.instance != nil && w.instance.livedWith(w.run)
}

// acquire returns a place at an instance, once there is one: that which was asked for as w, if it was. The caller must release
// it.
func (s *supervisor) acquire(ctx context.Context, r *run, w *seat) (*seat, error) {
	for ; ; w = nil {
		if w == nil {
			w = s.ask(r)
		}
		if err := s.await(ctx, w); err != nil {
			return nil, err
		}
		if w.instance.proc.Alive() { // not livedWith: it may have waited
			return w, nil
		}
		s.release(w)
		select { // until the machine knows that it is dead
		case <-w.instance.gone:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// await waits until the seat is answered. A caller that leaves gives back what it was given meanwhile.
func (s *supervisor) await(ctx context.Context, w *seat) error {
	if w.answered() {
		return w.refusal()
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		s.mu.Lock()
		if _, waiting := s.seats[w.ref]; waiting {
			delete(s.seats, w.ref)
			s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Leave(now, w.ref) })
		}
		s.mu.Unlock()
		select {
		case <-w.done:
			if w.instance != nil {
				s.release(w)
			}
		default:
		}
		return context.Cause(ctx)
	}
	return w.refusal()
}

// refusal returns why there is no seat, or nil.
func (w *seat) refusal() error {
	if w.err != nil {
		return w.err
	}
	return nil
}

// release gives a place back.
func (s *supervisor) release(w *seat) {
	w.instance.end(w.run)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suspects.acquit(w.run)
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Release(now, w.ref) })
}

// stuck says that a call was told to stop a while ago and has not: others are kept away from its instance.
func (s *supervisor) stuck(w *seat, reason string) {
	s.tell(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Stuck(now, w.ref, reason) })
}

// unyielding says that a call did not stop when it was told to.
func (s *supervisor) unyielding(in *instance, reason string) {
	s.tell(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Unyielding(now, in.id, reason) })
}

// noteExit keeps how an instance ended. s.mu is held.
func (s *supervisor) noteExit(in *instance, exit tool.Exit) {
	noted := tool.PluginExit{Instance: in.id, Time: time.Now(), Exit: exit, Expected: in.stopReason() != "", Calls: exitCalls(in.victims)}
	if !noted.Expected {
		s.host.cfg.History.Append(history.Entry{Exit: &history.Exit{Plugin: s.name, PluginExit: noted}})
	}
	s.exits = append([]tool.PluginExit{noted}, s.exits[:min(len(s.exits), s.host.cfg.MaxExits-1)]...)
}

// lastExit returns how the last instance ended, or nil. s.mu is held.
func (s *supervisor) lastExit() *tool.Exit {
	if len(s.exits) == 0 {
		return nil
	}
	exit := s.exits[0].Exit
	return &exit
}

// close stops all instances; the host's Close waits for them.
func (s *supervisor) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Close(now) })
	s.timer.Stop()
}
