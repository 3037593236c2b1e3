package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

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
	r.awaitTasks(err)
	if r.tries == 0 && tool.KindOf(err) == tool.KindUnavailable {
		r.tries = 1 // the journal could not be read
	}
	again := err != nil && r.tries > 0 && ctx.Err() == nil
	pause := time.Duration(0)
	if err != nil && ctx.Err() == nil {
		if r.agent.journal.shared != nil && !again && !elsewhere(err) {
			pause = failedPause
		}
		r.log.to(loglevel.Runs).Error("run stopped before its end", "tried_again", again, "pause", pause, "error", err)
	}
	for _, in := range r.agent.work.drop(r, pause) {
		in.answer(reply{err: err})
	}
	r.feed.end(err)
	r.err = err
	close(r.done)
	if again {
		r.agent.work.group.Go(func() { // ends with the agent at the latest
			r.agent.work.retryLater(runRef{id: r.id, last: r.state.Seq(), parent: r.parent, owner: r.owner, tries: r.tries})
		})
	}
}

// awaitTasks waits for the tasks, which are stopped, and answers inputs meanwhile with the error
// that ended the loop, if one did: a task may wait for a server that takes its time, and the
// request may find another agent.
func (r *run) awaitTasks(err error) {
	ended := make(chan struct{})
	go func() { r.group.Wait(); close(ended) }() // ends with the tasks
	for {
		select {
		case <-r.woken:
			inputs, _, _ := r.agent.work.take(r, false)
			for _, in := range inputs {
				in.answer(reply{err: err})
			}
		case <-ended:
			return
		}
	}
}

// failedPause is how long a run that agents share is left alone after it stopped before its end,
// such as one with an event that this version does not know. Without the pause, all agents would
// take it again with each look. Another one may know the event, and a request does not wait for it.
const failedPause = time.Minute

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
		inputs, posted, left := r.agent.work.take(r, idle)
		if left {
			return nil
		}
		if err := r.admit(ctx, inputs); err != nil {
			return err
		}
		if posted {
			if err := r.admitPosted(ctx); err != nil {
				return err
			}
		}
		r.reconcile(ctx)
		if r.state.Finished() != nil {
			continue
		}
		rest := r.resting()
		if rest != nil && r.agent.work.park(r, rest) {
			return nil
		}
		select {
		case <-r.parked:
			return nil
		case <-r.woken:
		case u := <-r.updates:
			if rest != nil && !r.agent.work.stir(r) {
				return nil
			}
			if err := r.handle(ctx, u); err != nil {
				return err
			}
		case r.slot.wanted() <- struct{}{}:
			r.slot.held = true
		case <-r.alarm.channel():
			if rest != nil && !r.agent.work.stir(r) {
				return nil
			}
			if err := r.commit(ctx, r.state.Due(time.Now())...); err != nil {
				return err
			}
		case <-r.lost:
			return tool.Errorf(tool.KindConflict, "another agentd has taken run %s over; it goes on there: %w", r.id, runstore.ErrClaimed)
		case <-ctx.Done():
			return errClosed()
		}
	}
}

// reconcile starts the commands of Next that are not in progress, and stops everything that is in
// progress but not among the commands.
func (r *run) reconcile(ctx context.Context) {
	named := make(map[string]bool)
	var wait loop.Wait
	mayWork := r.slot.mayWork() && !r.agent.work.drains()
	for _, command := range loop.Next(&r.state) {
		switch c := command.(type) {
		case loop.AskModel:
			name := "turn " + strconv.Itoa(c.Turn)
			named[name] = true
			if r.tasks[name] == nil && mayWork {
				r.requestModel(r.startTask(ctx, name))
			}
		case loop.Summarize:
			name := fmt.Sprintf("summary %d %d", c.Turn, c.Replaced)
			named[name] = true
			if r.tasks[name] == nil && mayWork {
				r.summarize(r.startTask(ctx, name), c)
			}
		case loop.CallTool:
			name := c.Call.SentID()
			named[name] = true
			t := r.tasks[name]
			// a sub-run that waits for a person needs no slot
			if t == nil && (mayWork || r.state.WaitsForPerson(c.Call.ID)) {
				t = r.startTask(ctx, name)
				if c.Cancel != nil {
					t.cancel(errCancelled(c.Cancel.Reason))
				}
				t.questions.deliver(c.Replies)
				r.startCall(t, c.Call)
			} else if t != nil {
				t.questions.deliver(c.Replies)
				if c.Cancel != nil {
					t.cancel(errCancelled(c.Cancel.Reason))
				}
			}
		case loop.ReviewCall:
			name := "review " + c.Call.SentID()
			named[name] = true
			if r.tasks[name] == nil {
				reviewCall(r, r.startTask(ctx, name), c.Call)
			}
		case loop.ApproveStanding:
			named[c.RequestID] = true
			if r.tasks[c.RequestID] == nil && mayWork {
				r.approveStanding(r.startTask(ctx, c.RequestID), c)
			}
		case loop.Wait:
			wait = c
		}
	}
	r.alarm.set(wait)
	for name, t := range r.tasks {
		if !named[name] {
			t.stop()
			delete(r.tasks, name)
		}
	}
	r.previews.abandon() // previews of calls that are not started now
}

func (r *run) handle(ctx context.Context, u update) error {
	if u.task.ctx.Err() != nil {
		return nil // the task was stopped
	}
	if u.lost != nil {
		return u.lost
	}
	if u.offered != nil {
		r.offered = u.offered
	}
	if u.passing != nil {
		r.feed.pass(u.passing)
		return nil
	}
	if u.waiting != nil {
		return r.recordWaiting(ctx, u.waiting)
	}
	if u.asked != nil {
		return r.takeQuestion(ctx, u.task, u.asked)
	}
	if u.replied != nil {
		return r.commit(ctx, u.replied)
	}
	if u.done == nil {
		return nil
	}
	p := u.done()
	if p == nil {
		u.task.asksNobody = true
		return nil // the task of the review stays, so that it is not repeated
	}
	u.task.stop()
	delete(r.tasks, u.task.name)
	if res, ok := p.(*loop.CallResult); ok {
		p = r.state.Settle(res)
	}
	if requested, ok := p.(*loop.DecisionRequested); ok {
		if r.config.ApproveStanding == nil {
			requested.Definition = ""
		}
		u.review.describe(requested)
	}
	err := r.commit(ctx, p)
	if bad, ok := errors.AsType[notJSON](err); ok {
		return r.commit(ctx, r.substitute(p, bad))
	}
	return err
}

// startCall starts a call of a system tool or of toolhost.
func (r *run) startCall(t *task, c loop.Call) {
	if c.System != "" {
		r.callSystem(t, c)
		return
	}
	r.makeCall(t, c)
}

// callSystem carries out a call of a system tool that the state alone cannot answer. Its goroutine
// belongs to the run and ends with the task.
func (r *run) callSystem(t *task, c loop.Call) {
	switch c.System {
	case loop.SystemNewTask:
		r.subRun(t, c)
	case loop.SystemToolSearch:
		r.searchTools(t, c)
	default:
		unknown := tool.Errorf(tool.KindNotFound, "this agentd has no system tool %q", loop.Clip(c.System))
		r.group.Go(func() {
			r.report(update{task: t, done: func() loop.Payload { return loop.FailureResult(&c, unknown) }})
		})
	}
}
