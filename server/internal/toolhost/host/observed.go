package host

import (
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// callReport collects the data of one call for CallEnd. The call may end on another goroutine than
// the one that executes it, so all fields that change are atomic. A nil callReport collects
// nothing, because there is no observer.
type callReport struct {
	observer Observer
	span     Span         // nil: the call is not recorded
	waited   atomic.Int64 // nanoseconds until the first attempt; 0: none yet
	attempts atomic.Int32
	cold     atomic.Bool
}

// observe begins to report a call that has just been made. It replaces the trace context of the
// caller by the one that the plugin and the filters get.
//
// The sampled flag of a caller is only a wish, because the operator decides which callers may have
// their calls recorded. The plugin and the filters' calls follow the flag without a further check.
// So after observe, the context is sampled only if the host records the call. The context of a call
// that is not recorded keeps the ids of the caller, so that log records lead to the caller's trace.
// This also applies to a host without an observer.
func (c *call) observe() {
	if observer := c.settings.Observer; observer != nil && c.kind != Review {
		c.observed = &callReport{observer: observer, span: observer.CallBegan(&c.request, c.kind, c.arrived)}
	}
	if span := c.observed.recorded(); span != nil {
		c.request.Traceparent = span.Traceparent()
	} else {
		c.request.Traceparent = unsampled(c.request.Traceparent)
	}
}

// unsampled returns a trace context without the sampled flag, or "" for an ill-formed one, which a
// plugin could read in another way.
func unsampled(traceparent string) string {
	context, ok := trace.Parse(traceparent)
	if ok && !context.Sampled {
		return traceparent // without an allocation
	}
	context.Sampled = false
	return context.String()
}

// recorded returns the span of the call; nil if the call is not recorded. Code whose event has
// attributes that take time to compute checks it for nil first.
func (r *callReport) recorded() Span {
	if r == nil {
		return nil
	}
	return r.span
}

// attempted records that an instance gets the call.
func (r *callReport) attempted(a *attempt) {
	if r == nil {
		return
	}
	r.attempts.Add(1)
	r.waited.CompareAndSwap(0, max(int64(a.began.Sub(a.call.arrived)), 1))
	if r.span == nil {
		return
	}
	r.span.Event("attempt", slog.Int64("toolhost.attempt", int64(a.number)), slog.String("toolhost.plugin.name", a.supervisor.Name()),
		slog.String("toolhost.instance.id", a.instance.ID()))
}

// acquired records that the call got an instance, and whether the call waited for its launch. asked
// is the time at which the call asked for an instance.
func (r *callReport) acquired(asked time.Time, in *supervisor.Instance) {
	if r == nil {
		return
	}
	ready, launch := in.Launched()
	cold := ready.After(asked)
	if cold {
		r.cold.Store(true)
	}
	if r.span == nil {
		return
	}
	if cold {
		r.span.Event("launched", slog.String("toolhost.instance.id", in.ID()), slog.Float64("toolhost.launch.duration", launch.Seconds()))
	}
	r.span.Event("instance acquired", slog.Float64("toolhost.wait.duration", time.Since(asked).Seconds()))
}

// slowEnter is the shortest wait for a limit of concurrent calls that the span records as an event.
const slowEnter = time.Millisecond

// entered records that a limit of concurrent calls admitted the call. since is the time at which
// the call began to wait for the limit.
func (r *callReport) entered(since time.Time) {
	if r == nil || r.span == nil {
		return
	}
	if waited := time.Since(since); waited >= slowEnter {
		r.span.Event("concurrency limit passed", slog.Float64("toolhost.wait.duration", waited.Seconds()))
	}
}

// retries records that an attempt failed, and that the call waits before the next attempt.
func (r *callReport) retries(number uint32, failure *tool.Error, wait time.Duration) {
	if r == nil || r.span == nil {
		return
	}
	r.span.Event("retry", slog.Int64("toolhost.attempt", int64(number)), slog.String("error.type", string(failure.Kind)),
		slog.Float64("toolhost.wait.duration", wait.Seconds()))
}

// ended reports the outcome.
func (r *callReport) ended(c *call, outcome *tool.Outcome) {
	if r == nil {
		return
	}
	r.observer.CallEnded(&CallEnd{
		Call: &c.request, Kind: c.kind, Plugin: c.plugin(), Span: r.span, Outcome: outcome,
		Arrived: c.arrived, Total: time.Since(c.arrived), Waited: time.Duration(r.waited.Load()), Cost: c.report.Cost(),
		Attempts: int(r.attempts.Load()), Cold: r.cold.Load(),
	})
}

// decided reports the decision about a call.
func (r *callReport) decided(entry *audit.Decision) {
	if r == nil {
		return
	}
	r.observer.CallDecided(entry.Outcome, entry.Rule)
	if r.span == nil {
		return
	}
	attributes := []slog.Attr{slog.String("toolhost.decision", string(entry.Outcome))}
	if entry.Rule != "" {
		attributes = append(attributes, slog.String("toolhost.rule", entry.Rule))
	}
	if entry.Approval != nil {
		attributes = append(attributes, slog.String("toolhost.approved_by", entry.Approval.ApprovedBy))
	}
	r.span.Event("decided", attributes...)
}

// asked reports the end of a question.
func (r *callReport) asked(plugin string, kind tool.QuestionKind, outcome question.Outcome) {
	if r != nil && kind != "" {
		r.observer.CallAsked(plugin, kind, outcome)
	}
}

// refused reports a call that could not begin.
func (h *Host) refused(name string, err error) {
	if observer := h.generations.latest().Observer; observer != nil && err != nil {
		observer.CallRefused(name, tool.KindOf(err))
	}
}

// recordArguments adds the final arguments to the span of the call.
func (p *preparation) recordArguments() {
	span := p.call.observed.recorded()
	if span == nil {
		return
	}
	final, redactor := p.final, p.call.settings.Secrets.Redactor() // p must stay on the stack
	span.Arguments(func() string { return string(redactor.JSON(json.RawMessage(final.Canonical()))) })
}

// returned removes secrets from the spans that the plugin returned, and passes the spans to the
// observer.
func (a *attempt) returned(spans []trace.Span, dropped int) {
	redactor := a.call.settings.Secrets.Redactor()
	for i := range spans {
		spans[i] = redactor.Span(spans[i])
	}
	a.call.observed.span.Returned(a.supervisor.Name(), spans, dropped)
}
