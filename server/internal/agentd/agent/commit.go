package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// notJSON is the error of an event that cannot be encoded.
type notJSON struct{ error }

// entries are events that are folded already and will be appended together.
type entries struct {
	records  []runstore.Record
	events   []loop.Event
	contents []runstore.Content
	verdicts []runstore.Verdict
	entry    string // of the run's inbox, that the events consume
}

// commit appends events and all events that follow from the state alone, in one batch, and then
// shows them. After any error except notJSON the state is ahead of the journal, and the run has to
// stop.
func (r *run) commit(ctx context.Context, payloads ...loop.Payload) error {
	return r.commitWith(ctx, &input{}, payloads...)
}

// commitWith is commit for the events of an input. The store writes the contents that they name
// with them, and consumes the entry of the input.
func (r *run) commitWith(ctx context.Context, in *input, payloads ...loop.Payload) error {
	all := entries{contents: in.taken.news(), entry: in.entry}
	for _, p := range payloads {
		if err := r.fold(&all, p); err != nil {
			return err
		}
	}
	for next := loop.Next(&r.state); len(next) > 0; next = loop.Next(&r.state) {
		if _, ok := next[0].(loop.Record); !ok {
			break
		}
		for _, command := range next {
			if err := r.fold(&all, command.(loop.Record).Payload); err != nil {
				return err
			}
		}
	}
	if len(all.records) == 0 {
		return nil
	}
	spent := runstore.Spent{Day: runstore.Day(time.Now())}
	for _, e := range all.events {
		spent = spent.Add(spentBy(e.Payload))
	}
	if err := r.append(ctx, &all, spent); err != nil {
		return err
	}
	r.feed.publish(all.events...)
	for _, e := range all.events {
		r.log.event(e)
		r.observed.see(e)
	}
	return nil
}

// fold adds an event to the entries and folds it into the state.
func (r *run) fold(to *entries, p loop.Payload) error {
	if started, ok := p.(*loop.CallStarted); ok {
		p = r.underLedger(started)
	}
	rec, err := encode(p, time.Now())
	if err != nil {
		return notJSON{err}
	}
	rec.Seq = r.state.Seq() + 1
	if made, ok := p.(*loop.DecisionMade); ok { // the state forgets what was asked
		if to.verdicts, err = appendVerdict(to.verdicts, r.state.Pending(), made, rec.Time); err != nil {
			return notJSON{err}
		}
	}
	// The state folds the event as it is stored, because a later process folds that.
	e, err := decode(rec)
	if err == nil {
		err = r.state.Apply(e)
	}
	if err != nil {
		return tool.Errorf(tool.KindInternal, "run %s: %w", r.id, err)
	}
	to.records, to.events = append(to.records, rec), append(to.events, e)
	return nil
}

// append writes entries to the journal, and a snapshot with them if one is due.
func (r *run) append(ctx context.Context, all *entries, spent runstore.Spent) error {
	head, err := headFor(&r.state)
	if err != nil {
		return tool.AsError(err)
	}
	batch := runstore.Batch{RunID: r.id, After: r.state.Seq() - uint64(len(all.records)), Epoch: r.epoch, Records: all.records, Head: head, Spent: spent, Contents: all.contents, Verdicts: all.verdicts, Entry: all.entry}
	if len(all.events) == 1 {
		_, batch.Resumed = all.events[0].Payload.(*loop.RunResumed)
	}
	notifier := r.agent.config().Notifier
	if notifier != nil {
		batch.Messages = notifier.Messages(&r.state, all.events)
	}
	next := r.addSnapshot(&batch)
	// Close does not cancel the append but waits for it, because a cancelled append may or may not
	// have happened.
	began := time.Now()
	err = r.agent.store.Append(context.WithoutCancel(ctx), batch)
	if r.observed != nil {
		r.observed.observer.Appended(time.Since(began), err)
	}
	if err != nil {
		if !errors.Is(err, runstore.ErrConflict) {
			r.tries++
		}
		return storeError(err)
	}
	r.tries, r.tail = 0, next
	if waits := len(head.Decisions) > 0; waits || !r.free {
		r.agent.decided.ring()
		r.free = !waits
	}
	if len(batch.Messages) > 0 {
		notifier.Written()
	}
	return nil
}

// substitute returns the event that replaces one that cannot be encoded.
func (r *run) substitute(p loop.Payload, bad error) loop.Payload {
	if res, ok := p.(*loop.CallResult); ok {
		c := loop.Call{ID: res.CallID, Tool: res.Tool}
		e := tool.Errorf(tool.KindInternal, "the tool's answer is not well-formed: %w", bad)
		e.Plugin, e.Instance = res.Plugin, res.Instance
		return loop.FailureResult(&c, e)
	}
	return r.state.Failed(loop.StopModelError, fmt.Sprintf("the model's answer is not well-formed: %v", bad))
}
