package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// execution is a call of a Fake. Its goroutine belongs to the fake and ends with the call.
type execution struct {
	host   *Fake
	tool   Tool
	ctx    context.Context
	cancel context.CancelCauseFunc
	ready  chan struct{} // closed when the arguments are complete
	came   time.Time

	mutex    sync.Mutex
	call     tool.Call // Arguments: the text so far
	complete bool
	events   []tool.Event
	changed  chan struct{} // closed and replaced when events grow
	open     map[uint32]openQuestion
	asked    uint32
}

func newExecution(host *Fake, t Tool, call tool.Call) *execution {
	ctx, cancel := context.WithCancelCause(host.ctx)
	e := &execution{
		host: host, tool: t, ctx: ctx, cancel: cancel, call: call,
		ready: make(chan struct{}), changed: make(chan struct{}), came: time.Now(),
	}
	e.call.Arguments = nil
	return e
}

// run waits for the arguments, executes the call and ends it.
func (e *execution) run() {
	ctx, stop := e.ctx, context.CancelFunc(func() {})
	if e.call.Timeout > 0 {
		ctx, stop = context.WithTimeout(e.ctx, e.call.Timeout)
	}
	defer stop()
	defer e.cancel(nil)
	select {
	case <-e.ready:
	case <-ctx.Done():
		e.end(tool.Result{}, ctx)
		return
	}
	if prior := e.host.claim(e); prior != nil {
		e.follow(ctx, prior)
		return
	}
	if wrong := check(e.tool.Spec.InputSchema, e.call.Arguments); wrong != "" {
		e.emit(tool.Event{Ended: &tool.Outcome{CallID: e.call.ID, Result: tool.ErrorResult(wrong)}})
		return
	}
	started := e.host.place(e.call.ID)
	if e.tool.Spec.Name == askTool {
		started.Asks = []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel}
	}
	e.emit(tool.Event{Started: started})
	result, err := e.execute(ctx)
	if err != nil {
		e.fail(ctx, err)
		return
	}
	e.end(result, nil)
}

func (e *execution) execute(ctx context.Context) (tool.Result, error) {
	call := e.call
	call.Context = map[string]json.RawMessage{}
	for _, key := range e.tool.Spec.ContextKeys {
		if value, ok := e.call.Context[key]; ok {
			call.Context[key] = value
		}
	}
	begin := time.Now()
	result, err := e.tool.Run(WithAsker(WithArtifacts(ctx, e.reader), e.ask), call, e.emit)
	result.Content = e.shape(result.Content)
	result.Duration = time.Since(begin)
	return result, err
}

// follow ends the call with the outcome of the call that has its id, or refuses it.
func (e *execution) follow(ctx context.Context, prior *execution) {
	if prior.call.Tool != e.call.Tool || !bytes.Equal(prior.call.Arguments, e.call.Arguments) {
		e.fail(ctx, tool.Errorf(tool.KindConflict, "the call id %q is taken by another call", e.call.ID))
		return
	}
	for i := 0; ; i++ {
		event, err := prior.event(ctx, i)
		if err != nil {
			e.fail(ctx, err)
			return
		}
		if event.Ended != nil {
			outcome := *event.Ended
			outcome.Replayed = true
			event.Ended = &outcome
		}
		e.emit(event)
		if event.Ended != nil {
			return
		}
	}
}

func (e *execution) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		e.end(tool.Result{}, ctx)
		return
	}
	outcome := e.outcome()
	failure := *tool.AsError(err)
	failure.CallID, failure.Plugin, failure.Instance = outcome.CallID, outcome.Plugin, outcome.Instance
	outcome.Err = &failure
	e.emit(tool.Event{Ended: outcome})
}

// end ends the call with a result, or, if done is not nil, with the cause of that context.
func (e *execution) end(result tool.Result, done context.Context) {
	outcome := e.outcome()
	outcome.Result = result
	if done != nil {
		failure := tool.AsError(context.Cause(done))
		if errors.Is(context.Cause(done), context.DeadlineExceeded) {
			failure = tool.Errorf(tool.KindTimeout, "the call took longer than %s", e.call.Timeout)
		}
		outcome.Err = &tool.Error{Kind: failure.Kind, Message: failure.Message, CallID: outcome.CallID, Plugin: outcome.Plugin, Instance: outcome.Instance}
	}
	e.emit(tool.Event{Ended: outcome})
}

func (e *execution) outcome() *tool.Outcome {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	outcome := &tool.Outcome{CallID: e.call.ID}
	for _, event := range e.events {
		if event.Started != nil {
			outcome.Plugin, outcome.Instance = event.Started.Plugin, event.Started.Instance
		}
	}
	return outcome
}

func (e *execution) emit(event tool.Event) {
	switch {
	case event.Ended != nil:
		e.host.count(e.tool.Spec.Name, event.Ended)
	case event.Log != nil:
		e.host.Write(tool.LogLine{Instance: e.outcome().Instance, CallID: e.call.ID, Record: *event.Log})
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	event.Seq, event.Time = uint64(len(e.events))+1, time.Now()
	e.events = append(e.events, event)
	close(e.changed)
	e.changed = make(chan struct{})
}

// event waits for the i-th event and returns it.
func (e *execution) event(ctx context.Context, i int) (tool.Event, error) {
	for {
		e.mutex.Lock()
		if i < len(e.events) {
			event := e.events[i]
			e.mutex.Unlock()
			return event, nil
		}
		over := i > 0 && e.events[i-1].Ended != nil
		changed := e.changed
		e.mutex.Unlock()
		if over {
			return tool.Event{}, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return tool.Event{}, ctx.Err()
		}
	}
}

// handle is one caller's view of an execution.
type handle struct {
	*execution
	named bool
	next  int  // the index of the next event; used by Next only
	quiet bool // the caller wants only the outcome
	grown bool // the array of the arguments belongs to this handle
}

// Send adds argument text.
func (h *handle) Send(_ context.Context, text []byte, complete bool) error {
	h.mutex.Lock()
	if h.complete {
		h.mutex.Unlock()
		return tool.Errorf(tool.KindInvalidArgument, "the arguments are complete already")
	}
	if !h.grown {
		h.grown, h.call.Arguments = true, slices.Clip(h.call.Arguments) // the array belongs to the caller
	}
	h.call.Arguments = append(h.call.Arguments, text...)
	h.complete = complete
	soFar := h.call.Arguments
	h.mutex.Unlock()
	switch {
	case complete:
		close(h.ready)
	case h.tool.Preview != nil && len(soFar) > 0:
		h.tool.Preview(soFar, h.emit)
	}
	return nil
}

// Next returns the next event.
func (h *handle) Next(ctx context.Context) (tool.Event, error) {
	for {
		event, err := h.event(ctx, h.next)
		if err == nil {
			h.next++
		}
		if err != nil || !h.quiet || event.Ended != nil {
			return event, err
		}
	}
}

// Cancel stops the call.
func (h *handle) Cancel(reason string) {
	message := "the call was cancelled"
	if reason != "" {
		message = fmt.Sprintf("%s: %s", message, reason)
	}
	h.cancel(tool.Errorf(tool.KindCancelled, "%s", message))
}

// Close abandons or leaves the call.
func (h *handle) Close() {
	h.mutex.Lock()
	complete := h.complete
	h.mutex.Unlock()
	if !complete || !h.named {
		h.Cancel("its caller left")
	}
}
