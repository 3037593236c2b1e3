package host

import (
	"bytes"
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/deadline"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/eventlog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

// call is one call of a tool. It exists from its arrival until the ledger drops its outcome. Each
// caller that follows the call has an execution (execution.go). A caller may leave, and attach
// again later.
//
// Each part of a call owns a part of its state and its lock: the events for callers, the entry in
// the ledger, the deadline, the memory, the arguments, the approval, and the report about what
// toolhost did. ARCHITECTURE.md lists the steps of a call. At most one goroutine executes a call.
// Other goroutines may add arguments, cancel the call or end it at any time.
type call struct {
	services *services
	settings *generation // in force when the call began; it keeps them
	request  tool.Call   // without the arguments
	tool     *catalog.Tool
	arrived  time.Time
	kind     CallKind      // a FilterCall has no filters and no shaping, a Review executes nothing
	filtered *catalog.Tool // whose plugin applies the filter that the call asks to it; nil: another call
	counted  bool          // the host's usage counts the call until it ends
	cut      uint32        // the last attempt whose process ended before it had answered; 0: none

	events   eventlog.Call
	entry    ledger.Entry[*call]
	timer    deadline.Timer
	memory   reservation
	args     argumentText
	approval approval
	holding  *holding // nil: the call does not wait for a person
	report   result.Report
	observed *callReport // nil: there is no observer

	questions atomic.Pointer[question.Questions] // nil: the tool has not asked anything

	// The schema of structured results, as the session of the call sees the tool; nil: none.
	output atomic.Pointer[catalog.Schema]
}

var _ supervisor.CallState = (*leased)(nil)

// newCall returns a call that has not begun.
func (h *Host) newCall(request *tool.Call, in toolView, kind CallKind, id string, generated bool) (*call, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, tool.Errorf(tool.KindUnavailable, "%w", errStopping)
	}
	c := &call{services: h.services, settings: in.settings, request: *request, tool: in.tool, kind: kind, arrived: time.Now()}
	c.request.ID = id
	c.request.Arguments = nil // args has them, as long as they are needed
	c.timer.Init(h.ctx)
	c.observe()
	c.entry.Init(h.ledger, c, ledger.Key{Principal: request.Principal, Session: request.Session, ID: id}, generated)
	return c, nil
}

// ctx returns the context of the call. It ends at the deadline, at a cancel, when the host closes
// and after the call has ended. Its cause says which.
func (c *call) ctx() context.Context { return c.timer.Context() }

// spawn runs f in a goroutine of the host. The goroutine ends with the call, which has a deadline.
func (c *call) spawn(f func()) {
	guarded := func() {
		defer c.caught()
		f()
	}
	if !c.services.spawn(guarded) {
		c.finishUnexecuted(tool.Outcome{Err: tool.Errorf(tool.KindUnavailable, "%w", errStopping)})
	}
}

// caught must be deferred. A panic is a bug of toolhost; caught makes it the end of this call, so
// that it does not end toolhost with all other calls.
func (c *call) caught() {
	v := recover()
	if v == nil {
		return
	}
	c.logger(c.services.log.calls).Error("panic in a call", "panic", v, "stack", string(debug.Stack()))
	bug := "toolhost has a bug: a panic in a call: %v; "
	if c.executed() {
		kind := tool.KindInternal
		if c.tool.Spec.HasSideEffects() {
			kind = tool.KindOutcomeUnknown
			c.services.plugins.settler.Bar(c.entry.Key()) // the plugin may still execute it
		}
		c.finish(tool.Outcome{Err: tool.Errorf(kind, bug+"the plugin may have executed the call", v)})
	} else {
		c.finishUnexecuted(tool.Outcome{Err: tool.Errorf(tool.KindInternal, bug+"nothing was executed", v)})
	}
	// Nobody publishes the outcome if finish itself has the bug.
	c.events.End(tool.Outcome{CallID: c.request.ID, Err: tool.Errorf(tool.KindInternal, bug+"its outcome is lost", v)}, func(*tool.Outcome) {})
}

// Cancel ends the context of the call with a cause. It does not block.
func (c *call) Cancel(cause error) { c.timer.Cancel(cause) }

// abandon ends a call whose arguments will never be complete.
func (c *call) abandon(cause error) {
	c.finishUnexecuted(tool.Outcome{Err: tool.Errorf(tool.KindCancelled, "the call was abandoned: %w", cause)})
}

// executed reports whether the plugin may have begun to execute the call, not only to preview it.
func (c *call) executed() bool { return c.args.isComplete() }

// leased is a call as its supervisor sees it: it implements supervisor.CallState.
type leased call

// Executed implements supervisor.CallState.
func (l *leased) Executed() bool { return (*call)(l).executed() }

// Succeeded implements supervisor.CallState.
func (l *leased) Succeeded() bool {
	outcome, _ := l.events.Outcome()
	return outcome != nil && outcome.Err == nil
}

// Received implements supervisor.CallState.
func (l *leased) Received() time.Time { return l.arrived }

// Sum implements supervisor.CallState.
func (l *leased) Sum() ledger.Sum { return l.entry.Sum() }

// Cancel implements supervisor.CallState.
func (l *leased) Cancel(cause error) { l.timer.Cancel(cause) }

// plugin returns the name of the plugin that has the tool.
func (c *call) plugin() string { return c.tool.Plugin.Info.Name }

// hasFilters reports whether filters are asked about the call.
func (c *call) hasFilters() bool {
	return len(c.settings.Filters)+len(c.tool.Filters) > 0 && len(c.filters().filters) > 0
}

// preview lets the plugin look at the arguments while they arrive.
func (c *call) preview(text []byte) {
	c.args.preview(text)
	c.allowPause()
	c.timer.Set(c.settings.MaxTimeout)
	c.spawn(c.execute)
}

// setDeadline sets the deadline of a call whose arguments are complete.
func (c *call) setDeadline() {
	c.allowPause()
	timeout := c.settings.timeout(&c.request, &c.tool.Spec)
	if !c.tool.Spec.ProgressExtendsTimeout {
		c.timer.Set(timeout)
		return
	}
	most := c.settings.MaxTimeout
	if c.request.Timeout > 0 {
		most = min(most, c.request.Timeout)
	}
	c.timer.SetExtendable(timeout, most)
}

// timeout returns how long a call may take: the timeout that its caller requests, bounded by those
// of the tool and of the host.
func (g *generation) timeout(request *tool.Call, spec *tool.Spec) time.Duration {
	d := request.Timeout
	if spec.Timeout > 0 && (d == 0 || d > spec.Timeout) {
		d = spec.Timeout
	}
	if d == 0 {
		d = g.DefaultTimeout
	}
	return min(d, g.MaxTimeout)
}

// secrets returns the current values of the secrets that the tool declares. From now on, toolhost
// redacts these values in all output of plugins.
func (c *call) secrets() (map[string]string, *tool.Error) {
	values, err := c.settings.Secrets.View(c.request.Principal).Values(c.plugin(), c.tool.Spec.RequiresAuth)
	if err != nil {
		return nil, tool.Errorf(tool.KindUnavailable, "the tool %q cannot be called: %w; nothing was executed", c.request.Tool, err)
	}
	return values, nil
}

// unsent returns the failure of a call that reached no plugin because of err, or because its
// context has ended.
func (c *call) unsent(err error) *tool.Error {
	switch cause := context.Cause(c.ctx()); {
	case cause == nil:
		return tool.AsError(err)
	case errors.Is(cause, deadline.ErrPassed):
		return tool.Errorf(tool.KindTimeout, "the call waited for an instance of %q until %w; %s", c.plugin(), cause, c.aftermathUnsent())
	case errors.Is(cause, errStopping):
		return tool.Errorf(tool.KindUnavailable, "%w; %s", cause, c.aftermathUnsent())
	default:
		return tool.Errorf(tool.KindCancelled, "%w; %s", cause, c.aftermathUnsent())
	}
}

// aftermathUnsent returns a text for the caller that says which effects a call may have had whose
// last attempt executed nothing.
func (c *call) aftermathUnsent() string {
	if c.cut > 0 {
		return brokenOff
	}
	return "nothing was executed"
}

// size returns the approximate memory that the call takes after it has ended, in bytes.
func (c *call) size() int {
	size := c.events.Size() + len(c.request.ID) + len(c.request.Session)
	for key, value := range c.request.Context {
		size += len(key) + len(value)
	}
	if c.request.Approval != nil {
		size += len(c.request.Approval.Reason) + len(c.request.Approval.Arguments)
	}
	return size
}

// dropArguments frees the arguments. The ledger keeps a call long after its end.
func (c *call) dropArguments() {
	c.args.drop()
	c.approval.drop()
}

// argumentText is the text of a call's arguments on its way to the plugin. A plugin that previews
// gets the text as it grows; any other gets it at once. Filters and repairs may replace the text
// when it is complete. All methods are safe for concurrent use.
type argumentText struct {
	mu       sync.Mutex
	text     []byte
	sent     int           // how much of text the plugin has
	complete bool          // text is final: the plugin may execute the call
	replaced bool          // text is not what the plugin has previewed
	dropped  bool          // text is not needed any more
	more     chan struct{} // of capacity 1: text or complete has changed; nil: no preview
}

// preview begins a preview of the text so far. It must be called before the call is shared.
func (a *argumentText) preview(text []byte) {
	a.text, a.more = bytes.Clone(text), make(chan struct{}, 1)
}

// previews reports whether there is a preview.
func (a *argumentText) previews() bool { return a.more != nil }

// append adds text to a preview.
func (a *argumentText) append(text []byte) {
	if !a.previews() {
		return
	}
	a.mu.Lock()
	if !a.complete && !a.dropped {
		a.text = append(a.text, text...)
	}
	a.mu.Unlock()
	a.signal()
}

// signal wakes the goroutine that feeds a preview.
func (a *argumentText) signal() {
	select {
	case a.more <- struct{}{}:
	default: // it is awake, or there is no preview
	}
}

// finish sets the final text. given is the text that the caller sent.
func (a *argumentText) finish(text, given []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.replaced = !bytes.Equal(text, given)
	a.complete = true
	if !a.dropped { // else a preview has failed, and the call has ended
		a.text = text
	}
}

// begin returns the text that the plugin gets first. complete reports whether that is the whole
// text.
func (a *argumentText) begin() (text []byte, complete bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = len(a.text)
	return a.text[:a.sent:a.sent], a.complete
}

// next returns the text that the plugin gets next. If the text is complete and was replaced,
// replacement is the whole new text, and the plugin discards what it has received.
func (a *argumentText) next() (piece, replacement []byte, complete bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complete && a.replaced {
		replacement = a.text
	} else {
		piece = a.text[a.sent:len(a.text):len(a.text)]
	}
	a.sent = len(a.text)
	return piece, replacement, a.complete
}

// current returns the text so far.
func (a *argumentText) current() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text
}

func (a *argumentText) isComplete() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.complete
}

// drop frees the text.
func (a *argumentText) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text, a.sent, a.dropped = nil, 0, true
}

// approval holds what the host knows about the approval of a running call. The zero value is that
// of a call without an approval. All methods are safe for concurrent use.
type approval struct {
	mu       sync.Mutex
	decision *audit.Decision   // see setDecision
	taken    *frozen.Arguments // from the cache, for this call; nil: none
	key      frozen.Key        // of taken
	stands   *standingUse      // the standing approval of the call; nil: none
	used     string            // the decision whose approval no plugin has got yet; empty: none
}

// setDecision stores the decision about the call for a later entry of the audit log.
func (a *approval) setDecision(d audit.Decision) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decision = &d
}

// lastDecision returns the decision that setDecision stored, or the zero decision.
func (a *approval) lastDecision() audit.Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.decision == nil {
		return audit.Decision{}
	}
	return *a.decision
}

// setFrozen records that the call has taken its final arguments from the cache.
func (a *approval) setFrozen(args *frozen.Arguments, key frozen.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken, a.key = args, key
}

// frozen returns the final arguments that the call has taken from the cache, or nil.
func (a *approval) frozen() *frozen.Arguments {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.taken
}

// giveBack returns the taken arguments to the cache, and the approval of a held call to its
// decision, for a call that was not executed.
func (a *approval) giveBack(to *approvals) {
	a.mu.Lock()
	taken, key, used := a.taken, a.key, a.used
	a.taken, a.used = nil, ""
	a.mu.Unlock()
	if taken != nil {
		to.frozen.Store(key, *taken)
	}
	if used != "" {
		to.held.GiveBack(used)
	}
}

func (a *approval) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decision, a.taken, a.stands = nil, nil, nil
}

// rateLimits returns the limits of calls per minute that apply to the call.
func rateLimits(c *call) throttle.Limits {
	return throttle.Limits{Session: int(c.tool.Spec.RateLimitPerMinute), Agent: c.tool.AgentRates.For(c.request.Agent)}
}

// checkRate returns the error with which the rate limit refuses the call; nil if the limit allows
// it. take says that the call may start now, and counts it. If the audit log already has the
// permission of the call, checkRate adds the refusal.
func (c *call) checkRate(take bool) *tool.Error {
	refused := c.services.limits.rates.Check(&c.request, rateLimits(c), take)
	if refused == nil {
		return nil
	}
	entry := c.approval.lastDecision()
	entry.Outcome, entry.Reason = audit.RateLimited, refused.Message
	return c.decided(entry, refused)
}
