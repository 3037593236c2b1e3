package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// task is a command in progress, in its own goroutine.
type task struct {
	name      string
	ctx       context.Context
	stop      context.CancelFunc      // the run no longer needs the task
	cancel    context.CancelCauseFunc // for a call: cancel it and report its result
	cancelled context.Context         // ended by cancel

	// For a call at toolhost:
	questions *questions
	asked     map[uint32]*tool.Question // the questions that the run has handled; used by the run's goroutine only
}

// update is what a task reports to its run: a passing event, the decisions of a sub-run, a list of
// tools, or its end.
type update struct {
	task    *task
	passing loop.Payload
	waiting *loop.SubRunWaiting
	// returns the event that ends the task; the run's goroutine calls it
	done    func() loop.Payload
	offered *offer  // if not nil, the current tools
	review  *review // of a call that needs approval; may be nil
	asked   *asked
	replied *loop.ModelReplied
	lost    error // why the run does not go on in this process
}

// reconcile starts the commands of Next that are not in progress, and stops everything that is in
// progress but not among the commands.
func (r *run) reconcile(ctx context.Context) {
	named := make(map[string]bool)
	var wait loop.Wait
	mayWork := r.slot.mayWork()
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

// startCall starts a call of a system tool or of toolhost.
func (r *run) startCall(t *task, c loop.Call) {
	if c.System != "" {
		r.callSystem(t, c)
		return
	}
	r.makeCall(t, c)
}

// alarm is when a run goes on although nothing has happened. The zero alarm is off.
type alarm struct{ timer *time.Timer }

// set sets the alarm, or turns it off.
func (a *alarm) set(w loop.Wait) {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if !w.Until.IsZero() {
		a.timer = time.NewTimer(max(0, time.Until(w.Until)))
	}
}

// channel returns the channel of the alarm. If it is off, channel returns nil, on which a receive
// blocks.
func (a *alarm) channel() <-chan time.Time {
	if a.timer == nil {
		return nil
	}
	return a.timer.C
}

func (r *run) startTask(ctx context.Context, name string) *task {
	t := &task{name: name, questions: newQuestions(), asked: map[uint32]*tool.Question{}}
	t.ctx, t.stop = context.WithCancel(ctx)
	t.cancelled, t.cancel = context.WithCancelCause(t.ctx)
	r.tasks[name] = t
	return t
}

// report sends an update to the run, unless the run no longer needs the task.
func (r *run) report(u update) {
	select {
	case r.updates <- u:
	case <-u.task.ctx.Done():
	}
}

// recoverTask recovers a panic of a task. The panic then ends only the task's command. Without it,
// the panic would end all runs, and again each time they are resumed. outcome returns the event
// that ends the task.
func (r *run) recoverTask(t *task, outcome func(words string) loop.Payload) {
	v := recover()
	if v == nil {
		return
	}
	r.log.to(loglevel.Runs).Error("panic in a task", "task", t.name, "panic", v, "stack", string(debug.Stack()))
	words := fmt.Sprintf("agentd has a bug: a panic: %v", v)
	r.report(update{task: t, done: func() loop.Payload { return outcome(words) }})
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
		return nil // a review that asks nobody: its task stays, so that it is not repeated
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

// errCancelled returns the cause that cancels a call's task.
func errCancelled(reason string) error {
	return &tool.Error{Kind: tool.KindCancelled, Message: cmp.Or(reason, "the run was cancelled")}
}
