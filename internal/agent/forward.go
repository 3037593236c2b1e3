package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// forwarder lets tools look on while the model writes their arguments: it opens the calls of tools that want that,
// sends on the text as it comes, and shows what they report. It never completes a call, so nothing is executed; that is
// decided once the response is in the journal. It serves one try at one response, in the goroutine that reads it.
type forwarder struct {
	request *modelRequest
	calls   []*preview // by the call's place in the response; nil for one whose tool does not look on
	opened  int

	reading  context.Context    // ends when the response does
	stop     context.CancelFunc // ends reading
	ctx      context.Context    // of what is asked of toolhost
	cancel   context.CancelFunc // ends ctx
	watchers sync.WaitGroup     // the goroutines of the calls
}

const (
	// maxPreviews bounds the calls of one response that tools look on at: no person follows more, and a plugin with a
	// process per call would start one for each.
	maxPreviews = 16
	// previewGrace is how long a response waits for text that is being handed to toolhost.
	previewGrace = time.Second
)

func (q *modelRequest) forward() *forwarder {
	f := &forwarder{request: q}
	f.ctx, f.cancel = context.WithCancel(q.task.ctx)
	f.reading, f.stop = context.WithCancel(f.ctx)
	return f
}

// begin opens a call, if its tool wants to look on.
func (f *forwarder) begin(c *model.CallBegun) {
	for len(f.calls) <= c.Index {
		f.calls = append(f.calls, nil)
	}
	q := f.request
	wants := func(info tool.Info) bool {
		return info.Spec.Name == c.Name && info.Spec.PartialArguments && info.UnavailableReason == ""
	}
	if f.opened == maxPreviews || f.calls[c.Index] != nil || !slices.ContainsFunc(q.offered, wants) {
		return
	}
	f.opened++
	p := &preview{more: make(chan struct{}, 1)}
	id := loop.CallID(q.started.RunID, q.turn, c.Index)
	p.call = tool.Call{
		ID: id, Tool: c.Name, Session: q.started.Session, Context: q.context, MaxShown: q.shown, Traceparent: q.started.Trace(id),
	}
	if i := slices.IndexFunc(q.offered, wants); q.offered[i].Spec.HasSideEffects() {
		p.call.Ledger = q.run.agent.config.LedgerID()
	}
	f.calls[c.Index] = p
	f.watchers.Go(func() { f.send(p) }) // ends with reading, or with ctx
}

// add takes what the model wrote. It does not block.
func (f *forwarder) add(d *model.ArgumentDelta) {
	if d.Index < len(f.calls) && f.calls[d.Index] != nil {
		f.calls[d.Index].add(d.Text)
	}
}

// send opens the call and hands on its text until the response ends.
func (f *forwarder) send(p *preview) {
	defer f.guard(p)
	execution, err := f.request.run.agent.config.Tools.Open(f.ctx, p.call, false)
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

// show passes on what the tool reports until the response ends.
func (f *forwarder) show(p *preview) {
	defer f.guard(p)
	q := f.request
	for {
		event, err := p.execution.Next(f.reading)
		switch {
		case err != nil && f.reading.Err() != nil:
			return // what comes from here on is for whoever makes the call
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

// fail notes that a preview is over. The call itself is none the worse: it is made anew.
func (f *forwarder) fail(p *preview, err error) {
	p.fail()
	if f.ctx.Err() == nil {
		f.request.run.agent.config.Log.Warn("a tool cannot look on while its arguments are written",
			"run", f.request.run.id, "call", p.call.ID, "tool", p.call.Tool, "error", err)
	}
}

// guard is deferred by the goroutines of a call: a panic in a client costs a preview.
func (f *forwarder) guard(p *preview) {
	if v := recover(); v != nil {
		p.fail()
		f.request.run.agent.config.Log.Error("panic in a preview", "run", f.request.run.id, "call", p.call.ID,
			"panic", v, "stack", string(debug.Stack()))
	}
}

// finish returns the calls that can be completed, now that the response is whole.
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

// abandon closes the calls that finish did not return. It may be called after it, and more than once.
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

// settle waits until nobody works on the calls any more.
func (f *forwarder) settle() {
	f.stop()
	late := time.AfterFunc(previewGrace, f.cancel)
	defer late.Stop()
	f.watchers.Wait()
}

// preview is a call that is open at toolhost and whose arguments are not complete.
type preview struct {
	call      tool.Call      // as it was opened, without arguments
	execution tool.Execution // nil: not opened
	more      chan struct{}  // of capacity 1: there is text

	mu     sync.Mutex
	text   []byte // what the model has written
	sent   int    // how much of it toolhost was given
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

// complete gives toolhost the rest of the arguments, so that the call is executed, and returns its execution. It
// returns nil, and nothing is executed, if the call is not the one that was shown or toolhost cannot be given the rest.
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

// previews are calls that wait for a response to be journaled and for what the reducer makes of it.
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

// abandon closes what was not taken.
func (s *previews) abandon() {
	for _, p := range *s {
		p.abandon()
	}
	*s = nil
}

// hold keeps previews while their response is on its way into the journal. Whoever calls claim gets them, once; if
// nobody has by the time that the task ends, they are abandoned.
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

// open begins the call, or completes the one that its tool has looked on at, which looked says.
func (e *toolCall) open(ctx context.Context, call *tool.Call) (execution tool.Execution, looked bool, err error) {
	if p := e.preview; p != nil {
		e.preview = nil
		if execution := p.complete(ctx, call); execution != nil {
			return execution, true, nil
		}
	}
	execution, err = e.run.agent.config.Tools.Open(ctx, *call, true)
	return execution, false, err
}

// drop abandons a preview that did not come to be completed.
func (e *toolCall) drop() {
	if e.preview != nil {
		e.preview.abandon()
	}
}

// previewFailed reports whether a call may have ended because its preview did, before it was complete: then it is
// opened again. If it was executed all the same, toolhost answers with the same outcome.
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
