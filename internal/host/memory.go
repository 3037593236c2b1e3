package host

import (
	"context"
	"errors"
	"time"

	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/tool"
)

// A call takes memory for its arguments, for what is done with them, for what its plugin says of it and for its result. All
// of it is reserved on the account of the connection that made the call (see package budget), which the context carries. The
// arguments and the work go when the run is over. The rest stays reserved until nobody follows the run any more. The ledger
// may keep an outcome longer: it has a bound of its own.
//
// What a caller sends is refused where there is no room. A result was worked for, so that it waits for room, for a while.

const (
	// runBytes is what a call takes besides its texts: the run, its place at an instance, and freeEvents.
	runBytes = 16 << 10
	// freeEvents is how much a record keeps of what a plugin says without reserving more.
	freeEvents = 8 << 10
	// eventStep is how much a record reserves at once when it needs more.
	eventStep = 64 << 10
	// lightArguments are arguments that take no memory worth counting to be parsed and checked.
	lightArguments = 256 << 10
	// formBytes is what parsed arguments take at most besides their text: arguments.Parse bounds the number of their values.
	formBytes = 24 << 20
	// busyRetry is when a caller may try again that was told that there is no room.
	busyRetry = time.Second
)

// workOf returns how much memory it takes to parse and check arguments of so many bytes: their canonical form, and the values
// that are made of them.
func workOf(size int) int {
	if size <= lightArguments {
		return 0
	}
	return 3*size + min(16*size, formBytes)
}

// reserve makes room for a call that begins. It waits where the arguments are complete and large.
func (r *run) reserve(ctx context.Context, call *tool.Call, complete bool) error {
	r.hold.On(budget.FromContext(ctx))
	r.followers = 1
	r.record.grow = r.growRecord
	size := runBytes + r.size() + len(call.Arguments)
	if err := r.hold.TryReserve(size); err != nil {
		return r.noRoom(err)
	}
	if !complete {
		return nil
	}
	if err := r.hold.Reserve(ctx, workOf(len(call.Arguments))); err != nil {
		r.hold.Release()
		return r.noRoom(err)
	}
	return nil
}

// noRoom says why a call is not made.
func (r *run) noRoom(err error) *tool.Error {
	exhausted, ok := errors.AsType[*budget.ExhaustedError](err)
	if !ok {
		e := tool.Errorf(tool.KindCancelled, "the call was given up while it waited for memory: %w; nothing was executed", err)
		e.CallID = r.call.ID
		return e
	}
	e := tool.Errorf(tool.KindRateLimited, "%w; nothing was executed; try again when other calls have ended", exhausted)
	e.CallID, e.RetryAfter = r.call.ID, busyRetry
	return e
}

// holdResult makes room for a part of the result, and waits for it. A result that cannot be held ends the call.
func (r *run) holdResult(ctx context.Context, size int) error {
	err := r.hold.Reserve(ctx, size)
	exhausted, ok := errors.AsType[*budget.ExhaustedError](err)
	if !ok {
		return err
	}
	return tool.Errorf(tool.KindUnavailable, "the tool was executed and its result is lost: %w; let the tool return less, or make fewer such calls at a time",
		exhausted)
}

// growRecord reserves more memory for events. Where there is none, the record drops its oldest events earlier.
func (r *run) growRecord() bool { return r.hold.TryReserve(eventStep) == nil }

// holdLess gives back what a run that is over does not need any more.
func (r *run) holdLess() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.followers == 0 {
		r.hold.Release()
		return
	}
	r.hold.Shrink(int64(runBytes + r.record.bytes()))
}

// follow counts somebody who follows the run. It reports false where the run has let go of its memory, so that who follows
// has to account for it.
func (r *run) follow() (held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held = r.followers > 0 || !r.over
	r.followers++
	return held
}

func (r *run) unfollow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followers--
	if r.followers == 0 && r.over {
		r.hold.Release()
	}
}

// previews reports whether the run's plugin sees the arguments while they come.
func (r *run) previews() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.working && !r.complete
}

// join makes the execution a follower of the run that has its call's id, in place of its own, which is over. e.mu is held.
func (e *execution) join(own *run) {
	if !e.run.follow() {
		e.hold.On(own.hold.Account())
	}
	own.unfollow()
}

// account makes room for the outcome of another's call that this execution is about to show.
func (e *execution) account(o *tool.Outcome) error {
	if err := e.hold.TryReserve(outcomeSize(o)); err != nil {
		e := tool.Errorf(tool.KindRateLimited, "the call has ended and its outcome cannot be shown now: %w; repeat the call with its id later", err)
		e.CallID, e.RetryAfter = o.CallID, busyRetry
		return e
	}
	return nil
}

// letGo says that the execution shows nothing any more. It may be called more than once.
func (e *execution) letGo() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.letGoLocked()
}

func (e *execution) letGoLocked() {
	if e.loose || e.run == nil {
		return
	}
	e.loose = true
	e.hold.Release()
	e.run.unfollow()
}
