package agent

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// SendMessage adds a user message and returns its Seq. It continues a finished run. A run at work
// reads the message before its next model request. If ctx ends first, the message may still be
// added.
func (a *Agent) SendMessage(ctx context.Context, runID, text string, files ...loop.NewAttachment) (uint64, error) {
	return a.sendMessage(ctx, runID, loop.MessageID{}, text, files)
}

// SendMessageOnce is SendMessage for a message with an id. If the run has the message already, the
// agent adds nothing and returns the Seq that it had, also with a used-up quota and whatever the
// attachments are. KindConflict: the message with this id has another text.
func (a *Agent) SendMessageOnce(ctx context.Context, runID string, id loop.MessageID, text string, files ...loop.NewAttachment) (uint64, error) {
	if !IsRunID(id.Text) {
		return 0, tool.Errorf(tool.KindInvalidArgument, "the message id %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -", loop.Clip(id.Text))
	}
	return a.sendMessage(ctx, runID, id, text, files)
}

func (a *Agent) sendMessage(ctx context.Context, runID string, id loop.MessageID, text string, files []loop.NewAttachment) (uint64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, tool.Errorf(tool.KindInvalidArgument, "the message is empty")
	}
	m := &loop.UserMessage{Text: text, ID: id}
	taken, err := a.admitMessage(ctx, runID, files)
	if err != nil && !a.hasMessage(ctx, runID, m) {
		return 0, err
	}
	m.Attachments = taken.list
	return a.hand(ctx, runID, &input{payloads: []loop.Payload{m}, taken: &taken})
}

// admitMessage takes the attachments of a message that the quota permits. The caller must release
// the result.
func (a *Agent) admitMessage(ctx context.Context, runID string, files []loop.NewAttachment) (attached, error) {
	if r, err := a.journal.summaryOf(ctx, runID); err == nil && r.Finished() && r.Parent == nil {
		if err := a.admitWork(ctx, r.Principal); err != nil {
			return attached{}, err
		}
	}
	return a.attachToMessage(ctx, runID, files)
}

// hasMessage reports whether the journal has a message with the same id. It is no answer for the
// sender: a record that can be read may still be lost in a failover. The run's own process answers,
// whose claim of the run waits until the record is durable.
func (a *Agent) hasMessage(ctx context.Context, runID string, m *loop.UserMessage) bool {
	if m.ID.Text == "" {
		return false
	}
	var s loop.State
	if _, err := a.journal.fold(ctx, runID, &s); err != nil {
		return false
	}
	before, _ := s.Said(m)
	return before > 0
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
	return a.hand(ctx, runID, &input{payloads: payloads})
}

// hand is deliver for an input. It releases the attachments when the event is in the journal or
// will not be there, which may be after ctx has ended.
func (a *Agent) hand(ctx context.Context, runID string, in *input) (uint64, error) {
	handed := false
	defer func() {
		if !handed {
			in.taken.release()
		}
	}()
	r, err := a.journal.summaryOf(ctx, runID)
	if err != nil {
		return 0, err
	}
	here := a.work.feedOf(runID) != nil
	if !here {
		switch first := in.payloads[0]; {
		case first.Type() == loop.TypeCancelRequested && r.Finished():
			return r.LastSeq, nil
		case (first.Type() == loop.TypeDecisionMade || first.Type() == loop.TypeDecisionExtended) && r.Finished():
			return 0, tool.Errorf(tool.KindNotFound, "run %s is finished and waits for no decision", runID)
		}
		// a sub-run belongs to its parent's process
		if r.foreign() && (r.Parent == nil || a.work.feedOf(r.Parent.RunID) == nil) {
			return 0, tool.Errorf(tool.KindConflict, "run %s belongs to the process that started it; if that is gone, resume the run", runID)
		}
	}
	if a.entrusts(&r) {
		return a.post(ctx, &r, in)
	}
	in.reply = make(chan reply, 1)
	if err := a.work.wake(r.ref(), in); err != nil {
		if a.journal.shared != nil && elsewhere(err) {
			return a.post(ctx, &r, in)
		}
		return 0, err
	}
	if handed = true; !here {
		a.due(&r)
	}
	select {
	case answer := <-in.reply:
		// An append whose answer was lost may be there although a later one of another agent follows.
		if a.journal.shared != nil && elsewhere(answer.err) && in.mayRepeat() {
			return a.post(ctx, &r, in)
		}
		return answer.seq, answer.err
	case <-ctx.Done():
		return 0, tool.AsError(ctx.Err())
	}
}

// receive adds an input, which may be nil. The caller holds atWork.mu.
func (r *run) receive(in *input) {
	switch in {
	case nil:
		return
	case mail:
		r.posted = true
	default:
		r.inbox = append(r.inbox, in)
	}
	r.wake()
}

// input is events from outside the run. All of them happen or none.
type input struct {
	payloads []loop.Payload
	etag     string     // that the decision of the first payload must have; empty: any
	taken    *attached  // that the payloads name; nil: none
	entry    string     // of the run's inbox, that has the input; empty: none
	reply    chan reply // capacity 1; gets exactly one reply
}

// answer replies to an input. What it would add is in the journal, or will not be there.
func (in *input) answer(with reply) {
	in.taken.release()
	in.reply <- with
}

type reply struct {
	seq uint64
	err error
}

// wake signals that the inbox is not empty.
func (r *run) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// admit appends the inputs.
func (r *run) admit(ctx context.Context, inputs []*input) error {
	for i, in := range inputs {
		if err := r.admitOne(ctx, in); err != nil {
			for _, rest := range inputs[i+1:] {
				rest.answer(reply{err: err})
			}
			return err
		}
	}
	return nil
}

// admitOne appends an input, or refuses it.
func (r *run) admitOne(ctx context.Context, in *input) error {
	if with, done := r.answerTo(in); done {
		err := r.settle(ctx, in, with)
		if in.entry == "" { // settle compares the claim otherwise
			if err = r.agent.journal.confirm(r.id, r.epoch); err != nil {
				with = reply{err: err} // hand posts the input if another agent works on the run
			}
		}
		in.answer(with)
		return err
	}
	seq := r.state.Seq() + 1
	err := r.commitWith(ctx, in, in.payloads...)
	in.answer(reply{seq, err})
	if err == nil {
		// Reconcile after each input. Otherwise a task that this event ended could be mistaken for one
		// that the next event begins.
		r.reconcile(ctx)
	} else if tool.KindOf(err) == tool.KindInternal { // no other attempt would succeed
		_ = r.settle(ctx, in, reply{err: err})
	}
	return err
}

// answerTo returns the reply to an input that adds nothing to the journal.
func (r *run) answerTo(in *input) (with reply, done bool) {
	if m, ok := in.payloads[0].(*loop.UserMessage); ok {
		if before, same := r.state.Said(m); before > 0 {
			return repeated(m, before, same), true
		}
	}
	fits, err := r.checkInput(in.payloads)
	if err == nil {
		err = r.checkEtag(in)
	}
	return reply{r.state.Seq(), err}, err != nil || !fits
}

// repeated is the reply to a message whose id an earlier one had.
func repeated(m *loop.UserMessage, before uint64, same bool) reply {
	if !same {
		return reply{err: tool.Errorf(tool.KindConflict, "event %d is a message with the id %s and another text; a new message needs an id of its own", before, m.ID.Text)}
	}
	return reply{seq: before}
}

// checkEtag returns an error if a person decides about something else than the run asks for.
func (r *run) checkEtag(in *input) error {
	made, ok := in.payloads[0].(*loop.DecisionMade)
	if in.etag == "" || !ok {
		return nil
	}
	for _, p := range r.state.Pending() {
		if p.ID == made.ID && p.Etag() == in.etag {
			return nil
		}
	}
	return changed(loop.DecisionRef(r.id, made.ID))
}

// checkInput reports whether an input changes the run. An error says that the input does not fit
// the run. false without an error means that there is nothing to do.
func (r *run) checkInput(payloads []loop.Payload) (bool, error) {
	decided := make(map[string]bool)
	for _, p := range payloads {
		switch p := p.(type) {
		case *loop.UserMessage:
			return true, r.checkAttachments(p)
		case *loop.CancelRequested:
			return r.state.Finished() == nil && !r.state.Cancelling(), nil
		case *loop.DecisionExtended:
			d := r.state.Decision(p.ID)
			if d == nil {
				return false, tool.Errorf(tool.KindNotFound, "run %s: decision %q is not wanted, or not any more", r.id, loop.Clip(p.ID))
			}
			return d.Extends(p, time.Now())
		case *loop.DecisionMade:
			if err := r.state.Check(p); err != nil {
				kind := tool.KindInvalidArgument
				if r.state.Decision(p.ID) == nil {
					kind = tool.KindNotFound
				} else if tool.KindOf(err) == tool.KindDenied {
					kind = tool.KindDenied
				}
				hint := ""
				if refs := r.state.Batch().SubRunDecisions(); len(refs) > 0 {
					hint = "; what its sub-runs wait for is " + strings.Join(refs, ", ")
				}
				return false, tool.Errorf(kind, "run %s: %w%s", r.id, err, hint)
			}
			if err := checkEdit(r.state.Decision(p.ID), p); err != nil {
				return false, tool.Errorf(tool.KindInvalidArgument, "run %s: decision %s: %w", r.id, p.ID, err)
			}
			if decided[p.ID] {
				return false, tool.Errorf(tool.KindInvalidArgument, "run %s: decision %s is made twice", r.id, p.ID)
			}
			decided[p.ID] = true
		}
	}
	return true, nil
}
