package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// world is a driver without processes. It executes the actions of a machine, records them, and
// reports actions that must never happen. It knows only what a driver knows.
type world struct {
	machine *lifecycle.Machine
	cfg     lifecycle.Config // with the defaults of the machine filled in
	now     time.Time
	fault   error // the first violation

	calls    map[lifecycle.CallRef]*call
	lastCall lifecycle.CallRef
	procs    []*proc // in the order of launch, with those that have exited

	revision                 string
	replacing                string // the revision that is starting to take over; empty: none
	paused, disabled, closed bool
	quarantined, probing     bool
	operator                 bool // the present actions answer an operator who wants a new instance
	adopting                 bool // the present actions answer an Adopt
	renewing                 bool // the next launch replaces instances with an earlier configuration
	backoff                  time.Time

	story   []string           // the events so far, as text
	actions []lifecycle.Action // all actions of the machine
}

// call is the state of a call.
type call struct {
	ref      lifecycle.CallRef
	session  string
	state    callState
	proc     *proc
	rejected *tool.Error
	stuck    bool // has not stopped after a cancel
}

type callState string

const (
	waiting  callState = "waiting"
	assigned callState = "assigned"
	rejected callState = "rejected"
	left     callState = "left"
	released callState = "released"
)

// proc is the state of a process.
type proc struct {
	id, revision                   string
	ready, ending, stopped, exited bool
	retired                        bool // it takes no more calls
	calls, stuck                   int
	total                          uint64
	session                        string // of its first call
	shared                         bool   // launched with another isolation
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newWorld(cfg lifecycle.Config, seed uint64) *world {
	return &world{
		machine: lifecycle.New("p", "A", cfg, rand.New(rand.NewPCG(seed, seed)), nil),
		cfg:     bounds(cfg), now: epoch, revision: "A",
		calls: map[lifecycle.CallRef]*call{},
	}
}

// bounds replaces zero fields by the defaults that the documentation of Config describes.
func bounds(cfg lifecycle.Config) lifecycle.Config {
	if cfg.MaxInstances == 0 {
		cfg.MaxInstances = 16
		if cfg.Isolation == "" || cfg.Isolation == lifecycle.Shared {
			cfg.MaxInstances = 1
		}
	}
	cfg.MaxInstances = max(cfg.MaxInstances, cfg.MinInstances)
	if cfg.Isolation == lifecycle.PerCall {
		cfg.MaxCallsPerInstance, cfg.RecycleAfterCalls = 1, 1
	}
	if cfg.MaxQueue == 0 {
		cfg.MaxQueue = 1024
	}
	return cfg
}

// does executes the actions that the machine returned for an event.
func (w *world) does(what string, actions []lifecycle.Action) {
	w.story = append(w.story, fmt.Sprintf("%v %s", w.now.Sub(epoch), what))
	w.actions = append(w.actions, actions...)
	for _, a := range actions {
		w.story = append(w.story, "      "+describe(a))
		w.carryOut(a)
	}
	w.check()
}

func (w *world) failf(format string, args ...any) {
	if w.fault == nil {
		w.fault = fmt.Errorf(format, args...)
	}
}

func (w *world) carryOut(a lifecycle.Action) {
	switch {
	case a.Assign != nil:
		w.assign(a.Assign)
	case a.Reject != nil:
		c := w.calls[a.Reject.Call]
		if c.state != waiting {
			w.failf("call %d is rejected while it is %s", c.ref, c.state)
		}
		c.state, c.rejected = rejected, a.Reject.Err
	case a.Launch != nil:
		w.launch(a.Launch)
	case a.Stop != nil:
		p := w.proc(a.Stop.Instance)
		if p.stopped || p.exited {
			w.failf("%s is stopped again", p.id)
		}
		p.stopped, p.ending = true, true
	case a.Cancel != nil:
		if p := w.proc(a.Cancel.Instance); p.calls == 0 || p.exited {
			w.failf("the calls of %s are cancelled, and it has none", p.id)
		}
	case a.Flip != nil:
		w.flip(a.Flip)
	case a.Event != nil:
		w.note(a.Event)
	default:
		w.failf("an action says nothing")
	}
}

func (w *world) assign(a *lifecycle.Assign) {
	c, p := w.calls[a.Call], w.proc(a.Instance)
	switch {
	case c.state != waiting:
		w.failf("call %d is assigned while it is %s", c.ref, c.state)
	case !p.ready || p.ending || p.exited:
		w.failf("call %d is given to %s, which does not take calls", c.ref, p.id)
	case w.paused || w.disabled || w.quarantined:
		w.failf("call %d is assigned though the plugin takes none", c.ref)
	case w.cfg.MaxCallsPerInstance > 0 && p.calls >= w.cfg.MaxCallsPerInstance:
		w.failf("%s has %d calls and is given another", p.id, p.calls)
	case w.cfg.RecycleAfterCalls > 0 && p.total >= w.cfg.RecycleAfterCalls:
		w.failf("%s has made %d calls and is given another", p.id, p.total)
	case w.cfg.Isolation == lifecycle.PerSession && p.total > 0 && p.session != c.session:
		w.failf("%s of session %q is given a call of %q", p.id, p.session, c.session)
	}
	c.state, c.proc = assigned, p
	p.session = c.session
	p.calls++
	p.total++
}

func (w *world) launch(l *lifecycle.Launch) {
	switch {
	case w.disabled:
		w.failf("%s is launched though the plugin is disabled", l.Instance)
	case w.paused && !w.operator:
		w.failf("%s is launched though the plugin is paused", l.Instance)
	case w.quarantined && !w.operator && !w.probing:
		w.failf("%s is launched though the plugin is quarantined", l.Instance)
	case w.now.Before(w.backoff) && !w.operator && !w.renewing:
		w.failf("%s is launched at %v, before %v", l.Instance, w.now.Sub(epoch), w.backoff.Sub(epoch))
	case l.Revision != w.revision && l.Revision != w.replacing:
		w.failf("%s is launched with revision %q", l.Instance, l.Revision)
	case slices.ContainsFunc(w.procs, func(p *proc) bool { return p.id == l.Instance }):
		w.failf("%s is launched again", l.Instance)
	}
	w.probing, w.renewing = false, false // each launches once
	w.procs = append(w.procs, &proc{id: l.Instance, revision: l.Revision})
}

func (w *world) flip(f *lifecycle.Flip) {
	standing := w.standing()
	if !w.adopting && !slices.ContainsFunc(standing, func(p *proc) bool { return p.revision == f.Revision && p.ready }) {
		w.failf("routing flips to %q, of which nothing is ready", f.Revision)
	}
	if f.Previous != w.revision || f.Revision != w.replacing {
		w.failf("routing flips from %q to %q, not from %q to %q", f.Previous, f.Revision, w.revision, w.replacing)
	}
	w.revision, w.backoff = f.Revision, time.Time{}
}

// note updates the world by an event, with the conclusions that a driver may draw.
func (w *world) note(e *lifecycle.Event) {
	if !e.Time.Equal(w.now) {
		w.failf("%s is said to have happened at %v", e.Type, e.Time)
	}
	switch e.Type {
	case lifecycle.EventLaunching:
	case lifecycle.EventReady:
		p := w.proc(e.Instance)
		if p.retired || p.stuck > 0 {
			w.failf("%s is ready, and was to take no calls", p.id)
		}
		p.ending = false
	case lifecycle.EventUnhealthy:
		w.proc(e.Instance).ending = true
	case lifecycle.EventDraining, lifecycle.EventStopping:
		p := w.proc(e.Instance)
		p.ending, p.retired = true, true
	case lifecycle.EventBackingOff:
		w.backoff = e.Until
	case lifecycle.EventQuarantined:
		w.quarantined, w.probing = true, false
	case lifecycle.EventProbing:
		w.probing = true
	case lifecycle.EventEnabled:
		w.enabled()
	case lifecycle.EventUpgrading, lifecycle.EventRollingBack:
		w.replacing = e.Revision
	case lifecycle.EventRestarting:
		w.replacing = w.revision
		if w.renewing = !w.operator; w.operator {
			w.backoff = time.Time{}
		}
	case lifecycle.EventUpgraded, lifecycle.EventUpgradeFailed, lifecycle.EventRolledBack, lifecycle.EventRollbackFailed,
		lifecycle.EventRestarted, lifecycle.EventRestartFailed:
		if w.replacing == "" {
			w.failf("%s though nothing is being replaced", e.Type)
		}
		w.replacing = ""
	}
}

// enabled finds out what an event that enables a plugin has ended: a pause, a quarantine, or a
// disabled state.
func (w *world) enabled() {
	state := w.machine.Report(w.now).State
	w.quarantined = state == tool.PluginQuarantined
	if !w.quarantined && !w.paused && !w.disabled {
		w.backoff = time.Time{}
	}
}

func (w *world) proc(id string) *proc {
	for _, p := range w.procs {
		if p.id == id {
			return p
		}
	}
	w.failf("%s was never launched", id)
	return &proc{id: id}
}

// standing returns the processes that are starting or take calls.
func (w *world) standing() []*proc {
	return w.procsThat(func(p *proc) bool { return !p.ending && !p.exited })
}

func (w *world) procsThat(are func(*proc) bool) []*proc {
	var found []*proc
	for _, p := range w.procs {
		if are(p) {
			found = append(found, p)
		}
	}
	return found
}

// callsThat returns the calls in a state, in the order of their arrival.
func (w *world) callsThat(are callState) []*call {
	var found []*call
	for ref := lifecycle.CallRef(1); ref <= w.lastCall; ref++ {
		if c := w.calls[ref]; c.state == are {
			found = append(found, c)
		}
	}
	return found
}

// check checks the invariants that hold after every step.
func (w *world) check() {
	standing := w.standing()
	most := w.cfg.MaxInstances
	if w.replacing != "" {
		most++
	}
	if len(standing) > most {
		w.failf("%d instances stand, and %d may", len(standing), most)
	}
	queued := w.callsThat(waiting)
	if len(queued) != w.machine.Report(w.now).Queued {
		w.failf("%d calls wait, and the machine says %d", len(queued), w.machine.Report(w.now).Queued)
	}
	if len(queued) > w.cfg.MaxQueue {
		w.failf("%d calls wait, and %d may", len(queued), w.cfg.MaxQueue)
	}
	w.checkInstances()
	w.checkWake()
}

func (w *world) checkInstances() {
	var want, got []string
	for _, p := range w.procsThat(func(p *proc) bool { return !p.exited }) {
		want = append(want, p.id)
		if p.ending && p.calls == 0 && !p.stopped {
			w.failf("%s ends, has no calls, and is not stopped", p.id)
		}
	}
	for _, in := range w.machine.Instances() {
		got = append(got, in.ID)
		if p := w.proc(in.ID); p.stuck > 0 && in.State == tool.InstanceReady || p.stuck == 0 && p.ending && !p.retired {
			w.failf("%d calls of %s do not stop, and it is %s", p.stuck, p.id, in.State)
		}
		if p := w.proc(in.ID); p.calls != in.Calls || p.total != in.Total {
			w.failf("%s has %d of %d calls, and the machine says %d of %d", p.id, p.calls, p.total, in.Calls, in.Total)
		}
	}
	if !slices.Equal(want, got) {
		w.failf("the instances are %v, and the machine says %v", want, got)
	}
	if revision, _ := w.machine.Revision(); revision != w.revision {
		w.failf("the revision is %q, and the machine says %q", w.revision, revision)
	}
	if w.cfg.Isolation != lifecycle.PerSession {
		return
	}
	sessions := map[string]string{}
	for _, p := range w.standing() {
		if p.shared {
			continue
		}
		if other := sessions[p.session]; p.total > 0 && other != "" {
			w.failf("%s and %s both stand for session %q", other, p.id, p.session)
		}
		if p.total > 0 {
			sessions[p.session] = p.id
		}
	}
}

// checkWake checks that the machine wants to wake when something is due.
func (w *world) checkWake() {
	wake := w.machine.Wake()
	missing := func(due time.Time) bool { return wake.IsZero() || wake.After(due) }
	if len(w.callsThat(waiting)) > 0 && w.now.Before(w.backoff) && missing(w.backoff) {
		w.failf("calls wait for the end of a backoff, and the machine sleeps beyond it")
	}
	for _, in := range w.machine.Instances() {
		if in.State == tool.InstanceUnhealthy && w.proc(in.ID).retired && missing(w.now.Add(w.cfg.DrainTimeout)) {
			w.failf("%s is unhealthy, and the machine sleeps for longer than it may drain", in.ID)
		}
	}
	if w.closed && !wake.IsZero() {
		w.failf("the machine is closed and wants to be woken")
	}
}

// describe returns an action as text, for stories.
func describe(a lifecycle.Action) string {
	switch {
	case a.Assign != nil:
		return fmt.Sprintf("assign %d to %s", a.Assign.Call, a.Assign.Instance)
	case a.Reject != nil:
		return fmt.Sprintf("reject %d: %v", a.Reject.Call, a.Reject.Err)
	case a.Launch != nil:
		return fmt.Sprintf("launch %s of %s", a.Launch.Instance, a.Launch.Revision)
	case a.Stop != nil && a.Stop.Force:
		return fmt.Sprintf("stop %s by force", a.Stop.Instance)
	case a.Stop != nil:
		return fmt.Sprintf("stop %s", a.Stop.Instance)
	case a.Cancel != nil:
		return fmt.Sprintf("cancel %s", a.Cancel.Instance)
	case a.Flip != nil:
		return fmt.Sprintf("flip from %s to %s", a.Flip.Previous, a.Flip.Revision)
	case a.Event != nil:
		return fmt.Sprintf("event %s %s %s", a.Event.Type, a.Event.Instance, a.Event.Reason)
	default:
		return "nothing"
	}
}
