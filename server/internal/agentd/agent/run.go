package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// run is a run at work. Its goroutine folds the journal, starts and stops tasks so that they match
// the commands of Next, and appends the resulting events. Only this goroutine writes the journal
// and the feed.
type run struct {
	agent *Agent
	// the configuration that the run works with; set to its own one before the first task
	config *configured
	// models are those of the run, the first one first. If there is none, noModel says why. Both are
	// set before the first task.
	models  []routed
	noModel error
	id      string
	log     runLog
	feed    feed
	sub     bool          // whether it is a sub-run
	owner   string        // the key of its principal
	waits   atomic.Bool   // it waits only for a person
	counted bool          // in atWork.working; guarded by its mu
	fresh   bool          // this agent has just started it
	tries   int           // failed writes of the journal in a row
	woken   chan struct{} // capacity 1; signals that the inbox is not empty
	inbox   []*input      // guarded by Agent.mu

	// Only the goroutine uses these:
	state   loop.State
	tail    tail             // what the journal has after the snapshot
	tasks   map[string]*task // in progress, by the command's name
	updates chan update      // from the tasks
	group   sync.WaitGroup   // the tasks' goroutines
	offered *offer           // from the last list of tools; nil: there is none
	alarm   alarm            // for Wait
	slot    slot

	schema answerSchema // of the answer

	observed *observed // nil: there is no observer; set before the first task

	// previews are the open previews of the last response, until its calls begin.
	previews previews

	// inherited are the calls that an earlier process may have begun. It is only read once a task
	// has started.
	inherited map[string]bool
}

// input is events from outside the run. All of them happen or none.
type input struct {
	payloads []loop.Payload
	taken    *attached  // that the payloads name; nil: none
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

func newRun(a *Agent, k runRef) *run {
	r := &run{
		agent: a, config: a.config(), id: k.id, log: newRunLog(a, k.id), sub: k.sub, owner: k.owner, fresh: k.fresh, tries: k.tries, woken: make(chan struct{}, 1), tasks: make(map[string]*task), updates: make(chan update),
	}
	r.slot.run = r
	// watchers read the journal up to there, also while the run waits for a slot
	r.feed.begin(k.last)
	return r
}

// work is the run's goroutine. It ends when the run is finished, when ctx ends, or when the journal
// cannot be read or written.
func (r *run) work(ctx context.Context) {
	err := r.loop(ctx)
	for _, t := range r.tasks {
		t.stop()
	}
	r.alarm.set(loop.Wait{})
	r.slot.release()
	r.observed.end()
	r.previews.abandon()
	r.group.Wait()
	if r.tries == 0 && tool.KindOf(err) == tool.KindUnavailable {
		r.tries = 1 // the journal could not be read
	}
	again := r.tries > 0 && ctx.Err() == nil
	if err != nil && ctx.Err() == nil {
		r.log.to(loglevel.Runs).Error("run stopped before its end", "tried_again", again, "error", err)
	}
	for _, in := range r.agent.work.drop(r) {
		in.answer(reply{err: err})
	}
	r.feed.end(err)
	if again {
		r.agent.work.group.Go(func() {
			r.agent.work.retryLater(runRef{id: r.id, last: r.state.Seq(), sub: r.sub, owner: r.owner, tries: r.tries})
		})
	}
}

func (r *run) loop(ctx context.Context) error {
	if err := r.slot.await(ctx); err != nil {
		return err
	}
	var err error
	if r.tail, err = r.agent.journal.fold(ctx, r.id, &r.state); err != nil {
		return err
	}
	r.config = r.agent.configFor(r.state.Started())
	r.models, r.noModel = r.agent.modelsFor(r.config, r.state.Started())
	if act := r.config.ActFor; act != nil {
		ctx = act(ctx, r.state.Started().Principal, r.state.Started().Groups)
	}
	r.log.open(r.state.Started())
	r.log.begun(&r.state, r.fresh)
	r.observed = r.observe()
	r.inherited = make(map[string]bool)
	for _, command := range loop.Next(&r.state) {
		if c, ok := command.(loop.CallTool); ok {
			r.inherited[c.Call.SentID()] = true
		}
	}
	r.feed.begin(r.state.Seq())
	var first []loop.Payload
	if !r.fresh && r.state.Timed() {
		first = append(first, &loop.RunResumed{})
	}
	if err := r.commit(ctx, first...); err != nil {
		return err
	}
	for {
		idle := r.state.Finished() != nil
		inputs, left := r.agent.work.take(r, idle)
		if left {
			return nil
		}
		if err := r.admit(ctx, inputs); err != nil {
			return err
		}
		r.reconcile(ctx)
		if r.state.Finished() != nil {
			continue
		}
		select {
		case <-r.woken:
		case u := <-r.updates:
			if err := r.handle(ctx, u); err != nil {
				return err
			}
		case r.slot.wanted() <- struct{}{}:
			r.slot.held = true
		case <-r.alarm.channel():
			if err := r.commit(ctx, r.state.Due(time.Now())...); err != nil {
				return err
			}
		case <-ctx.Done():
			return errClosed()
		}
	}
}

// admit appends the inputs.
func (r *run) admit(ctx context.Context, inputs []*input) error {
	for i, in := range inputs {
		if m, ok := in.payloads[0].(*loop.UserMessage); ok {
			if before, same := r.state.Said(m); before > 0 {
				in.answer(repeated(m, before, same))
				continue
			}
		}
		fits, err := r.checkInput(in.payloads)
		if err != nil || !fits {
			in.answer(reply{r.state.Seq(), err})
			continue
		}
		seq := r.state.Seq() + 1
		err = r.commitWith(ctx, in.taken.news(), in.payloads...)
		in.answer(reply{seq, err})
		// Reconcile after each input. Otherwise a task that this event ended could be mistaken for
		// one that the next event begins.
		r.reconcile(ctx)
		if err != nil {
			for _, rest := range inputs[i+1:] {
				rest.answer(reply{err: err})
			}
			return err
		}
	}
	return nil
}

// repeated is the reply to a message whose id an earlier one had.
func repeated(m *loop.UserMessage, before uint64, same bool) reply {
	if !same {
		return reply{err: tool.Errorf(tool.KindConflict, "event %d is a message with the id %s and another text; a new message needs an id of its own", before, m.ID.Text)}
	}
	return reply{seq: before}
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

// notJSON is the error of an event that cannot be encoded.
type notJSON struct{ error }

// entries are events that are folded already and will be appended together.
type entries struct {
	records  []runstore.Record
	events   []loop.Event
	contents []runstore.Content
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

// commit appends events and all events that follow from the state alone, in one batch, and then
// shows them. After any error except notJSON the state is ahead of the journal, and the run has to
// stop.
func (r *run) commit(ctx context.Context, payloads ...loop.Payload) error {
	return r.commitWith(ctx, nil, payloads...)
}

// commitWith is commit for events that name contents, which the store writes with them.
func (r *run) commitWith(ctx context.Context, contents []runstore.Content, payloads ...loop.Payload) error {
	all := entries{contents: contents}
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

// append writes entries to the journal, and a snapshot with them if one is due.
func (r *run) append(ctx context.Context, all *entries, spent runstore.Spent) error {
	head, err := headFor(&r.state)
	if err != nil {
		return tool.AsError(err)
	}
	batch := runstore.Batch{RunID: r.id, After: r.state.Seq() - uint64(len(all.records)), Records: all.records, Head: head, Spent: spent, Contents: all.contents}
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
	return nil
}
