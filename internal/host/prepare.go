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

// accept begins the work of a run whose arguments are complete. It does not wait.
func (r *run) accept(s submission) {
	r.mu.Lock()
	r.setTimeout()
	previews := r.working
	r.working = true
	r.mu.Unlock()
	r.spawn(func() {
		switch {
		case !r.prepare(s):
		case previews:
			r.signal()
		default:
			r.work()
		}
	})
}

// prepare takes complete arguments through all that stands before a plugin. It returns false if that ended the call.
func (r *run) prepare(s submission) bool {
	text, parsed := s.text, s.parsed
	if !r.tool.Spec.Strict {
		if mended, repairs := r.tool.Schema.Repair(parsed); len(repairs) > 0 && r.noteRepairs(mended, repairs) {
			parsed, text = mended, mended.Canonical
		}
	}
	if err := r.tool.Schema.Validate(parsed); err != nil {
		r.finishWithout(tool.Outcome{Result: tool.ErrorResult(err.Error())})
		return false
	}
	if err := r.permit(s, parsed); err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return false
	}
	if err := r.host.rates.check(r, false); err != nil {
		r.finishWithout(tool.Outcome{Err: err})
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replaced = !bytes.Equal(text, s.text)
	r.complete, r.text = true, text
	return true
}

// permit returns nil if the call may be made, with the arguments that would be executed.
func (r *run) permit(s submission, _ arguments.Parsed) *tool.Error {
	approved, err := r.approved(s)
	if err != nil {
		return err
	}
	if r.tool.Spec.Dangerous && !approved {
		return tool.Errorf(tool.KindApprovalRequired,
			"the tool %q is dangerous: a person has to approve the call first; send the approval with the call (`toolhost call --approve`)", r.call.Tool)
	}
	return nil
}

// approved reports whether a person approved the call with just these arguments.
func (r *run) approved(s submission) (bool, *tool.Error) {
	approval := r.call.Approval
	if approval == nil {
		return false, nil
	}
	if len(approval.Arguments) == 0 {
		if !s.whole {
			return false, tool.Errorf(tool.KindApprovalRequired,
				"the approval came before the arguments and does not say which it is for; set its arguments, or send it with the complete arguments")
		}
		return true, nil
	}
	agreed, err := arguments.Parse(approval.Arguments)
	if err != nil {
		return false, tool.Errorf(tool.KindInvalidArgument, "the arguments of the approval: %w", err)
	}
	if !bytes.Equal(agreed.Canonical, s.parsed.Canonical) {
		return false, tool.Errorf(tool.KindApprovalRequired,
			"the approval by %s is for other arguments: %s; ask again for these", approval.ApprovedBy, clip(string(agreed.Canonical), 200))
	}
	return true, nil
}
