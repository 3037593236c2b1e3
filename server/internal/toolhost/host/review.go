package host

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

// Review decides about a call with complete arguments as Open does, and executes nothing. It makes
// the final arguments, and keeps those for which an approval is required, so that the approved call
// gets exactly them. It returns the result with which the call would end unexecuted, or nil if the
// tool would be executed now. Nothing has the id afterwards, no statistics count the call, no
// standing approval is used, and the audit log gets only refusals: the permission follows with the
// call, about which the host decides again. Errors: those with which the call would end unexecuted,
// such as approval_required.
func (h *Host) Review(ctx context.Context, call tool.Call) (*tool.Result, error) {
	if err := h.checkCall(ctx, &call); err != nil {
		return nil, err
	}
	in, err := h.lookup(ctx, call.Tool, mayCall(ctx, &call))
	if tool.KindOf(err) == tool.KindNotFound {
		h.noteUnknown(ctx, &call)
	}
	if err != nil {
		return nil, ofCall(call.ID, err)
	}
	c, err := h.newCall(&call, in, Review, cmp.Or(call.ID, "call-"+rand.Text()), call.ID == "")
	if err != nil {
		return nil, err
	}
	if err := c.admit(ctx, len(call.Arguments), true); err != nil {
		c.timer.Stop()
		c.uncount()
		return nil, err
	}
	defer c.memory.unfollow()
	defer context.AfterFunc(ctx, func() { c.Cancel(context.Cause(ctx)) })()
	review(c, call.Arguments)
	outcome, _ := c.events.Outcome()
	if outcome.Err != nil {
		return nil, outcome.Err
	}
	if outcome.Result.IsError || len(outcome.Result.Content) > 0 {
		return &outcome.Result, nil
	}
	return nil, nil
}

// review ends a call with the outcome that it would have unexecuted, or with an empty one.
func review(c *call, text []byte) {
	defer c.caught()
	parsed, err := arguments.Parse(text)
	if err != nil {
		c.finishUnexecuted(tool.Outcome{Result: tool.ErrorResult(err.Error())})
		return
	}
	c.setDeadline()
	if c.prepare(submission{text: text, parsed: parsed, whole: true}) {
		c.finishUnexecuted(tool.Outcome{})
	}
}
