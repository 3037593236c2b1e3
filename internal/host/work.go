package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// maxStarts bounds how often a call is given to another instance because the one before died under it, where its tool
// does not say how often it may be tried.
const maxStarts = 3

// fate is what became of a call with one instance.
type fate int

const (
	fateEnded    fate = iota // it has its outcome
	fateMoved                // the instance died before it took it: it is given to another one
	fateFailed               // it failed, and may be tried again after a while
	fateAnswered             // the tool answered, and that is to be seen to by who may wait: filters are to be asked, say
)

// work carries the call through a plugin. It is the run's goroutine.
func (r *run) work() {
	defer r.dropText()
	leave, err := r.host.gates.enter(&r.ctx, r.call.Tool)
	if err != nil {
		r.finishWithout(tool.Outcome{Plugin: r.tool.Plugin.Info.Name, Err: r.unsent(err)})
		return
	}
	defer leave()
	r.carry(1, nil, leave)
}

// carry takes the call from instance to instance until it has its outcome, from this try on. asked is a place that it has asked
// for, or nil. leave says that the tool is done.
func (r *run) carry(attempt uint32, asked *seat, leave func()) {
	supervisor := r.host.supervisor(r.tool.Plugin)
	for ; ; attempt++ {
		place, err := supervisor.acquire(&r.ctx, r, asked)
		asked = nil
		if err != nil {
			if r.tries(attempt, tool.AsError(err)) && r.pause(attempt, tool.AsError(err)) {
				continue
			}
			r.finishWithout(tool.Outcome{Plugin: r.tool.Plugin.Info.Name, Err: r.unsent(err)})
			return
		}
		f := &follower{run: r, supervisor: supervisor, place: place, instance: place.instance, attempt: attempt}
		f.work()
		supervisor.release(place)
		if !r.again(f, leave) {
			return
		}
	}
}

// again does what became of the call with an instance asks for. It reports whether another one is to have it; if not, it has
// its outcome.
func (r *run) again(f *follower, leave func()) bool {
	switch {
	case f.fate == fateEnded:
		return false
	case f.fate == fateAnswered: // not before the place is released: the filter may need it
		leave() // the tool is done; what filters make of its answer holds up nobody
		r.finish(r.filterAfter(f.outcome))
		return false
	case f.fate == fateFailed:
		if !r.pause(f.attempt, f.outcome.Err) {
			r.finish(f.outcome)
			return false
		}
	case f.attempt >= max(maxStarts, r.tool.Spec.Retry.MaxAttempts):
		r.finishWithout(tool.Outcome{Plugin: f.supervisor.name, Err: tool.Errorf(tool.KindUnavailable,
			"the plugin %q died %d times before it could take the call", f.supervisor.name, f.attempt)})
		return false
	default:
		select { // until the machine knows that it is dead
		case <-f.instance.gone:
		case <-r.ctx.Done():
		}
	}
	return true
}

// work gives the call to the instance and follows it to its end; f.fate says what became of it.
func (f *follower) work() {
	if !f.start(f.instance.proc.Conn().Start) {
		return
	}
	defer f.wire.Close()
	if !f.whole {
		var feeding sync.WaitGroup
		ctx, stop := context.WithCancel(&f.run.ctx)
		feeding.Go(func() { f.feed(ctx) }) // owned by work: ends when the arguments are complete, or with ctx
		defer feeding.Wait()
		defer stop()
	}
	f.follow()
}

// start gives the call to the instance, by a function of its connection's. If it returns false, the instance has not got it, and
// f.fate says what became of it.
func (f *follower) start(begin func(context.Context, pluginwire.Start) (*pluginwire.Call, error)) bool {
	r := f.run
	if r.executed() {
		if err := r.dispatch(f.attempt); err != nil {
			r.finishWithout(tool.Outcome{Plugin: f.supervisor.name, Err: err})
			return false
		}
	}
	given, refused := r.secrets() // again: they may have changed while the call waited
	if refused != nil {
		r.finishWithout(tool.Outcome{Plugin: f.supervisor.name, Err: refused})
		return false
	}
	frame := r.startFrame(f.attempt, given)
	f.began = time.Now()
	wire, err := begin(&r.ctx, frame)
	switch {
	case errors.Is(err, pluginwire.ErrConnLost), errors.Is(err, pluginwire.ErrNoRoom):
		f.fate = fateMoved
		return false
	case err != nil:
		r.finishWithout(tool.Outcome{Plugin: f.supervisor.name, Instance: f.instance.id, Err: r.unsent(err)})
		return false
	}
	f.wire, f.whole = wire, frame.Complete
	r.record.start(tool.Started{CallID: r.call.ID, Plugin: f.supervisor.name, Instance: f.instance.id, Attempt: f.attempt})
	return true
}

// dispatch does what has to be done just before a plugin may execute the call. If it returns an error, the plugin must
// not.
func (r *run) dispatch(attempt uint32) *tool.Error {
	for {
		if attempt == 1 {
			if refused := r.paced(true); refused != nil {
				return refused
			}
			return r.begin()
		}
		refused := r.host.rates.check(r, true)
		if refused == nil {
			return r.begin()
		}
		if !r.sleep(refused.RetryAfter) { // it was let in before; what has to wait now is its next try
			return r.unsent(context.Cause(&r.ctx))
		}
	}
}

// startFrame returns what the plugin is told at the beginning.
func (r *run) startFrame(attempt uint32, given map[string]string) pluginwire.Start {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = len(r.text)
	return pluginwire.Start{
		CallID:      r.call.ID,
		Tool:        r.tool.DeclaredName(),
		Arguments:   r.text[:r.sent:r.sent],
		Complete:    r.complete,
		Attempt:     attempt,
		Timeout:     r.granted(),
		Session:     r.call.Session,
		Workspace:   r.host.cfg.Workspace,
		Values:      declaredValues(r.call.Context, r.tool.Spec.ContextKeys),
		Secrets:     given,
		Traceparent: r.call.Traceparent,
		Artifacts:   r.readArtifact,
		Hold:        r.holdResult,
	}
}

// feed hands preview text, and in the end the complete arguments, to the plugin.
func (f *follower) feed(ctx context.Context) {
	r := f.run
	for {
		select {
		case <-r.more:
		case <-ctx.Done():
			return
		}
		r.mu.Lock()
		var piece, replacement []byte
		complete := r.complete
		if complete && r.replaced {
			replacement = r.text
		} else {
			piece = r.text[r.sent:len(r.text):len(r.text)]
		}
		r.sent = len(r.text)
		r.mu.Unlock()
		err := f.wire.Append(ctx, piece)
		if err == nil && complete {
			if refused := r.dispatch(f.attempt); refused != nil {
				r.finishWithout(tool.Outcome{Plugin: f.supervisor.name, Instance: f.instance.id, Err: refused})
				return
			}
			err = f.wire.Complete(ctx, replacement)
		}
		if complete || err != nil {
			return // if it failed, whoever follows the call sees why
		}
	}
}
