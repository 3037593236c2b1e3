package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/host/deadline"
	"github.com/toolhost/toolhost/internal/host/eventlog"
	"github.com/toolhost/toolhost/internal/host/frozen"
	"github.com/toolhost/toolhost/internal/host/ledger"
	"github.com/toolhost/toolhost/internal/host/result"
	"github.com/toolhost/toolhost/internal/host/supervisor"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
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
	host     *Host
	request  tool.Call // without the arguments
	tool     *catalog.Tool
	arrived  time.Time
	internal bool // a request to a filter: no filters, no shaping

	events   eventlog.Call
	entry    ledger.Entry[*call]
	timer    deadline.Timer
	memory   reservation
	args     argumentText
	approval approval
	report   result.Report

	// The schema of structured results, as the session of the call sees the tool; nil: none.
	output atomic.Pointer[catalog.Schema]
}

var _ supervisor.CallState = (*call)(nil)

// newCall returns a call that has not begun. An empty id is generated. fresh is for
// ledger.Entry.Init.
func (h *Host) newCall(request *tool.Call, t *catalog.Tool, id string, generated, fresh bool) (*call, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, tool.Errorf(tool.KindUnavailable, "%w", errStopping)
	}
	c := &call{host: h, request: *request, tool: t, arrived: request.ReceivedAt}
	if c.arrived.IsZero() {
		c.arrived = time.Now()
	}
	c.request.ID = id
	c.request.Arguments = nil // args has them, as long as they are needed
	c.timer.Init(&h.deadlines)
	c.entry.Init(h.ledger, c, ledger.Key{Principal: request.Principal, Session: request.Session, ID: id}, generated, fresh)
	return c, nil
}

// ctx returns the context of the call. It ends at the deadline, at a cancel, when the host closes
// and after the call has ended. Its cause says which.
func (c *call) ctx() context.Context { return &c.timer.Ctx }

// spawn runs f in a goroutine of the host. The goroutine ends with the call, which has a deadline.
func (c *call) spawn(f func()) {
	if !c.host.spawn(f) {
		c.finishUnexecuted(tool.Outcome{Err: tool.Errorf(tool.KindUnavailable, "%w", errStopping)})
	}
}

// Cancel ends the context of the call with a cause. It does not block.
func (c *call) Cancel(cause error) { c.timer.Cancel(cause) }

// abandon ends a call whose arguments will never be complete.
func (c *call) abandon(cause error) {
	c.finishUnexecuted(tool.Outcome{Err: tool.Errorf(tool.KindCancelled, "the call was abandoned: %w", cause)})
}

// Executed reports whether the plugin may have begun to execute the call, not only to preview it.
func (c *call) Executed() bool { return c.args.isComplete() }

// Succeeded reports whether the call has a result.
func (c *call) Succeeded() bool {
	outcome, _ := c.events.Outcome()
	return outcome != nil && outcome.Err == nil
}

// Sum returns the digest of the tool and the arguments; zero before the call has claimed its id.
func (c *call) Sum() ledger.Sum { return c.entry.Sum() }

// plugin returns the name of the plugin that has the tool.
func (c *call) plugin() string { return c.tool.Plugin.Info.Name }

// hasFilters reports whether filters are asked about the call.
func (c *call) hasFilters() bool {
	return len(c.host.cfg.Filters) > 0 && len(c.filters().filters) > 0
}

// preview lets the plugin look at the arguments while they arrive.
func (c *call) preview(text []byte) {
	c.args.preview(text)
	c.timer.Set(c.host.cfg.MaxTimeout)
	c.spawn(c.execute)
}

// setDeadline gives a call whose arguments are complete the time that it has.
func (c *call) setDeadline() {
	timeout := c.timeout()
	if !c.tool.Spec.ProgressExtendsTimeout {
		c.timer.Set(timeout)
		return
	}
	most := c.host.cfg.MaxTimeout
	if c.request.Timeout > 0 {
		most = min(most, c.request.Timeout)
	}
	c.timer.SetExtendable(timeout, most)
}

// timeout returns how long the call may take: what its caller wants, bounded by the timeout of the
// tool and of the host.
func (c *call) timeout() time.Duration {
	d, spec := c.request.Timeout, &c.tool.Spec
	if spec.Timeout > 0 && (d == 0 || d > spec.Timeout) {
		d = spec.Timeout
	}
	if d == 0 {
		d = c.host.cfg.DefaultTimeout
	}
	return min(d, c.host.cfg.MaxTimeout)
}

// secrets returns the secrets that the tool declares, as they are now. From now on, toolhost
// redacts them in all that plugins say.
func (c *call) secrets() (map[string]string, *tool.Error) {
	values, err := c.host.cfg.Secrets.View().Values(c.plugin(), c.tool.Spec.RequiresAuth)
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
		return tool.Errorf(tool.KindTimeout, "the call waited for an instance of %q until %w; nothing was executed", c.plugin(), cause)
	case errors.Is(cause, errStopping):
		return tool.Errorf(tool.KindUnavailable, "%w; nothing was executed", cause)
	default:
		return tool.Errorf(tool.KindCancelled, "%w; nothing was executed", cause)
	}
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

// begin returns the text that the plugin gets first, and whether that is all.
func (a *argumentText) begin() (text []byte, complete bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = len(a.text)
	return a.text[:a.sent:a.sent], a.complete
}

// next returns the text that the plugin gets next. If the text is complete and was replaced, the
// plugin gets the replacement for all that it has.
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

// approval is what the host keeps of a call's approval while the call runs. The zero value is that
// of a call without one. All methods are safe for concurrent use.
type approval struct {
	mu       sync.Mutex
	decision *audit.Decision   // see setDecision
	taken    *frozen.Arguments // from the cache, for this call; nil: none
	key      frozen.Key        // of taken
}

// setDecision keeps the decision about the call for a later entry of the audit log.
func (a *approval) setDecision(d audit.Decision) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decision = &d
}

// lastDecision returns what setDecision has kept, or a zero decision.
func (a *approval) lastDecision() audit.Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.decision == nil {
		return audit.Decision{}
	}
	return *a.decision
}

// setFrozen notes that the call has taken its final arguments from the cache.
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

// giveBack returns the taken arguments to the cache, for a call that was not executed.
func (a *approval) giveBack(cache *frozen.Cache) {
	a.mu.Lock()
	taken, key := a.taken, a.key
	a.taken = nil
	a.mu.Unlock()
	if taken != nil {
		cache.Store(key, *taken)
	}
}

func (a *approval) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decision, a.taken = nil, nil
}

// declaredValues returns the context values that a tool declares. It gets no others.
func declaredValues(values map[string]json.RawMessage, keys []string) map[string]json.RawMessage {
	var declared map[string]json.RawMessage
	for _, key := range keys {
		if value, ok := values[key]; ok {
			if declared == nil {
				declared = map[string]json.RawMessage{}
			}
			declared[key] = value
		}
	}
	return declared
}

// checkRate returns why the rate limit refuses the call, or nil. take counts a call that may start.
// If the audit log has the permission of the call, it gets the refusal too.
func (c *call) checkRate(take bool) *tool.Error {
	limit := c.tool.Spec.RateLimitPerMinute
	if limit == 0 {
		return nil
	}
	refused := c.host.rates.Check(&c.request, int(limit), take)
	if refused == nil {
		return nil
	}
	entry := c.approval.lastDecision()
	entry.Outcome, entry.Reason = audit.RateLimited, refused.Message
	return c.host.authorizer.record(c.ctx(), entry, refused)
}
