package host

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/pluginconn"
	"github.com/toolhost/toolhost/internal/host/supervisor"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxInlineArguments bounds the arguments of a call on the inline path, because they are parsed
	// and checked on the goroutine that reads the caller's stream.
	maxInlineArguments = 4 << 10
	// maxInlineResult bounds the result that is handled on the goroutine that reads the plugin's
	// stream.
	maxInlineResult = 8 << 10
)

// inlineCall is a call on the inline path. It takes the steps of every call (claim, prepare, route,
// attempt, finish) without a goroutine of its own. Passing a call from one goroutine to another
// costs about as much as everything else that the host does with it. So the goroutine that reads
// the caller's stream carries the call to the plugin, and the goroutine that reads the plugin's
// stream carries the outcome to the caller.
//
// Neither goroutine may block. So inlineTool admits only calls that wait for nothing but their
// tool. If such a call has to wait after all, or if anything other than a small answer of the tool
// arrives, the call continues in a goroutine (see later).
//
// While the plugin has the call, no goroutine owns it (parked). The answer of the plugin, a cancel
// and the deadline may arrive at the same time. The goroutine that sets parked to false owns the
// call from then on.
type inlineCall struct {
	host    *Host
	ctx     context.Context // of the caller
	done    func(tool.Event)
	e       execution
	stop    func() bool // ends what closes e with ctx; nil: nothing does
	attempt attempt
	parked  atomic.Bool
	left    sync.Once // frees the place that enterInline gave
}

// inlineTool returns the tool of a call for the inline path, with the settings for the call. The
// tool is nil if the call may have to wait for anything but its tool. The caller must use the
// returned tool for the call, because another tool may get the name a moment later.
func (h *Host) inlineTool(ctx context.Context, call *tool.Call) toolView {
	if len(call.Arguments) > maxInlineArguments {
		return toolView{}
	}
	settings, snapshot := h.generations.view(h.cfg.Catalog)
	t := snapshot.Tool(call.Tool)
	if t == nil || !mayCall(ctx, call).use(call.Tool) {
		return toolView{}
	}
	spec := &t.Spec
	if spec.Dynamic || spec.RateLimitPerMinute > 0 || len(spec.RequiresAuth) > 0 || t.MaxConcurrent > 0 || len(t.Filters) > 0 || t.AgentRates.Set() {
		return toolView{}
	}
	for i := range settings.Filters {
		if settings.Filters[i].applies(call.Tool, spec.Tags) {
			return toolView{}
		}
	}
	if h.cfg.Calls == nil || call.ID == "" {
		return toolView{t, settings}
	}
	if spec.HasSideEffects() || h.cfg.Calls.Known(callstore.Key{Principal: call.Principal, Session: call.Session, ID: call.ID}) {
		return toolView{}
	}
	return toolView{t, settings}
}

// enterInline makes Close wait for a call on the inline path. It returns false if the host is
// closed.
func (h *Host) enterInline() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.inline.Add(1)
	return true
}

// begin carries the call to the plugin. in is what inlineTool returned for the call.
func (x *inlineCall) begin(call *tool.Call, in toolView, received time.Time, opened func(tool.Execution)) {
	defer func() {
		if p := recover(); p != nil { // the caller handles it
			x.abort(p)
			panic(p)
		}
	}()
	todo, err := x.host.openInline(x.ctx, &x.e, call, in, received)
	if err != nil {
		x.host.refused(call.Tool, err)
		x.leave(failed(call.ID, err))
		return
	}
	opened(&x.e)
	if x.e.generated {
		x.stop = context.AfterFunc(x.ctx, x.e.Close)
	}
	if todo.call == nil { // it joined another call, or has ended
		x.later(x.end)
		return
	}
	switch todo.call.prepare(todo.submitted, true) {
	case prepareEnded:
		x.end()
	case prepareMustWait:
		x.later(func() { todo.do(); x.end() })
	case prepareReady:
		x.dispatch(todo.call)
	}
}

// abort ends a call after a panic in begin. It frees the call's instance and its id, and Close no
// longer waits for the call.
func (x *inlineCall) abort(bug any) {
	defer x.left.Do(x.host.inline.Done)
	x.parked.Store(false) // nothing that the plugin says matters
	if x.stop != nil {
		x.stop()
	}
	lease := x.attempt.lease
	if lease != nil && lease.Answered() && lease.Instance() != nil {
		if x.attempt.wire != nil {
			x.attempt.wire.Close()
		}
		lease.Release()
	}
	outcome := tool.Outcome{Err: tool.Errorf(tool.KindInternal, "toolhost has a bug: %v", bug)}
	switch c := x.e.call; {
	case c == nil || x.e.replayed: // no call of its own
	case lease == nil:
		c.finishUnexecuted(outcome)
	default:
		c.finish(outcome)
	}
}

// dispatch gives the call to an instance that is ready. If there is none, the call continues in a
// goroutine.
func (x *inlineCall) dispatch(c *call) {
	s := x.host.plugins.Of(c.tool.Plugin, identity.TenantOf(c.request.Principal))
	lease := s.Ask(supervisor.Request{Call: &c.request, State: (*leased)(c)})
	x.attempt = attempt{call: c, supervisor: s, lease: lease, number: 1}
	if !lease.Ready() {
		x.later(func() { x.route(1, lease) })
		return
	}
	x.attempt.instance = lease.Instance()
	started := x.attempt.start(func(_ context.Context, start pluginconn.Start) (pluginconn.Call, error) {
		return x.attempt.instance.Conn().TryStart(start)
	})
	switch {
	case started:
		x.park()
	case x.attempt.result == attemptMoved:
		lease.Release()
		x.later(func() { x.route(1, nil) })
	default:
		lease.Release()
		c.dropArguments()
		x.end()
	}
}

// park leaves the call to the plugin until the plugin sends an event of the call, or the context of
// the call ends.
func (x *inlineCall) park() {
	timer := &x.attempt.call.timer
	x.parked.Store(true) // from here on, another goroutine may own the call
	if !x.attempt.wire.Await(x.wake) {
		x.wake(-1)
	}
	timer.OnEnd(func() { x.wake(-1) })
}

// wake continues a parked call. end is the size in bytes of the outcome that has arrived, or -1 if
// anything else has happened.
func (x *inlineCall) wake(end int) {
	switch {
	case !x.parked.CompareAndSwap(true, false): // another goroutine owns the call
	case end >= 0 && end <= maxInlineResult:
		x.attempt.mustNotWait = true
		x.follow()
	default:
		x.later(x.follow)
	}
}

// follow follows the call to its end. It does not block if the outcome has arrived.
func (x *inlineCall) follow() {
	x.attempt.follow()
	x.attempt.wire.Close()
	x.attempt.lease.Release()
	c := x.attempt.call
	if x.attempt.result == attemptEnded {
		c.dropArguments()
		x.end()
		return
	}
	x.later(func() {
		if x.attempt.again(func() {}) {
			x.route(x.attempt.number+1, nil)
			return
		}
		c.dropArguments()
		x.end()
	})
}

// route executes the call in a goroutine, from attempt number on. asked is a lease that the call
// has requested, or nil.
func (x *inlineCall) route(number uint32, asked *supervisor.Lease) {
	c := x.e.call
	c.route(number, asked, func() {})
	c.dropArguments()
	x.end()
}

// end passes the outcome to the caller. It waits only if this call has joined another call, for the
// outcome of that call.
func (x *inlineCall) end() {
	ev, err := x.e.Next(x.ctx)
	if err != nil {
		ev = failed(x.e.id, err)
	}
	if x.stop != nil {
		x.stop()
	}
	x.leave(ev)
}

func (x *inlineCall) leave(ev tool.Event) {
	defer x.left.Do(x.host.inline.Done)
	x.done(ev)
	x.e.unfollow()
}

// later runs f, which continues the call, in a goroutine. Close waits for the goroutine.
func (x *inlineCall) later(f func()) { x.host.pool.Go(f) }
