package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/catalog"
	"github.com/toolhost/toolhost/internal/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// run is one call on its way through a plugin. Its goroutine is the host's; callers come and go through the record.
type run struct {
	host   *Host
	call   tool.Call
	tool   *catalog.Tool
	record *record
	minted bool         // the call's id is the host's
	entry  *ledgerEntry // the ledger's
	over   bool         // the ledger's: the run takes no id any more

	ctx    context.Context // ends at the deadline, at cancel and when the host closes; its cause says which
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	working  bool          // the goroutine has been started
	text     []byte        // the arguments so far
	sent     int           // how much of text the plugin has been given
	complete bool          // text is complete: execute
	repairs  []byte        // what was changed in text, for the result; nil: nothing
	timer    *time.Timer   // ends ctx at the deadline
	limit    time.Duration // how long it may take, from when timer was set
	deadline time.Time     // when timer fires
	more     chan struct{} // of capacity 1: text or complete has changed
}

type phase int

const (
	phasePreview phase = iota // the tool may look at the text so far
	phaseExecute              // the text is complete: execute
)

// start begins the run's work in a phase, or takes it from preview to execution.
func (r *run) start(p phase, text []byte) {
	r.mu.Lock()
	if p == phaseExecute {
		r.complete, r.text = true, text
		r.setDeadline(r.host.timeout(&r.call, &r.tool.Spec))
	} else {
		r.text = bytes.Clone(text)
		r.setDeadline(r.host.cfg.MaxTimeout)
	}
	first := !r.working
	r.working = true
	r.mu.Unlock()
	if !first {
		r.signal()
		return
	}
	// Owned by the host: ends with the call, which has a deadline.
	if !r.host.spawn(r.work) {
		r.finishWithout(tool.Outcome{Err: tool.Errorf(tool.KindUnavailable, "%w", errStopping)})
	}
}

// append hands on preview text, if the run previews.
func (r *run) append(text []byte) {
	r.mu.Lock()
	if r.working && !r.complete {
		r.text = append(r.text, text...)
	}
	r.mu.Unlock()
	r.signal()
}

func (r *run) signal() {
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// errDeadline is the cause of a call that took too long.
var errDeadline = errors.New("its deadline passed")

// setDeadline ends the run after d from now. r.mu is held.
func (r *run) setDeadline(d time.Duration) {
	if r.timer != nil {
		r.timer.Stop()
	}
	r.limit, r.deadline = d, time.Now().Add(d)
	r.timer = time.AfterFunc(d, func() { r.cancel(errDeadline) })
}

// timeout returns how long a call may take: what its caller wants, bounded by the tool's timeout and the host's cap.
func (h *Host) timeout(call *tool.Call, spec *tool.Spec) time.Duration {
	d := call.Timeout
	if spec.Timeout > 0 && (d == 0 || d > spec.Timeout) {
		d = spec.Timeout
	}
	if d == 0 {
		d = h.cfg.DefaultTimeout
	}
	return min(d, h.cfg.MaxTimeout)
}

// allowed returns how long the run may take.
func (r *run) allowed() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limit
}

// abandon ends a run whose arguments never became complete.
func (r *run) abandon(cause error) {
	r.finishWithout(tool.Outcome{Err: tool.Errorf(tool.KindCancelled, "the call was abandoned: %w", cause)})
}

// finishWithout ends a run that was not executed: its id can be used again, as soon as anybody knows the outcome.
func (r *run) finishWithout(outcome tool.Outcome) {
	r.host.ledger.release(r)
	r.publishOutcome(outcome)
	r.stop()
}

// joined ends a run whose caller follows another one from now on. It was no call of its own, so nothing counts it.
func (r *run) joined() {
	r.record.publish(tool.Event{Ended: &tool.Outcome{
		CallID: r.call.ID, Err: tool.Errorf(tool.KindCancelled, "the call joined the one that has its id"),
	}})
	r.stop()
}

// finish ends a run that was, or may have been, executed.
func (r *run) finish(outcome tool.Outcome) {
	r.publishOutcome(outcome)
	r.host.ledger.settle(r)
	r.stop()
}

func (r *run) publishOutcome(outcome tool.Outcome) {
	outcome.CallID = r.call.ID
	r.tellRepairs(&outcome)
	if outcome.Err != nil {
		e := *outcome.Err
		e.CallID, e.Plugin, e.Instance = r.call.ID, outcome.Plugin, outcome.Instance
		outcome.Err = &e
	}
	r.record.publishFirst(tool.Event{Ended: &outcome}, func() { // who knows the outcome finds it counted
		r.host.stats.count(r.call.Tool, r.tool.Plugin.Info.Name, &outcome, outcome.Result.Duration)
	})
}

// stop releases the run's timer and context, and ends a preview that is under way.
func (r *run) stop() {
	r.mu.Lock()
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.cancel(nil)
}

// maxStarts bounds how often a call is given to another instance because the one before died under it.
const maxStarts = 3

// work carries the call through a plugin. It is the run's goroutine.
func (r *run) work() {
	supervisor := r.host.supervisor(r.tool.Plugin)
	for attempt := 1; ; attempt++ {
		place, err := supervisor.acquire(r.ctx, r)
		if err != nil {
			r.finishWithout(tool.Outcome{Plugin: r.tool.Plugin.Info.Name, Err: r.unsent(err)})
			return
		}
		begun := r.workOn(supervisor, place.instance, uint32(attempt))
		supervisor.release(place)
		if begun {
			return
		}
		if attempt == maxStarts {
			r.finishWithout(tool.Outcome{Plugin: r.tool.Plugin.Info.Name, Err: tool.Errorf(tool.KindUnavailable,
				"the plugin %q died %d times before it could take the call", r.tool.Plugin.Info.Name, attempt)})
			return
		}
		select { // until the machine knows that it is dead
		case <-place.instance.gone:
		case <-r.ctx.Done():
		}
	}
}

// unsent says why a call never reached a plugin.
func (r *run) unsent(err error) *tool.Error {
	switch cause := context.Cause(r.ctx); {
	case cause == nil:
		return tool.AsError(err)
	case errors.Is(cause, errDeadline):
		return tool.Errorf(tool.KindTimeout, "the call waited for an instance of %q until %w; nothing was executed", r.tool.Plugin.Info.Name, cause)
	case errors.Is(cause, errStopping):
		return tool.Errorf(tool.KindUnavailable, "%w; nothing was executed", cause)
	default:
		return tool.Errorf(tool.KindCancelled, "%w; nothing was executed", cause)
	}
}

// workOn gives the call to an instance and follows it to its end. It returns false if the call is to be given to
// another instance.
func (r *run) workOn(s *supervisor, in *instance, attempt uint32) bool {
	start := r.startFrame(attempt)
	began := time.Now()
	wire, err := in.proc.Conn().Start(r.ctx, start)
	if err != nil {
		if errors.Is(err, pluginwire.ErrConnLost) {
			return false
		}
		r.finishWithout(tool.Outcome{Plugin: s.name, Instance: in.id, Err: r.unsent(err)})
		return true
	}
	defer wire.Close()
	r.record.publish(tool.Event{Started: &tool.Started{CallID: r.call.ID, Plugin: s.name, Instance: in.id, Attempt: attempt}})
	if !start.Complete {
		var feeding sync.WaitGroup
		feeding.Go(func() { r.feed(wire) }) // owned by workOn: ends when the arguments are complete, or with r.ctx
		defer feeding.Wait()
	}
	f := follower{run: r, supervisor: s, instance: in, wire: wire, began: began, last: attempt > 1 || !start.Complete}
	ended := f.follow()
	if ended {
		r.stop() // before the wait for the feeder
	}
	return ended
}

// startFrame returns what the plugin is told at the beginning.
func (r *run) startFrame(attempt uint32) pluginwire.Start {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = len(r.text)
	return pluginwire.Start{
		CallID:      r.call.ID,
		Tool:        r.tool.Spec.Name,
		Arguments:   r.text[:r.sent:r.sent],
		Complete:    r.complete,
		Attempt:     attempt,
		Timeout:     time.Until(r.deadline),
		Session:     r.call.Session,
		Workspace:   r.host.cfg.Workspace,
		Values:      declaredValues(r.call.Context, r.tool.Spec.ContextKeys),
		Traceparent: r.call.Traceparent,
	}
}

// declaredValues returns the context values that a tool declared: no others reach it.
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

// feed hands preview text, and in the end the complete arguments, to the plugin.
func (r *run) feed(wire *pluginwire.Call) {
	for {
		select {
		case <-r.more:
		case <-r.ctx.Done():
			return
		}
		r.mu.Lock()
		var piece, replacement []byte
		complete := r.complete
		if complete && r.repairs != nil {
			replacement = r.text
		} else {
			piece = r.text[r.sent:len(r.text):len(r.text)]
		}
		r.sent = len(r.text)
		r.mu.Unlock()
		err := wire.Append(r.ctx, piece)
		if err == nil && complete {
			err = wire.Complete(r.ctx, replacement)
		}
		if complete || err != nil {
			return // if it failed, whoever follows the call sees why
		}
	}
}

// sessionKey names the session that the call belongs to: sessions are their principal's.
func (r *run) sessionKey() string { return r.call.Principal + "\x00" + r.call.Session }

// executed reports whether the plugin may have begun to execute, as opposed to preview.
func (r *run) executed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.complete
}
