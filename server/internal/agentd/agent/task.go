package agent

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
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

	// asking is set once a request of the task is on its way to a model, until it fails or another
	// attempt waits.
	asking atomic.Bool

	asksNobody bool // for a review: it is done, and the run's goroutine keeps the task; only that uses it

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

// errCancelled returns the cause that cancels a call's task.
func errCancelled(reason string) error {
	return &tool.Error{Kind: tool.KindCancelled, Message: cmp.Or(reason, "the run was cancelled")}
}
