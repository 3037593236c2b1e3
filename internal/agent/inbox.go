package agent

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/tool"
)

// SendMessage adds a user's message and returns its place in the journal. A finished run goes on with it; a run at
// work reads it before the model's next turn. Where ctx ends first, the message may still be added.
func (a *Agent) SendMessage(ctx context.Context, runID, text string) (uint64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, tool.Errorf(tool.KindInvalidArgument, "the message is empty")
	}
	return a.deliver(ctx, runID, &loop.UserMessage{Text: text})
}

// CancelRun asks a run to stop: its calls are cancelled, each still gets its result, and the run finishes with
// StopCancelled; WatchRun shows when. A finished run stays as it is.
func (a *Agent) CancelRun(ctx context.Context, runID, reason string) error {
	_, err := a.deliver(ctx, runID, &loop.CancelRequested{Reason: reason})
	return err
}

// Respond makes decisions that a run waits for (GetRun and WatchRun tell which), all of them or none, and returns the
// place of the first in the journal. Decisions that a sub-run waits for, RUN/DECISION, are handed to that one and are in its
// journal; all have to be for the same run. The run goes on with each call whose decision is made; it need not be all. Errors:
// KindNotFound if there is no such run or a decision is not wanted, also not any more; KindInvalidArgument if one does
// not fit what is asked. Where ctx ends first, the decisions may still be made.
func (a *Agent) Respond(ctx context.Context, runID string, decisions ...loop.DecisionMade) (uint64, error) {
	if len(decisions) == 0 {
		return 0, tool.Errorf(tool.KindInvalidArgument, "there is no decision in the response")
	}
	at, decisions, err := a.targetOf(ctx, runID, decisions)
	if err != nil {
		return 0, err
	}
	payloads := make([]loop.Payload, len(decisions))
	for i := range decisions {
		if decisions[i].Verdict == loop.VerdictExpired {
			return 0, tool.Errorf(tool.KindInvalidArgument, "a decision cannot be made to expire; reject it")
		}
		payloads[i] = &decisions[i]
	}
	return a.deliver(ctx, at, payloads...)
}

// tell hands payloads to the run's goroutine and waits until they are in the journal.
func (a *Agent) deliver(ctx context.Context, runID string, payloads ...loop.Payload) (uint64, error) {
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil {
		return 0, err
	}
	if here := a.feedOf(runID) != nil; !here {
		switch first := payloads[0]; {
		case first.Type() == loop.TypeCancelRequested && r.Finished():
			return r.LastSeq, nil
		case first.Type() == loop.TypeDecisionMade && r.Finished():
			return 0, tool.Errorf(tool.KindNotFound, "run %s is finished and waits for no decision", runID)
		}
		if r.foreign() && (r.Parent == nil || a.feedOf(r.Parent.RunID) == nil) { // a sub-run belongs to whoever has the run above
			return 0, tool.Errorf(tool.KindConflict, "run %s belongs to the process that started it; if that is gone, resume the run", runID)
		}
	}
	in := &input{payloads: payloads, reply: make(chan reply, 1)}
	if err := a.wake(r.ref(), in); err != nil {
		return 0, err
	}
	select {
	case answer := <-in.reply:
		return answer.seq, answer.err
	case <-ctx.Done():
		return 0, tool.AsError(ctx.Err())
	}
}

// Resume continues all runs that were interrupted, except those that belong to another process (Task.Foreground), and
// returns how many these are.
func (a *Agent) Resume(ctx context.Context) (int, error) {
	query, n := runstore.Query{UnfinishedOnly: true}, 0
	for {
		page, err := a.store.List(ctx, query)
		if err != nil {
			return n, storeError(err)
		}
		for i := range page {
			k := runRef{id: page[i].ID, last: page[i].LastSeq}
			if r, err := summarize(&page[i]); err == nil {
				k = r.ref()
			} else { // it is written anew with the run's next event
				a.config.Log.Error("going on with a run whose summary is broken", "run", k.id, "error", err)
			}
			err := a.wake(k, nil)
			if tool.KindOf(err) == tool.KindConflict {
				a.config.Log.Warn("a run is left to the process that works on it", "run", k.id, "error", err)
				continue
			}
			if err != nil {
				return n, err
			}
			n++
		}
		if len(page) < query.PageSize() {
			return n, nil
		}
		query.Before = page[len(page)-1].ID
	}
}

// ResumeRun continues one run that was interrupted, whoever began it. A run that is finished or at work stays as it
// is. Nothing else must be at work on it: whoever appends second has to leave it.
func (a *Agent) ResumeRun(ctx context.Context, runID string) error {
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil || r.Finished() {
		return err
	}
	return a.wake(r.ref(), nil)
}

// known is what has to be known of a run before its journal is read.
type runRef struct {
	id   string
	last uint64 // the place of its last event, or of one before
	sub  bool
	// fresh says that the run has just been begun; tries how often in a row its journal could not be written.
	fresh bool
	tries int
}

func (r *Run) ref() runRef { return runRef{id: r.ID, last: r.LastSeq, sub: r.Parent != nil} }

// wake puts a run to work and hands it an input, which may be nil.
func (a *Agent) wake(k runRef, in *input) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errClosed()
	}
	r := a.runs[k.id]
	if r == nil {
		if err := a.journal.claim(k.id); err != nil { // it does not block, so mu may be held
			return err
		}
		r = newRun(a, k)
		a.runs[k.id] = r
		a.group.Go(func() { r.work(a.ctx) })
	}
	if in != nil {
		r.inbox = append(r.inbox, in)
		r.wake()
	}
	return nil
}

// storeRetry says when it is tried again to go on with a run whose journal could not be written: a disk that was full may
// have room again.
func storeRetry() Retry { return Retry{Initial: time.Second, Max: 30 * time.Second} }

// comeBack goes on with a run after a while. It ends with the agent.
func (a *Agent) retryLater(k runRef) {
	if sleep(a.ctx, storeRetry().pause(k.tries, 0)) == nil {
		_ = a.wake(k, nil) // that the agent closes says it all
	}
}

// take returns what was handed to a run. Where last is set and there is nothing, the run is not at work any more.
func (a *Agent) take(r *run, last bool) (inputs []*input, left bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	inputs, r.inbox = r.inbox, nil
	if last && len(inputs) == 0 {
		a.forget(r)
		return nil, true
	}
	return inputs, false
}

// drop says that a run is not at work any more, whatever is in its inbox.
func (a *Agent) drop(r *run) []*input {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(r)
	inputs := r.inbox
	r.inbox = nil
	return inputs
}

func (a *Agent) forget(r *run) {
	if a.runs[r.id] == r {
		delete(a.runs, r.id)
		a.journal.release(r.id)
	}
}

func (a *Agent) feedOf(runID string) *feed {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[runID]; r != nil {
		return &r.feed
	}
	return nil
}

func errClosed() error {
	return tool.Errorf(tool.KindUnavailable, "the agent is shutting down; the run goes on when it is back")
}
