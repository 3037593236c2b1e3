package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// SendMessage adds a user message and returns its Seq. It continues a finished run. A run at work
// reads the message before its next model request. If ctx ends first, the message may still be
// added.
func (a *Agent) SendMessage(ctx context.Context, runID, text string, files ...loop.NewAttachment) (uint64, error) {
	return a.sendMessage(ctx, runID, loop.MessageID{}, text, files)
}

// SendMessageOnce is SendMessage for a message with an id. If the run has the message already, the
// agent adds nothing and returns the Seq that it had, also when it would refuse a new message.
// KindConflict: the message with this id has another text.
func (a *Agent) SendMessageOnce(ctx context.Context, runID string, id loop.MessageID, text string, files ...loop.NewAttachment) (uint64, error) {
	if !IsRunID(id.Text) {
		return 0, tool.Errorf(tool.KindInvalidArgument, "the message id %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -", loop.Clip(id.Text))
	}
	seq, err := a.sendMessage(ctx, runID, id, text, files)
	if err == nil || tool.KindOf(err) == tool.KindNotFound {
		return seq, err
	}
	var s loop.State
	if _, unread := a.journal.fold(ctx, runID, &s); unread != nil {
		return 0, err
	}
	if before, same := s.Said(&loop.UserMessage{ID: id, Text: text}); same {
		return before, nil
	}
	return 0, err
}

func (a *Agent) sendMessage(ctx context.Context, runID string, id loop.MessageID, text string, files []loop.NewAttachment) (uint64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, tool.Errorf(tool.KindInvalidArgument, "the message is empty")
	}
	if r, err := a.journal.summaryOf(ctx, runID); err == nil && r.Finished() && r.Parent == nil {
		if err := a.admitWork(ctx, r.Principal); err != nil {
			return 0, err
		}
	}
	taken, err := a.attachToMessage(ctx, runID, files)
	if err != nil {
		return 0, err
	}
	return a.deliverWith(ctx, runID, &taken, &loop.UserMessage{Text: text, Attachments: taken.list, ID: id})
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
	at, decisions, err := a.journal.targetOf(ctx, runID, decisions)
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
	return a.deliverWith(ctx, runID, nil, payloads...)
}

// deliverWith is deliver for an event with attachments, which may be nil. It releases them when the
// event is in the journal or will not be there, which may be after ctx has ended.
func (a *Agent) deliverWith(ctx context.Context, runID string, taken *attached, payloads ...loop.Payload) (uint64, error) {
	handed := false
	defer func() {
		if !handed {
			taken.release()
		}
	}()
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil {
		return 0, err
	}
	if here := a.work.feedOf(runID) != nil; !here {
		switch first := payloads[0]; {
		case first.Type() == loop.TypeCancelRequested && r.Finished():
			return r.LastSeq, nil
		case first.Type() == loop.TypeDecisionMade && r.Finished():
			return 0, tool.Errorf(tool.KindNotFound, "run %s is finished and waits for no decision", runID)
		}
		// a sub-run belongs to its parent's process
		if r.foreign() && (r.Parent == nil || a.work.feedOf(r.Parent.RunID) == nil) {
			return 0, tool.Errorf(tool.KindConflict, "run %s belongs to the process that started it; if that is gone, resume the run", runID)
		}
	}
	in := &input{payloads: payloads, taken: taken, reply: make(chan reply, 1)}
	if err := a.work.wake(r.ref(), in); err != nil {
		return 0, err
	}
	handed = true
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
				a.config().Log.Error("the summary of a run is broken; the run continues", "run", k.id, "error", err)
			}
			switch err := a.work.wake(k, nil); tool.KindOf(err) {
			case "":
				n++
			case tool.KindConflict:
				a.config().Log.Warn("another process works on a run; it is not resumed here", "run", k.id, "error", err)
				a.work.claimLater(k)
			default:
				return n, err
			}
		}
		if len(page) < query.PageSize() {
			return n, nil
		}
		query.Before = page[len(page)-1].ID
	}
}

// atWork is the runs on which this process works. It takes a run's claim before it starts the run's
// goroutine, and gives the claim up when nothing is left to do. All methods are safe for concurrent
// use.
type atWork struct {
	agent *Agent
	group sync.WaitGroup // the runs' goroutines, and moves

	mu     sync.Mutex
	closed bool
	runs   map[string]*run
	// working counts the runs at work of each principal and tenant that has any, for quotas.
	working map[runstore.Query]int
	// moving are the runs whose claim is being taken or given up, which may need a database. The
	// channel is closed when that is done. Such a run is not in runs.
	moving map[string]chan struct{}
	// shown is the feed of the last run in the foreground that has ended. Its command starts the run
	// and then watches it, and a run of a scripted model can end between the two.
	shown struct {
		runID string
		feed  *feed
	}
}

// claimLater continues a run whose claim may be that of a process that has ended, if the store says
// that claims can outlive their process.
func (w *atWork) claimLater(k runRef) {
	lingering, ok := w.agent.journal.claims.(runstore.Lingering)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.group.Go(func() { // ends with the agent
		for end := time.Now().Add(lingering.Linger()); time.Now().Before(end) && sleep(w.agent.ctx, claimPause) == nil; {
			err := w.wake(k, nil)
			if err == nil {
				w.agent.config().Log.Info("the process that worked on a run has ended; the run goes on here", "run", k.id)
				return
			}
			if kind := tool.KindOf(err); kind != tool.KindConflict && kind != tool.KindUnavailable {
				return
			}
		}
	})
}

// claimPause is the pause between two attempts of claimLater.
const claimPause = time.Second

// ResumeRun continues one interrupted run. Any process may have begun it. ResumeRun does nothing
// for a run that has finished or that this agent works on. It fails with KindConflict if another
// process works on the run.
func (a *Agent) ResumeRun(ctx context.Context, runID string) error {
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil || r.Finished() {
		return err
	}
	return a.work.wake(r.ref(), nil)
}

// runRef is what the agent knows of a run before it reads the journal.
type runRef struct {
	id   string
	last uint64 // the Seq of its last event, or of an earlier one
	sub  bool
	// owner is the key of the principal that the run belongs to.
	owner string
	// fresh means that this agent has just started the run. tries is how often in a row the journal
	// could not be written.
	fresh bool
	tries int
}

func (r *Run) ref() runRef {
	return runRef{id: r.ID, last: r.LastSeq, sub: r.Parent != nil, owner: r.Principal}
}

// wake starts a goroutine for a run that has none, and hands it an input, which may be nil. It may
// wait for the store, as long as a claim takes.
func (w *atWork) wake(k runRef, in *input) error {
	for {
		r, wait, err := w.find(k.id, in)
		if err != nil || r != nil {
			return err
		}
		if wait == nil {
			return w.begun(k, in, w.agent.journal.claim(k.id))
		}
		<-wait // the goroutine that closes it waits only for the store
	}
}

// wakeSoon is wake for a run that is in the journal and must not be forgotten: if the store is not
// available now, the run begins later.
func (w *atWork) wakeSoon(k runRef) error {
	err := w.wake(k, nil)
	if !errors.Is(err, runstore.ErrUnavailable) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed()
	}
	k.tries++
	w.group.Go(func() { w.retryLater(k) }) // ends with the agent
	return nil
}

// find hands an input to the run at work. If there is none, it returns the channel to wait for
// before the next attempt, or begins to move the run itself: the caller then claims it and calls
// begun.
func (w *atWork) find(runID string, in *input) (*run, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, nil, errClosed()
	}
	if r := w.runs[runID]; r != nil {
		r.receive(in)
		return r, nil, nil
	}
	if wait := w.moving[runID]; wait != nil {
		return nil, wait, nil
	}
	w.move(runID)
	return nil, nil, nil
}

// begun ends the move that find began. It starts the run's goroutine if the claim succeeded.
func (w *atWork) begun(k runRef, in *input, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		// An agent that closes waits for this move, and cancels the run at its first step.
		r := newRun(w.agent, k)
		w.runs[k.id] = r
		w.countLocked(r)
		w.group.Go(func() { r.work(w.agent.ctx) })
		r.receive(in)
	}
	w.moved(k.id)
	return err
}

// move makes others wait for the run until moved. The caller holds mu. Close waits for it.
func (w *atWork) move(runID string) {
	w.group.Add(1)
	w.moving[runID] = make(chan struct{})
}

// moved lets others go on. The caller holds mu.
func (w *atWork) moved(runID string) {
	close(w.moving[runID])
	delete(w.moving, runID)
	w.group.Done()
}

// receive adds an input, which may be nil. The caller holds Agent.mu.
func (r *run) receive(in *input) {
	if in != nil {
		r.inbox = append(r.inbox, in)
		r.wake()
	}
}

// storeRetry is the retry policy for runs whose journal could not be written. A full disk may have
// space later.
func storeRetry() Retry { return Retry{Initial: time.Second, Max: 30 * time.Second} }

// retryLater continues a run after a pause, and after further ones as long as the store is not
// available. It ends when the agent closes.
func (w *atWork) retryLater(k runRef) {
	for sleep(w.agent.ctx, storeRetry().pause(k.tries, 0)) == nil {
		err := w.wake(k, nil)
		if tool.KindOf(err) != tool.KindUnavailable {
			if err != nil {
				w.agent.config().Log.Error("a run is not continued", "run", k.id, "error", err)
			}
			return
		}
		k.tries++
	}
}

// take returns the waiting inputs of a run. If last is set and there are none, it removes the run
// from the runs at work and returns left = true.
func (w *atWork) take(r *run, last bool) (inputs []*input, left bool) {
	w.mu.Lock()
	inputs, r.inbox = r.inbox, nil
	left = last && len(inputs) == 0
	forgotten := left && w.forget(r)
	w.mu.Unlock()
	if forgotten {
		w.release(r)
	}
	return inputs, left
}

// drop ends work on a run and returns its remaining inputs.
func (w *atWork) drop(r *run) []*input {
	w.mu.Lock()
	forgotten := w.forget(r)
	inputs := r.inbox
	r.inbox = nil
	w.mu.Unlock()
	if forgotten {
		w.release(r)
	}
	return inputs
}

// forget removes a run from the runs at work, and reports whether it was one of them. The caller
// holds mu, and then calls release without it.
func (w *atWork) forget(r *run) bool {
	if w.runs[r.id] != r {
		return false
	}
	delete(w.runs, r.id)
	w.countLocked(r)
	w.move(r.id)
	if r.log.foreground && !r.sub {
		w.shown.runID, w.shown.feed = r.id, &r.feed
	}
	return true
}

// release gives up the claim of a run that was forgotten.
func (w *atWork) release(r *run) {
	w.agent.journal.release(r.id)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moved(r.id)
}

func (w *atWork) feedOf(runID string) *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.runs[runID]; r != nil {
		return &r.feed
	}
	return nil
}

// feedToWatch returns the feed with which a watch begins, or nil: that of a run at work, or that of
// the last run in the foreground after its end.
func (w *atWork) feedToWatch(runID string) *feed {
	if f := w.feedOf(runID); f != nil {
		return f
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown.runID == runID {
		return w.shown.feed
	}
	return nil
}

func errClosed() error {
	return tool.Errorf(tool.KindUnavailable, "the agent is shutting down; the run goes on when it is back")
}
