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
}

// accept makes a run ready whose arguments are complete, and returns the work, nil if nothing can come of it.
func (r *run) accept(s submission) func() {
	r.mu.Lock()
	if r.finished { // as a preview that failed: nothing can come of it, and nothing is to be decided or noted
		r.mu.Unlock()
		return nil
	}
	r.setTimeout()
	previews := r.working
	r.working = true
	r.mu.Unlock()
	return func() {
		switch {
		case !r.prepare(s):
		case previews:
			r.signal()
		default:
			r.work()
		}
	}
}

// prepare takes complete arguments through all that stands before a plugin. It returns false if that ended the call.
func (r *run) prepare(s submission) bool {
	if _, err := r.secrets(); err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return false
	}
	text, parsed, ok := r.filterBefore(s)
	if !ok {
		return false
	}
	schema, err := r.schema()
	if err != nil {
		r.finishWithout(tool.Outcome{Err: r.unsent(err)})
		return false
	}
	if !r.tool.Spec.Strict {
		if mended, repairs := schema.Repair(parsed); len(repairs) > 0 && r.noteRepairs(mended, repairs) {
			parsed, text = mended, mended.Canonical
		}
	}
	if err := schema.Validate(parsed); err != nil {
		r.finishWithout(tool.Outcome{Result: tool.ErrorResult(err.Error())})
		return false
	}
	if err := r.permit(s, parsed); err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return false
	}
	if err := r.paced(false); err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replaced = !bytes.Equal(text, s.text)
	r.complete = true
	if !r.finished { // as a preview that failed meanwhile: nobody would let go of it
		r.text = text
	}
	return true
}
