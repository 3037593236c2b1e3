package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// forwarder sends the arguments of calls to tools while the model writes them. It opens the calls
// of tools that declare partial_arguments, forwards the text, and shows what the tools report. It
// never completes a call, so toolhost executes nothing before the response is in the journal. A
// forwarder serves one attempt at one response, in the goroutine that reads the response.
type forwarder struct {
	request *modelRequest
	calls   []*preview // by index in the response; nil without partial arguments
	opened  int

	reading  context.Context    // ends with the response
	stop     context.CancelFunc // ends reading
	ctx      context.Context    // of requests to toolhost
	cancel   context.CancelFunc // ends ctx
	watchers sync.WaitGroup     // the goroutines of the calls
}

const (
	// maxPreviews is the largest number of previews in one response. A person cannot follow more,
	// and a plugin with one process per call would start a process for each.
	maxPreviews = 16
	// previewGrace is how long the end of a response waits for text that is being sent to toolhost.
	previewGrace = time.Second
)

func (q *modelRequest) forward() *forwarder {
	f := &forwarder{request: q}
	f.ctx, f.cancel = context.WithCancel(q.task.ctx)
	f.reading, f.stop = context.WithCancel(f.ctx)
	return f
}

// begin opens a call if its tool declares partial arguments.
func (f *forwarder) begin(c *model.CallBegun) {
	for len(f.calls) <= c.Index {
		f.calls = append(f.calls, nil)
	}
	q := f.request
	info := q.offered.find(c.Name)
	if f.opened == maxPreviews || f.calls[c.Index] != nil || info == nil || !info.Spec.PartialArguments || info.UnavailableReason != "" {
		return
	}
	f.opened++
	p := &preview{more: make(chan struct{}, 1)}
	id := loop.CallID(q.started.RunID, q.turn, c.Index)
	p.call = tool.Call{
		ID: id, Tool: c.Name, Session: q.started.Session, Context: q.context, MaxShown: q.shown, Traceparent: q.started.Trace(id),
		Agent: q.started.AgentName(), Run: q.started.RunID,
	}
	if info.Spec.HasSideEffects() {
		p.call.Ledger = cmp.Or(q.ledger, q.run.config.LedgerID())
	}
	f.calls[c.Index] = p
	f.watchers.Go(func() { f.send(p) }) // ends with reading, or with ctx
}

// add takes a piece of the arguments. It does not block.
func (f *forwarder) add(d *model.ArgumentDelta) {
	if d.Index < len(f.calls) && f.calls[d.Index] != nil {
		f.calls[d.Index].add(d.Text)
	}
}

// send opens the call and forwards its text until the response ends.
func (f *forwarder) send(p *preview) {
	defer f.guard(p)
	execution, err := f.request.run.config.Tools.Open(f.ctx, p.call, false)
	if err != nil {
		f.fail(p, err)
		return
	}
	p.execution = execution
	f.watchers.Go(func() { f.show(p) }) // ends with reading
	for {
		select {
		case <-p.more:
		case <-f.reading.Done():
			return
		}
		if err := execution.Send(f.ctx, p.next(), false); err != nil {
			f.fail(p, err)
			return
		}
	}
}

// show forwards what the tool reports until the response ends.
func (f *forwarder) show(p *preview) {
	defer f.guard(p)
	q := f.request
	for {
		event, err := p.execution.Next(f.reading)
		switch {
		case err != nil && f.reading.Err() != nil:
			return // toolCall reads the events from here on
		case err != nil:
			f.fail(p, err)
			return
		case event.Ended != nil:
			f.fail(p, event.Ended.Err)
			return
		case event.Status != nil:
			q.run.report(update{task: q.task, passing: &loop.CallStatus{CallID: p.call.ID, Tool: p.call.Tool, Status: *event.Status}})
		}
	}
}

// fail marks a preview as failed. The call is not affected: it is opened again.
func (f *forwarder) fail(p *preview, err error) {
	p.fail()
	if f.ctx.Err() == nil {
		f.request.run.log.to(loglevel.Tools).Warn("a tool cannot preview its arguments", "tool", p.call.Tool, "call", p.call.ID, "error", err)
	}
}

// guard recovers a panic in a preview's goroutines. It costs only the preview.
func (f *forwarder) guard(p *preview) {
	if v := recover(); v != nil {
		p.fail()
		f.request.run.log.to(loglevel.Tools).Error("panic in a preview", "tool", p.call.Tool, "call", p.call.ID, "panic", v, "stack", string(debug.Stack()))
	}
}

// finish returns the previews that can be completed when the response is complete.
func (f *forwarder) finish() previews {
	f.settle()
	var open previews
	for _, p := range f.calls {
		switch {
		case p == nil:
		case p.usable():
			open = append(open, p)
		default:
			p.abandon()
		}
	}
	f.calls = nil
	return open
}

// abandon closes the previews that finish did not return. It may be called after finish, and more
// than once.
func (f *forwarder) abandon() {
	f.cancel()
	f.watchers.Wait()
	for _, p := range f.calls {
		if p != nil {
			p.abandon()
		}
	}
	f.calls = nil
}

// settle waits until no goroutine works on the previews.
func (f *forwarder) settle() {
	f.stop()
	late := time.AfterFunc(previewGrace, f.cancel)
	defer late.Stop()
	f.watchers.Wait()
}

// preview is a call that is open at toolhost with incomplete arguments.
type preview struct {
	call      tool.Call      // as it was opened, without arguments
	execution tool.Execution // nil: not opened
	more      chan struct{}  // capacity 1; signals new text

	mu     sync.Mutex
	text   []byte // what the model has written
	sent   int    // the length of text that toolhost has
	failed bool   // it cannot be completed
}

func (p *preview) add(text string) {
	p.mu.Lock()
	p.text = append(p.text, text...)
	p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
}

func (p *preview) next() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	piece := p.text[p.sent:len(p.text):len(p.text)]
	p.sent = len(p.text)
	return piece
}

func (p *preview) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

func (p *preview) usable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.execution != nil && !p.failed
}

// complete sends the rest of the arguments, so that toolhost executes the call, and returns the
// execution. It returns nil, and nothing is executed, if the call differs from the preview or
// toolhost cannot receive the rest.
func (p *preview) complete(ctx context.Context, call *tool.Call) tool.Execution {
	same := call.ID == p.call.ID && call.Tool == p.call.Tool && call.Session == p.call.Session && call.Approval == nil &&
		maps.EqualFunc(call.Context, p.call.Context, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
	if same && bytes.HasPrefix(call.Arguments, p.text[:p.sent]) &&
		p.execution.Send(ctx, json.RawMessage(call.Arguments[p.sent:]), true) == nil {
		return p.execution
	}
	p.abandon()
	return nil
}

// abandon closes the call without executing it.
func (p *preview) abandon() {
	if p.execution != nil {
		p.execution.Close()
	}
}

// previews are open calls whose response is on its way into the journal.
type previews []*preview

// take removes the preview of a call and returns it; nil if there is none.
func (s *previews) take(callID string) *preview {
	i := slices.IndexFunc(*s, func(p *preview) bool { return p.call.ID == callID })
	if i < 0 {
		return nil
	}
	p := (*s)[i]
	*s = slices.Delete(*s, i, i+1)
	return p
}

// abandon closes the previews that were not taken.
func (s *previews) abandon() {
	for _, p := range *s {
		p.abandon()
	}
	*s = nil
}

// hold keeps previews while the response is on its way into the journal. The first caller of claim
// gets them. If none has claimed them when the task ends, they are abandoned.
func (q *modelRequest) hold(open previews) (claim func() previews) {
	var mu sync.Mutex
	claim = func() previews {
		mu.Lock()
		defer mu.Unlock()
		claimed := open
		open = nil
		return claimed
	}
	if len(open) > 0 {
		q.run.group.Go(func() { // ends with the task
			<-q.task.ctx.Done()
			left := claim()
			left.abandon()
		})
	}
	return claim
}

// open starts the call. If a preview of the call is open, open completes the preview with the final
// arguments instead and returns looked = true.
func (e *toolCall) open(ctx context.Context, call *tool.Call) (execution tool.Execution, looked bool, err error) {
	if p := e.preview; p != nil {
		e.preview = nil
		if execution := p.complete(ctx, call); execution != nil {
			return execution, true, nil
		}
	}
	execution, err = e.run.config.Tools.Open(ctx, *call, true)
	return execution, false, err
}

// drop abandons a preview that was not completed.
func (e *toolCall) drop() {
	if e.preview != nil {
		e.preview.abandon()
	}
}

// previewFailed reports whether a call may have ended because its preview failed before it was
// complete. The call is then opened again. If it was executed after all, toolhost returns the same
// outcome.
func previewFailed(err *tool.Error) bool {
	if err == nil {
		return false
	}
	switch err.Kind {
	case tool.KindUnavailable, tool.KindCrashed, tool.KindTimeout, tool.KindCancelled:
		return true
	}
	return false
}
