package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/runstore"
	"github.com/toolhost/toolhost/tool"
)

// run is a run at work: a goroutine that folds the journal, keeps under way what Next names, and appends what happens.
// It alone writes the journal and the feed.
type run struct {
	agent *Agent
	id    string
	feed  feed
	sub   bool          // it is a sub-run
	woken chan struct{} // of capacity 1: there is something in the inbox
	inbox []*input      // guarded by Agent.mu

	// Of the goroutine alone:
	state   State
	tasks   map[string]*task // under way, by the command's name
	updates chan update      // from the tasks
	group   sync.WaitGroup   // the tasks' goroutines
	offered []tool.Info      // the tools, as last listed
	alarm   *time.Timer      // for Wait; nil: nothing happens by itself
	seated  bool             // it has one of Agent.seats

	// previews are the open calls of the response that was just journaled, until its calls begin. The goroutine's alone.
	previews previews

	// inherited are the calls that an earlier process may have begun. Written before any task, then only read.
	inherited map[string]bool
}

// input are events that somebody outside wants to happen, all of them or none.
type input struct {
	payloads []Payload
	reply    chan reply // of capacity 1, answered exactly once
}

type reply struct {
	seq uint64
	err error
}

// task is a command that is being carried out by a goroutine of its own.
type task struct {
	name   string
	ctx    context.Context
	end    context.CancelFunc      // nobody is interested any more
	cancel context.CancelCauseFunc // for a call: cancel it and bring its result
	asked  context.Context         // ended by cancel
}

// update is what a task tells its run. Either passing is set, or the task is done.
type update struct {
	task    *task
	passing Payload
	done    func() Payload // makes the event that the task leads to, in the run's goroutine
	offered []tool.Info    // if not nil, the tools as just listed
}

func newRun(a *Agent, k known) *run {
	r := &run{
		agent: a, id: k.id, sub: k.sub, woken: make(chan struct{}, 1), tasks: make(map[string]*task), updates: make(chan update),
	}
	r.feed.begin(k.last) // who watches reads the journal up to there, also while the run waits for a seat
	return r
}

// work is the run's goroutine. It ends when the run is finished, ctx ends, or the journal cannot be read or written.
func (r *run) work(ctx context.Context) {
	err := r.loop(ctx)
	for _, t := range r.tasks {
		t.end()
	}
	r.wait(Wait{})
	r.leave()
	r.previews.abandon()
	r.group.Wait()
	if err != nil && ctx.Err() == nil {
		r.agent.config.Log.Error("a run stopped without being finished", "run", r.id, "error", err)
	}
	for _, in := range r.agent.drop(r) {
		in.reply <- reply{err: err}
	}
	r.feed.end(err)
}

func (r *run) loop(ctx context.Context) error {
	if err := r.queue(ctx); err != nil {
		return err
	}
	if err := r.agent.fold(ctx, r.id, &r.state); err != nil {
		return err
	}
	r.inherited = make(map[string]bool)
	for _, command := range Next(&r.state) {
		if c, ok := command.(CallTool); ok {
			r.inherited[c.Call.SentID()] = true
		}
	}
	r.feed.begin(r.state.Seq())
	if err := r.commit(ctx); err != nil {
		return err
	}
	for {
		idle := r.state.Finished() != nil
		inputs, left := r.agent.take(r, idle)
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
		case r.wanted() <- struct{}{}:
			r.seated = true
		case <-r.rung():
			if err := r.commit(ctx, r.state.Due(time.Now())...); err != nil {
				return err
			}
		case <-ctx.Done():
			return errClosed()
		}
	}
}

// admit appends what was handed to the run.
func (r *run) admit(ctx context.Context, inputs []*input) error {
	for i, in := range inputs {
		fits, err := r.fits(in.payloads)
		if err != nil || !fits {
			in.reply <- reply{r.state.Seq(), err}
			continue
		}
		seq := r.state.Seq() + 1
		err = r.commit(ctx, in.payloads...)
		in.reply <- reply{seq, err}
		// At once: what this event ended must not be taken for what the next one begins.
		r.reconcile(ctx)
		if err != nil {
			for _, rest := range inputs[i+1:] {
				rest.reply <- reply{err: err}
			}
			return err
		}
	}
	return nil
}

// fits reports whether events that somebody wants make sense as things stand. An error says why not; without one, there
// is nothing to do.
func (r *run) fits(payloads []Payload) (bool, error) {
	decided := make(map[string]bool)
	for _, p := range payloads {
		switch p := p.(type) {
		case *CancelRequested:
			return r.state.Finished() == nil && r.state.cancel == nil, nil
		case *DecisionMade:
			if err := r.state.Check(p); err != nil {
				kind := tool.KindInvalidArgument
				if r.state.decision(p.ID) == nil {
					kind = tool.KindNotFound
				}
				return false, tool.Errorf(kind, "run %s: %w", r.id, err)
			}
			if decided[p.ID] {
				return false, tool.Errorf(tool.KindInvalidArgument, "run %s: decision %s is made twice", r.id, p.ID)
			}
			decided[p.ID] = true
		}
	}
	return true, nil
}

// notJSON is an event that no journal can hold.
type notJSON struct{ error }

// commit appends events and all that the state alone decides after them, at once, and then shows them. After any
// error but notJSON the state is ahead of the journal and the run has to be left.
func (r *run) commit(ctx context.Context, payloads ...Payload) error {
	var records []runstore.Record
	var events []Event
	add := func(p Payload) error {
		rec, err := encode(p, time.Now())
		if err != nil {
			return notJSON{err}
		}
		rec.Seq = r.state.Seq() + 1
		// What is folded is what a later process will fold: the event as it is written, not as it was made.
		e, err := decode(rec)
		if err == nil {
			err = r.state.Apply(e)
		}
		if err != nil {
			return tool.Errorf(tool.KindInternal, "run %s: %w", r.id, err)
		}
		records, events = append(records, rec), append(events, e)
		return nil
	}
	for _, p := range payloads {
		if err := add(p); err != nil {
			return err
		}
	}
	for next := Next(&r.state); len(next) > 0; next = Next(&r.state) {
		if _, ok := next[0].(Record); !ok {
			break
		}
		for _, command := range next {
			if err := add(command.(Record).Payload); err != nil {
				return err
			}
		}
	}
	if len(records) == 0 {
		return nil
	}
	head, err := r.state.head()
	if err != nil {
		return tool.AsError(err)
	}
	batch := runstore.Batch{RunID: r.id, After: r.state.Seq() - uint64(len(records)), Records: records, Head: head}
	// Not cancelled by Close, which waits: an append that was given up may or may not have happened.
	if err := r.agent.store.Append(context.WithoutCancel(ctx), batch); err != nil {
		return storeError(err)
	}
	r.feed.publish(events...)
	return nil
}

// reconcile starts what Next names and is not under way, and stops what is under way and not named.
func (r *run) reconcile(ctx context.Context) {
	named := make(map[string]bool)
	var wait Wait
	mayWork := r.mayWork()
	for _, command := range Next(&r.state) {
		switch c := command.(type) {
		case AskModel:
			name := "turn " + strconv.Itoa(c.Turn)
			named[name] = true
			if r.tasks[name] == nil && mayWork {
				r.ask(r.start(ctx, name))
			}
		case Summarize:
			name := fmt.Sprintf("summary %d %d", c.Turn, c.Replaced)
			named[name] = true
			if r.tasks[name] == nil && mayWork {
				r.summarize(r.start(ctx, name), c)
			}
		case CallTool:
			name := c.Call.SentID()
			named[name] = true
			t := r.tasks[name]
			if t == nil && mayWork {
				t = r.start(ctx, name)
				if c.Cancel != nil {
					t.cancel(errCancelled(c.Cancel.Reason))
				}
				r.carryOut(t, c.Call)
			} else if t != nil && c.Cancel != nil {
				t.cancel(errCancelled(c.Cancel.Reason))
			}
		case Wait:
			wait = c
		}
	}
	r.wait(wait)
	for name, t := range r.tasks {
		if !named[name] {
			t.end()
			delete(r.tasks, name)
		}
	}
	r.previews.abandon() // of calls that are not to be made, or not yet
}

// carryOut has a call carried out by whoever has its tool.
func (r *run) carryOut(t *task, c Call) {
	if c.System != "" {
		r.callSystem(t, c)
		return
	}
	r.call(t, c)
}

// wait sets the alarm, or takes it back.
func (r *run) wait(w Wait) {
	if r.alarm != nil {
		r.alarm.Stop()
		r.alarm = nil
	}
	if !w.Until.IsZero() {
		r.alarm = time.NewTimer(max(0, time.Until(w.Until)))
	}
}

// rung returns where the alarm is heard; nil, from which nothing comes, if there is none.
func (r *run) rung() <-chan time.Time {
	if r.alarm == nil {
		return nil
	}
	return r.alarm.C
}

func (r *run) start(ctx context.Context, name string) *task {
	t := &task{name: name}
	t.ctx, t.end = context.WithCancel(ctx)
	t.asked, t.cancel = context.WithCancelCause(t.ctx)
	r.tasks[name] = t
	return t
}

// tell hands an update to the run, unless nobody is interested in the task any more.
func (r *run) tell(u update) {
	select {
	case r.updates <- u:
	case <-u.task.ctx.Done():
	}
}

// caught is deferred by tasks: a panic in a model or a client ends the command that it belongs to, not all runs, which
// would meet it again when they are resumed. outcome makes the event that the task then leads to.
func (r *run) caught(t *task, outcome func(words string) Payload) {
	v := recover()
	if v == nil {
		return
	}
	r.agent.config.Log.Error("panic in a task", "run", r.id, "task", t.name, "panic", v, "stack", string(debug.Stack()))
	words := fmt.Sprintf("agentd has a bug: a panic: %v", v)
	r.tell(update{task: t, done: func() Payload { return outcome(words) }})
}

func (r *run) handle(ctx context.Context, u update) error {
	if u.task.ctx.Err() != nil {
		return nil // stopped meanwhile
	}
	if u.offered != nil {
		r.offered = u.offered
	}
	if u.passing != nil {
		r.feed.pass(u.passing)
		return nil
	}
	if u.done == nil {
		return nil
	}
	p := u.done()
	u.task.end()
	delete(r.tasks, u.task.name)
	if res, ok := p.(*CallResult); ok {
		p = r.state.Settle(res)
	}
	err := r.commit(ctx, p)
	if bad, ok := errors.AsType[notJSON](err); ok {
		return r.commit(ctx, r.substitute(p, bad))
	}
	return err
}

// substitute returns what happens instead of an event that is no JSON.
func (r *run) substitute(p Payload, bad error) Payload {
	if res, ok := p.(*CallResult); ok {
		c := Call{ID: res.CallID, Tool: res.Tool}
		e := tool.Errorf(tool.KindInternal, "the tool's answer is not well-formed: %w", bad)
		e.Plugin, e.Instance = res.Plugin, res.Instance
		return failureResult(&c, e)
	}
	return r.state.Failed(StopModelError, fmt.Sprintf("the model's answer is not well-formed: %v", bad))
}

// errCancelled is the cause with which a call's task is cancelled.
func errCancelled(reason string) error {
	return &tool.Error{Kind: tool.KindCancelled, Message: firstOf(reason, "the run was cancelled")}
}
