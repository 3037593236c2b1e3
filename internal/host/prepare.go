package host

import (
	"bytes"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/tool"
)

// submission is the complete arguments of a call, as its caller gave them.
type submission struct {
	text   []byte
	parsed arguments.Parsed
	whole  bool // they came with the call, in one piece
	work   int  // how much memory was reserved for what has to be done with them
}

// task is what is still to be done for a run whose arguments are complete. The zero task is nothing.
type task struct {
	run       *run
	submitted submission
	previews  bool // another goroutine carries the run through its plugin
}

// do does it. Unless the run previews, it has its outcome then.
func (t task) do() {
	if t.run == nil {
		return
	}
	ready := t.run.prepare(t.submitted, false) == preparedReady
	t.run.hold.Give(t.submitted.work)
	switch {
	case !ready:
	case t.previews:
		t.run.signal()
	default:
		t.run.work()
	}
}

// accept makes a run ready whose arguments are complete, and returns what is to be done for it.
func (r *run) accept(s submission) task {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished { // as a preview that failed: nothing can come of it, and nothing is to be decided or noted
		return task{}
	}
	r.setTimeout()
	previews := r.working
	r.working = true
	return task{run: r, submitted: s, previews: previews}
}

// prepared is what came of preparing a call.
type prepared int

const (
	preparedEnded prepared = iota // it has its outcome
	preparedReady                 // its plugin may have it
	preparedLate                  // something would have to be waited for, and nothing was decided
)

// prepare takes complete arguments through all that stands before a plugin: filters, repair and validation make the final
// arguments, and from then on nothing changes them; policy, approval and limits decide on them. now says that it must not wait
// for the audit log.
func (r *run) prepare(s submission, now bool) prepared {
	if _, err := r.secrets(); err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return preparedEnded
	}
	text, final, ok := r.freeze(s)
	if !ok {
		return preparedEnded
	}
	if err, late := r.permit(s, final, now); late {
		return preparedLate
	} else if err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return preparedEnded
	}
	if err := r.paced(false); err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return preparedEnded
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replaced = !bytes.Equal(text, s.text)
	r.complete = true
	if !r.finished { // as a preview that failed meanwhile: nobody would let go of it
		r.text = text
	}
	return preparedReady
}
