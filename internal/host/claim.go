package host

import (
	"context"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// claim gives a call whose arguments are complete its id. It returns the call to follow, and what is to
// be done for it. That is the call itself if the id was free. It is another one if the same call has
// the id. If the id or the arguments cannot be used, the call has ended. whole says that the arguments
// arrived with the call, in one piece.
func (h *Host) claim(c *call, text []byte, whole bool) (follow *call, todo task) {
	parsed, err := arguments.Parse(text)
	if err != nil {
		c.finishUnexecuted(tool.Outcome{Result: tool.ErrorResult(err.Error())})
		return c, task{}
	}
	holder, stored, refused := h.ledger.Claim(h.ctx, &c.entry, ledger.SumOf(c.request.Tool, parsed))
	switch {
	case refused != nil:
		c.finishUnexecuted(tool.Outcome{Err: refused})
		return c, task{}
	case stored != nil:
		c.finishJoined()
		return h.restore(c.request, stored), task{}
	case holder.Call != c:
		c.finishJoined()
		return holder.Call, task{}
	default:
		return c, c.accept(submission{text: text, parsed: parsed, whole: whole})
	}
}

// openFormer follows a call that was made when its tool still existed: the tool is gone, but the outcome
// of the call is not. It returns neither an execution nor an error if the id is free.
func (h *Host) openFormer(ctx context.Context, request *tool.Call) (*execution, error) {
	if request.ID == "" || len(request.Arguments) > h.cfg.MaxArgumentBytes {
		return nil, nil
	}
	parsed, err := arguments.Parse(request.Arguments)
	if err != nil {
		return nil, nil // such arguments were never executed
	}
	key := ledger.Key{Principal: request.Principal, Session: request.Session, ID: request.ID}
	holder, stored, refused := h.ledger.Holder(h.ctx, key, ledger.SumOf(request.Tool, parsed))
	var c *call
	switch {
	case refused != nil:
		return nil, refused
	case stored != nil:
		c = h.restore(*request, stored)
	case holder != nil:
		c = holder.Call
	default:
		return nil, nil
	}
	e := &execution{host: h, id: request.ID, outcomeOnly: request.OutcomeOnly, call: c, complete: true, replayed: true}
	if !c.memory.follow() {
		e.hold.On(budget.FromContext(ctx))
	}
	return e, nil
}

// restore returns a call that has ended with the outcome that the store has.
func (h *Host) restore(request tool.Call, stored *callstore.Entry) *call {
	c := &call{host: h, request: request}
	c.memory.over = true
	c.entry.Conclude()
	c.events.Restore(ledger.StoredOutcome(stored), 0)
	return c
}
