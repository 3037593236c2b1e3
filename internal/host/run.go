package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/tool"
)

// run is one call on its way through a plugin. Its goroutine is the host's; callers come and go through the record.
type run struct {
	host   *Host
	call   tool.Call
	tool   *catalog.Tool
	record record
	came   time.Time   // when it was opened
	minted bool        // the call's id is the host's
	fresh  bool        // the store did not know the call's id when it came: who took it since has it in the ledger first
	whole  bool        // its result is for the host itself, and not shaped
	entry  ledgerEntry // the ledger's

	hold      budget.Hold // the memory that it takes, also for those who follow it
	followers int         // that can still see its outcome; mu guards it
	over      bool        // it is over, and holds no more than what followers see; mu guards it

	ctx flow.Lifetime // ends at the deadline, at cancel and when the host closes; its cause says which
	due due           // the deadlines'

	mu         sync.Mutex
	permitted  *audit.Decision // what was decided about it; nil: nobody will ask
	working    bool            // a goroutine carries it through a plugin
	text       []byte          // the arguments so far
	sent       int             // how much of text the plugin has been given
	complete   bool            // text is complete: execute
	filtering  filtering       // what filters did
	output     *catalog.Schema // of the structured result, as the call's session sees the tool; nil: none
	badOutput  []byte          // what is wrong with a result that is let through, in JSON; nil: nothing
	cost       float64         // of the tries so far
	repairs    []byte          // what was changed in text, for the result; nil: nothing
	undeclared []byte          // which arguments seem to be misspelled, likewise
	thawed     *frozen         // the kept final arguments that its approval is for; nil: none
	thawedKey  freezerKey      // of thawed
	replaced   bool            // text is not what was previewed any more
	limit      time.Duration   // how long it may take, from when its deadline was set
	deadline   time.Time       // when ctx ends; zero: not by itself
	last       time.Time       // to when progress may put the deadline off; zero: not at all
	begun      bool            // the store knows that it began
	finished   bool            // it has an outcome
	more       chan struct{}   // of capacity 1: text or complete has changed; nil: nobody previews
}

// preview begins a run whose tool may look at the text so far.
func (r *run) preview(text []byte) {
	r.mu.Lock()
	r.text, r.more = bytes.Clone(text), make(chan struct{}, 1)
	r.setDeadline(r.host.cfg.MaxTimeout)
	r.working = true
	r.mu.Unlock()
	r.spawn(r.work)
}

// spawn runs f in a goroutine of the host's; it ends with the call, which has a deadline.
func (r *run) spawn(f func()) {
	if !r.host.spawn(f) {
		r.finishWithout(tool.Outcome{Err: tool.Errorf(tool.KindUnavailable, "%w", errStopping)})
	}
}

// append hands on preview text, if the run previews.
func (r *run) append(text []byte) {
	r.mu.Lock()
	if r.working && !r.complete && !r.finished {
		r.text = append(r.text, text...)
	}
	r.mu.Unlock()
	r.signal()
}

func (r *run) signal() {
	select {
	case r.more <- struct{}{}:
	default: // it is told already, or there is nobody
	}
}

// abandon ends a run whose arguments never became complete.
func (r *run) abandon(cause error) {
	r.finishWithout(tool.Outcome{Err: tool.Errorf(tool.KindCancelled, "the call was abandoned: %w", cause)})
}

// finishWithout ends a run that was not executed: its id can be used again, as soon as anybody knows the outcome.
func (r *run) finishWithout(outcome tool.Outcome) {
	first, begun := r.conclude()
	if !first {
		return
	}
	if begun {
		r.forget()
	}
	r.refreeze()
	r.host.ledger.release(r)
	r.publishOutcome(r.final(outcome))
	r.stop()
}

// joined ends a run whose caller follows another one from now on. It was no call of its own, so nothing counts it.
func (r *run) joined() {
	if first, _ := r.conclude(); !first {
		return
	}
	r.record.publish(tool.Event{Ended: &tool.Outcome{
		CallID: r.call.ID, Err: tool.Errorf(tool.KindCancelled, "the call joined the one that has its id"),
	}})
	r.stop()
}

// finish ends a run that was, or may have been, executed.
func (r *run) finish(outcome tool.Outcome) {
	first, begun := r.conclude()
	if !first {
		return
	}
	outcome = r.final(outcome)
	if begun { // before anybody knows the outcome, so that it is never told differently
		r.end(&outcome)
	}
	r.publishOutcome(outcome)
	r.host.ledger.settle(r)
	r.stop()
}

// conclude reports whether the run had no outcome yet, from when on it has one, and whether the store knows that it began.
func (r *run) conclude() (first, begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.finished
	r.finished = true
	return first, r.begun
}

// final returns the outcome as callers get it.
func (r *run) final(outcome tool.Outcome) tool.Outcome {
	outcome.CallID = r.call.ID
	r.tellRepairs(&outcome)
	r.tellFilters(&outcome)
	r.tellOutput(&outcome)
	r.checkEffects(&outcome)
	r.shape(&outcome.Result)
	if outcome.Err != nil {
		e := *outcome.Err
		e.CallID, e.Plugin, e.Instance = r.call.ID, outcome.Plugin, outcome.Instance
		r.tellCost(&e)
		outcome.Err = &e
	}
	return outcome
}

func (r *run) publishOutcome(outcome tool.Outcome) {
	r.record.end(outcome, func() { // who knows the outcome finds it counted
		r.host.stats.count(r.call.Tool, r.tool.Plugin.Info.Name, &outcome, outcome.Result.Duration)
	})
}

// cancel ends what is done for the run, which is then told the cause. It does not block.
func (r *run) cancel(cause error) { r.ctx.End(cause) }

// stop releases what the run holds, and ends a preview that is under way.
func (r *run) stop() {
	r.host.deadlines.remove(r)
	r.cancel(nil)
	r.holdLess()
}

// dropText lets go of the arguments: the ledger keeps a run for long after its end.
func (r *run) dropText() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text, r.sent, r.permitted, r.thawed = nil, 0, nil, nil
}

// size is roughly the memory that a run holds once it has ended.
func (r *run) size() int {
	size := r.record.bytes() + len(r.call.ID) + len(r.call.Session)
	for key, value := range r.call.Context {
		size += len(key) + len(value)
	}
	if r.call.Approval != nil {
		size += len(r.call.Approval.Reason) + len(r.call.Approval.Arguments)
	}
	return size
}

// unsent says why a call never reached a plugin.
func (r *run) unsent(err error) *tool.Error {
	switch cause := context.Cause(&r.ctx); {
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

// sessionKey names the session that the call belongs to: sessions are their principal's.
func (r *run) sessionKey() string { return r.call.Principal + "\x00" + r.call.Session }

// ledgerKey names the call.
func (r *run) ledgerKey() ledgerKey {
	return ledgerKey{principal: r.call.Principal, session: r.call.Session, id: r.call.ID}
}

// executed reports whether the plugin may have begun to execute, as opposed to preview.
func (r *run) executed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.complete
}
