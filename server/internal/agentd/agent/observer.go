package agent

import (
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Observer receives reports about runs, for metrics and traces. The methods must not block, must
// not change their arguments, and must be safe for concurrent use.
type Observer interface {
	RunObserver
	StepObserver
	WaitObserver
}

// RunObserver receives a report when the agent begins or ends to work on a run. A run works in
// stretches. A stretch ends when the run waits only for a person, when the run has ended, and when
// the agent closes. So the length of a stretch does not include the days between question and
// answer.
type RunObserver interface {
	// Sampled decides whether a run that begins a new trace is recorded.
	Sampled() bool
	// WorkBegan reports the beginning of a stretch.
	WorkBegan()
	// WorkEnded reports a whole stretch.
	WorkEnded(end *WorkEnd)
}

// StepObserver receives reports about the steps of a run: model requests, calls, and so on.
type StepObserver interface {
	// ModelAnswered reports a model request with its retries.
	ModelAnswered(end *ModelEnd)
	// CallEnded reports the end of a call of a tool, including agentd's own tools.
	CallEnded(end *CallEnd)
	// Appended reports a write to the journal.
	Appended(took time.Duration, err error)
}

// WaitObserver receives reports about runs that need a person.
type WaitObserver interface {
	// Asked reports a question to a person.
	Asked(kind string)
	// RunWaits reports that a run waits only for a person, and since when. A zero time reports that
	// the run no longer waits, or has left this process.
	RunWaits(run string, since time.Time)
}

// WorkEnd is a stretch of work on a run.
type WorkEnd struct {
	Run, Session, Agent, Model string
	// Context is the span of the stretch, and Parent is the span of the caller. Before is the span
	// of the previous stretch, which may have ended days ago. Parent and Before may be zero.
	Context    trace.Context
	Parent     trace.SpanID
	Before     trace.Context
	Began      time.Time
	Took       time.Duration
	Waits      bool              // for a person
	Finished   *loop.RunFinished // nil: the run goes on later
	SubRun     bool
	Foreground bool
}

// ModelEnd is a model request that has ended.
type ModelEnd struct {
	Context    trace.Context // of the stretch; the request is a span below it
	Model      string        // provider:name
	Session    string
	Began      time.Time
	Took       time.Duration
	FirstChunk time.Duration // until the model began to answer; 0: it did not
	Attempts   int
	Usage      tool.Usage // with that of failed attempts
	Cost       float64
	StopReason string // empty: the request failed
	Failure    string // one word
	Compaction bool   // the request was for a summary
}

// CallEnd is a call that has its result.
type CallEnd struct {
	Parent  trace.Context // the stretch in which the call was sent
	Context trace.Context // the span of the call
	ID      string
	Tool    string // "unknown" for a tool that the model invented
	Session string
	Began   time.Time
	Took    time.Duration
	Outcome string // ok, tool_error, or the kind of an error
}

// observed collects what the agent reports about a run to the observer. A nil observed does
// nothing. The methods are safe for concurrent use, because tasks report model requests.
type observed struct {
	observer Observer
	run      *run
	session  string

	mu    sync.Mutex
	began time.Time     // of the stretch; zero: the run does not work
	span  trace.Context // of the stretch, or of the last one
	last  trace.Context // of the stretch before; zero: there was none
	since time.Time     // when the run began to wait for a person; zero: it does not wait
	calls map[string]CallEnd
}

// observe returns the observed of a run, or nil if there is no observer.
func (r *run) observe() *observed {
	observer := r.config.Observer
	if observer == nil {
		return nil
	}
	return &observed{observer: observer, run: r, session: r.state.Started().Session, calls: make(map[string]CallEnd)}
}

// works notes whether the run works now.
func (o *observed) works(working bool) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if working == !o.began.IsZero() {
		return
	}
	if !working {
		o.endLocked(nil, true)
		return
	}
	started := o.run.state.Started()
	own, _ := trace.Parse(started.Traceparent)
	switch {
	case o.span.Valid():
		o.last = o.span
	case !o.run.fresh:
		o.last = own // another process began the run
	}
	o.span = own
	if o.last.Valid() {
		o.span.Span = trace.NewSpanID()
	}
	o.began = time.Now()
	o.observer.WorkBegan()
}

// waits notes whether the run waits only for a person. The wait began with the oldest request for a
// decision, which an earlier process may have made. A run that waits only for its sub-run's
// decision has no request, so its wait begins now.
func (o *observed) waits(waits bool) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if waits == !o.since.IsZero() {
		return
	}
	o.since = time.Time{}
	if waits {
		o.since = time.Now()
		for _, p := range o.run.state.Pending() {
			if p.Requested.Before(o.since) {
				o.since = p.Requested
			}
		}
	}
	o.observer.RunWaits(o.run.id, o.since)
}

// endLocked reports the stretch, if there is one.
func (o *observed) endLocked(finished *loop.RunFinished, waits bool) {
	if o.began.IsZero() {
		return
	}
	started := o.run.state.Started()
	parent, _ := trace.ParseSpanID(started.ParentSpan)
	o.observer.WorkEnded(&WorkEnd{
		Run: o.run.id, Session: started.Session, Agent: started.Agent, Model: started.Model, Context: o.span, Parent: parent, Before: o.last,
		Began: o.began, Took: time.Since(o.began), Waits: waits, Finished: finished, SubRun: o.run.sub, Foreground: started.Foreground,
	})
	o.began = time.Time{}
}

// end ends the stretch or the wait because the run leaves this process.
func (o *observed) end() {
	if o == nil {
		return
	}
	o.mu.Lock()
	o.endLocked(nil, false)
	o.mu.Unlock()
	o.waits(false)
}

// see follows a durable event.
func (o *observed) see(e loop.Event) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch p := e.Payload.(type) {
	case *loop.CallStarted:
		own, _ := trace.Parse(p.Traceparent)
		o.calls[p.CallID] = CallEnd{Parent: o.span, Context: own, ID: p.CallID, Session: o.run.state.Started().Session, Began: e.Time}
	case *loop.CallResult:
		call, ok := o.calls[p.CallID]
		if !ok { // it was not sent, or by an earlier process
			call = CallEnd{ID: p.CallID, Parent: o.span, Began: e.Time}
		}
		delete(o.calls, p.CallID)
		call.Tool, call.Took, call.Outcome = o.run.offered.labelOf(p.Tool), max(e.Time.Sub(call.Began), 0), outcomeOf(p)
		o.observer.CallEnded(&call)
	case *loop.DecisionRequested:
		o.observer.Asked(string(p.Kind))
	case *loop.RunFinished:
		o.endLocked(p, false)
	}
}

// unknownTool replaces the names of tools that a model invents.
const unknownTool = "unknown"

// labelOf returns the name of a tool that was offered, or unknownTool.
func (o *offer) labelOf(name string) string {
	if o.find(name) != nil || loop.IsSystemTool(name) {
		return name
	}
	return unknownTool
}

func outcomeOf(p *loop.CallResult) string {
	switch {
	case p.Failure != nil:
		return string(p.Failure.Kind)
	case p.Result.IsError:
		return "tool_error"
	default:
		return "ok"
	}
}

// answered reports a model request. A task may call it.
func (o *observed) answered(end ModelEnd) {
	if o == nil {
		return
	}
	o.mu.Lock()
	end.Context = o.span
	o.mu.Unlock()
	o.observer.ModelAnswered(&end)
}

// modelTiming measures one model request with its retries. One goroutine uses it.
type modelTiming struct {
	began      time.Time
	first      time.Duration
	attempts   int
	compaction bool
}

func (m *modelTiming) begin() { m.began = time.Now() }

// chunk records that the model has sent something.
func (m *modelTiming) chunk() {
	if m.first == 0 {
		m.first = max(time.Since(m.began), 1)
	}
}

// The values of ModelEnd.Failure.
const (
	failedOverflow  = "context_overflow"
	failedMalformed = "malformed"
	failedOtherwise = "failed"
)

// ModelFailures returns all values of ModelEnd.Failure.
func ModelFailures() []string { return []string{failedOverflow, failedMalformed, failedOtherwise} }

// modelEnded reports a model request that has a response, or failed.
func (o *observed) modelEnded(m *modelTiming, route *route, resp *model.Response, failure *model.Error) {
	if o == nil {
		return
	}
	end := ModelEnd{
		Model: route.current().Model.Name(), Session: o.session, Began: m.began, Took: time.Since(m.began), FirstChunk: m.first,
		Attempts: m.attempts, Usage: route.wasted, Cost: route.cost, Compaction: m.compaction,
	}
	switch {
	case resp != nil:
		end.Usage, end.StopReason = route.wasted.Add(resp.Usage), string(resp.StopReason)
		end.Cost += route.current().cost(resp.Usage)
	case failure.ContextOverflow:
		end.Failure = failedOverflow
	case failure.Malformed:
		end.Failure = failedMalformed
	default:
		end.Failure = failedOtherwise
	}
	o.answered(end)
}
