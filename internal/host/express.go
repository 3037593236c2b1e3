package host

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

const (
	// expressArguments bounds the arguments of a call that goes by express: what it takes to parse and to check them holds up
	// who reads the caller's stream.
	expressArguments = 4 << 10
	// expressResult bounds the result that is seen to by who reads the plugin's stream.
	expressResult = 8 << 10
)

// express carries a call whose caller wants its outcome alone, and which need not wait for anything but its tool. It has no
// goroutine: who brings the call gives it to the plugin, and who reads the plugin's answer brings the outcome to the caller.
// To hand a call from one goroutine to the next would cost as much as all that is done with it. Where it has to wait after
// all, or anything happens but that the tool answers with little, it goes on in a goroutine like any other.
type express struct {
	host   *Host
	ctx    context.Context // the caller's
	done   func(tool.Event)
	e      execution
	stop   func() bool // of what closes e with ctx; nil: nothing does
	f      follower
	parked atomic.Bool // nobody carries the call; who sets it to false does from then on
	ashore sync.Once   // Close need not wait for it any more
}

// unhindered returns the tool of a call of which nothing that is known has to be waited for before its plugin has it; nil if
// something has. The call must be made with that tool: what the catalogue has of its name may be another one a moment later.
func (h *Host) unhindered(call *tool.Call) *catalog.Tool {
	if len(call.Arguments) > expressArguments {
		return nil
	}
	t := h.cfg.Catalog.Snapshot().Tool(call.Tool)
	if t == nil {
		return nil
	}
	spec := &t.Spec
	if spec.Dynamic || spec.RateLimitPerMinute > 0 || len(spec.RequiresAuth) > 0 || h.gates.limit(call.Tool) > 0 {
		return nil
	}
	for i := range h.cfg.Filters {
		if h.cfg.Filters[i].applies(call.Tool, spec.Tags) {
			return nil
		}
	}
	if h.cfg.Calls == nil || call.ID == "" {
		return t
	}
	if spec.HasSideEffects() || h.cfg.Calls.Known(callstore.Key{Principal: call.Principal, Session: call.Session, ID: call.ID}) {
		return nil
	}
	return t
}

// board lets Close wait for a call that goes by express. It returns false if the host is closed.
func (h *Host) board() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.aboard.Add(1)
	return true
}

// begin does what stands before the plugin, and gives it the call, which is of the tool t.
func (x *express) begin(call *tool.Call, t *catalog.Tool, opened func(tool.Execution)) {
	defer func() {
		if p := recover(); p != nil { // a bug is for who called
			x.wreck(p)
			panic(p)
		}
	}()
	todo, err := x.host.openOf(x.ctx, &x.e, call, t)
	if err != nil {
		x.leave(failed(call, err))
		return
	}
	opened(&x.e)
	if x.e.minted {
		x.stop = context.AfterFunc(x.ctx, x.e.Close)
	}
	if todo.run == nil { // it follows another call, which may take its time, or has its outcome
		x.later(x.arrive)
		return
	}
	switch todo.run.prepare(todo.submitted, true) {
	case preparedEnded:
		x.arrive()
	case preparedLate:
		x.later(func() { todo.do(); x.arrive() })
	case preparedReady:
		x.depart(todo.run)
	}
}

// wreck gives back what a call has that a bug has ended while it began: its place, its id, and the wait of Close.
func (x *express) wreck(bug any) {
	defer x.ashore.Do(x.host.aboard.Done)
	x.parked.Store(false) // whatever the plugin says of it
	if x.stop != nil {
		x.stop()
	}
	place := x.f.place
	if place != nil && place.answered() && place.instance != nil {
		if x.f.wire != nil {
			x.f.wire.Close()
		}
		x.f.supervisor.release(place)
	}
	outcome := tool.Outcome{Err: tool.Errorf(tool.KindInternal, "toolhost has a bug: %v", bug)}
	switch r := x.e.run; {
	case r == nil || x.e.replayed: // it has none of its own
	case place == nil:
		r.finishWithout(outcome)
	default:
		r.finish(outcome)
	}
}

// depart gives the call to an instance that is ready; where there is none, it is carried like any other.
func (x *express) depart(r *run) {
	s := x.host.supervisor(r.tool.Plugin)
	place := s.ask(r)
	x.f = follower{run: r, supervisor: s, place: place, attempt: 1}
	if !place.ready() {
		x.later(func() { x.carry(1, place) })
		return
	}
	x.f.instance = place.instance
	started := x.f.start(func(_ context.Context, start pluginwire.Start) (*pluginwire.Call, error) {
		return x.f.instance.proc.Conn().TryStart(start)
	})
	switch {
	case started:
		x.park()
	case x.f.fate == fateMoved:
		s.release(place)
		x.later(func() { x.carry(1, nil) })
	default:
		s.release(place)
		r.dropText()
		x.arrive()
	}
}

// park leaves the call to the plugin until that says something of it, or its time is up, or somebody cancels it.
func (x *express) park() {
	x.parked.Store(true)
	if !x.f.wire.Await(x.heard) {
		x.heard(-1)
	}
	x.f.run.ctx.OnEnd(func() { x.heard(-1) })
}

// heard is called when there is a reason to go on: the end of the call, of so many bytes; or anything else, which is -1.
func (x *express) heard(end int) {
	switch {
	case !x.parked.CompareAndSwap(true, false): // somebody else has
	case end >= 0 && end <= expressResult:
		x.f.hasty = true
		x.follow()
	default:
		x.later(x.follow)
	}
}

// follow brings the call to its end. It waits for nothing if the plugin has said how it ended.
func (x *express) follow() {
	x.f.follow()
	x.f.wire.Close()
	x.f.supervisor.release(x.f.place)
	r := x.f.run
	if x.f.fate == fateEnded {
		r.dropText()
		x.arrive()
		return
	}
	x.later(func() {
		if r.again(&x.f, passed) {
			x.carry(x.f.attempt+1, nil)
			return
		}
		r.dropText()
		x.arrive()
	})
}

// carry brings the call to its end like any other, from this try on, and waits for a place that it has asked for, if it has.
func (x *express) carry(attempt uint32, asked *seat) {
	r := x.e.run
	r.carry(attempt, asked, passed)
	r.dropText()
	x.arrive()
}

// passed is what leaves a gate that nobody had to enter.
func passed() {}

// arrive brings the outcome to the caller, and waits for it only where the call follows another one.
func (x *express) arrive() {
	ev, err := x.e.Next(x.ctx)
	if err != nil {
		ev = failed(&tool.Call{ID: x.e.id}, err)
	}
	if x.stop != nil {
		x.stop()
	}
	x.leave(ev)
}

func (x *express) leave(ev tool.Event) {
	defer x.ashore.Do(x.host.aboard.Done)
	x.done(ev)
	x.e.letGo()
}

// later goes on in a goroutine, which Close waits for as long as the call is aboard.
func (x *express) later(f func()) { x.host.pool.Go(f) }
