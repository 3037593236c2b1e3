package agent

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/tool"
)

// SendMessage adds a user message and returns its Seq. It continues a finished run. A run at work
// reads the message before its next model request. If ctx ends first, the message may still be
// added.
func (a *Agent) SendMessage(ctx context.Context, runID, text string) (uint64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, tool.Errorf(tool.KindInvalidArgument, "the message is empty")
	}
	return a.deliver(ctx, runID, &loop.UserMessage{Text: text})
}

// CancelRun requests that a run stops. Its calls are cancelled, each still gets its result, and the
// run ends with StopCancelled. CancelRun does not wait for that, and does nothing for a finished
// run.
func (a *Agent) CancelRun(ctx context.Context, runID, reason string) error {
	_, err := a.deliver(ctx, runID, &loop.CancelRequested{Reason: reason})
	return err
}

// Respond makes pending decisions, all of them or none, and returns the Seq of the first. A
// decision of a sub-run, RUN/DECISION, goes to the sub-run's journal. All decisions must belong to
// one run. The run continues with each call whose decision is made. Errors: KindNotFound if there
// is no such run or the decision is not pending; KindInvalidArgument if a decision does not fit. If
// ctx ends first, the decisions may still be made.
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

// deliver hands events to the run's goroutine and waits until they are in the journal.
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
		// a sub-run belongs to its parent's process
		if r.foreign() && (r.Parent == nil || a.feedOf(r.Parent.RunID) == nil) {
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

// Resume continues all interrupted runs and returns their number. It skips runs in the foreground
// of another process and runs that another process works on.
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
			} else { // the run's next event replaces the summary
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

// ResumeRun continues one interrupted run, whatever process began it. It does nothing for a run
// that has finished or that this agent works on. It fails with KindConflict if another process
// works on the run.
func (a *Agent) ResumeRun(ctx context.Context, runID string) error {
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil || r.Finished() {
		return err
	}
	return a.wake(r.ref(), nil)
}

// runRef is what the agent knows of a run before it reads the journal.
type runRef struct {
	id   string
	last uint64 // the Seq of its last event, or of an earlier one
	sub  bool
	// fresh means that this agent has just started the run. tries is how often in a row the journal
	// could not be written.
	fresh bool
	tries int
}

func (r *Run) ref() runRef { return runRef{id: r.ID, last: r.LastSeq, sub: r.Parent != nil} }

// wake starts a goroutine for a run that has none, and hands it an input, which may be nil.
func (a *Agent) wake(k runRef, in *input) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errClosed()
	}
	r := a.runs[k.id]
	if r == nil {
		if err := a.journal.claim(k.id); err != nil { // does not block, so the agent may hold mu
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

// storeRetry is the retry policy for runs whose journal could not be written. A full disk may have
// space later.
func storeRetry() Retry { return Retry{Initial: time.Second, Max: 30 * time.Second} }

// retryLater continues a run after a pause. It ends when the agent closes.
func (a *Agent) retryLater(k runRef) {
	if sleep(a.ctx, storeRetry().pause(k.tries, 0)) == nil {
		_ = a.wake(k, nil) // it fails only when the agent closes
	}
}

// take returns the inputs of a run. If last is set and there are none, the run is no longer at
// work.
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

// drop ends work on a run and returns its remaining inputs.
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
