package host

import (
	"context"
	"crypto/rand"
	"slices"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// Open begins a call. If complete is set, call.Arguments are all the arguments, and the host
// executes the call; otherwise they are the beginning of the text, and the caller sends the rest
// with Execution.Send. ctx bounds only the opening. The caller must close the execution.
//
// Arguments that are not JSON or do not fit the tool's schema end the call with a result that tells
// the model; the host launches no process for them. Errors: not_found, invalid_argument,
// unavailable.
func (h *Host) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	e, todo, err := h.open(ctx, &call, complete)
	if err != nil {
		h.refused(call.Tool, err)
		return nil, err
	}
	if todo.call != nil {
		todo.call.spawn(todo.do)
	}
	return e, nil
}

// open begins a call. The caller must do the returned task.
func (h *Host) open(ctx context.Context, call *tool.Call, complete bool) (e *execution, todo task, err error) {
	if err := h.checkCall(ctx, call); err != nil {
		return nil, task{}, err
	}
	in, err := h.lookup(ctx, call.Tool, mayCall(ctx, call))
	if tool.KindOf(err) == tool.KindNotFound && complete && authz.FromContext(ctx).InScope(call.Tool) {
		if e, refused := h.openFormer(ctx, call, in.settings); e != nil || refused != nil {
			return e, task{}, refused
		}
	}
	if tool.KindOf(err) == tool.KindNotFound {
		h.noteUnknown(ctx, call)
	}
	if err != nil {
		return nil, task{}, ofCall(call.ID, err)
	}
	e = &execution{}
	todo, err = e.begin(ctx, h, call, in, complete)
	return e, todo, err
}

// begin begins a call that has passed checkCall. e must be zero.
func (e *execution) begin(ctx context.Context, h *Host, call *tool.Call, in toolView, complete bool) (todo task, err error) {
	id, generated := call.ID, call.ID == ""
	if generated {
		id = "call-" + rand.Text()
	}
	if in.tool.Spec.HasSideEffects() {
		if err := h.ledger.CheckRestored(call); err != nil {
			return task{}, err
		}
	}
	c, err := h.newCall(call, in, ToolCall, id, generated)
	if err != nil {
		return task{}, err
	}
	c.holding = heldBy(ctx, call)
	if err := c.admit(ctx, len(call.Arguments), complete); err != nil {
		c.timer.Stop()
		c.uncount()
		return task{}, err
	}
	e.host, e.id, e.generated, e.outcomeOnly, e.text, e.call = h, id, generated, call.OutcomeOnly, flow.TextOf(call.Arguments), c
	if complete {
		return e.submit(), nil
	}
	if in.tool.Spec.PartialArguments && c.mayPreview() {
		c.preview(call.Arguments)
	}
	e.awaitArguments()
	return task{}, nil
}

// admit returns why the call cannot begin: its arguments are too large, a quota is full, or there
// is no memory for it.
func (c *call) admit(ctx context.Context, arguments int, complete bool) error {
	if arguments > c.settings.MaxArgumentBytes {
		return c.settings.tooLarge(c.request.ID)
	}
	if err := c.count(ctx); err != nil {
		return err
	}
	return c.reserve(ctx, arguments, complete)
}

// mayPreview reports whether the plugin may look at the arguments before they are complete: the
// policy must not deny the call, no filter may have to see the arguments first, and all secrets
// must exist.
func (c *call) mayPreview() bool {
	if !c.settings.authorizer.allowsPreview(c.ctx(), &c.request, c.tool) || c.filters().mustSeeArguments() {
		return false
	}
	_, err := c.secrets()
	return err == nil
}

// checkCall refuses calls that are invalid whatever their tool is, and calls that this host may
// have executed and forgotten.
func (h *Host) checkCall(ctx context.Context, call *tool.Call) error {
	if call.ID != "" {
		if err := tool.CheckID(call.ID); err != nil {
			return tool.Errorf(tool.KindInvalidArgument, "the call id cannot be used: %w", err)
		}
	}
	if err := ledger.CheckSession(call.Session); err != nil {
		return err
	}
	if call.Timeout < 0 {
		return tool.Errorf(tool.KindInvalidArgument, "the timeout %v is negative; give a positive one, or none for the tool's own", call.Timeout)
	}
	if call.ApprovalWait != nil && *call.ApprovalWait < 0 {
		return tool.Errorf(tool.KindInvalidArgument, "the call cannot wait %v for an approval; give 0 or more, or nothing for a call that is not held", *call.ApprovalWait)
	}
	if err := checkContext(call.Context); err != nil {
		return err
	}
	if err := checkSupersedes(call); err != nil {
		return err
	}
	if call.Approval != nil && call.Approval.Approver == "" && call.Approval.ApprovedBy == "" {
		return tool.Errorf(tool.KindInvalidArgument, "the approval does not say who approved; set approved_by")
	}
	if call.Approval != nil && call.Approval.ArgumentsSHA256 != "" && !frozen.IsDigest(call.Approval.ArgumentsSHA256) {
		return tool.Errorf(tool.KindInvalidArgument, "the approval's arguments_sha256 is no digest; repeat that of the answer that asked for approval, 64 lower-case hexadecimal digits")
	}
	if err := h.ledger.Check(ctx, call); err != nil {
		return err
	}
	return nil
}

// checkSupersedes refuses calls that cannot repeat others.
func checkSupersedes(call *tool.Call) error {
	if len(call.Supersedes) > tool.MaxSupersedes {
		return tool.Errorf(tool.KindInvalidArgument, "the call repeats %d calls, and can repeat %d", len(call.Supersedes), tool.MaxSupersedes)
	}
	for i, id := range call.Supersedes {
		switch err := tool.CheckID(id); {
		case err != nil:
			return tool.Errorf(tool.KindInvalidArgument, "the id of a call that the call repeats cannot be used: %w", err)
		case call.ID == "" || id == call.ID || slices.Contains(call.Supersedes[:i], id):
			return tool.Errorf(tool.KindInvalidArgument, "a call that repeats others needs an id of its own, and names each of the others once")
		}
	}
	return nil
}

// ofCall sets the call id of an error.
func ofCall(id string, err error) error {
	e := tool.AsError(err)
	e.CallID = id
	return e
}

func (g *generation) tooLarge(callID string) *tool.Error {
	err := tool.Errorf(tool.KindInvalidArgument, "the arguments are larger than %d bytes; put large data into a file of the workspace and pass its path", g.MaxArgumentBytes)
	err.CallID = callID
	return err
}

// claim gives a call whose arguments are complete its id. It returns the call to follow, and the
// remaining work. If the id was free, follow is the call itself. If the same call has the id
// already, follow is that call. If the id or the arguments cannot be used, the call has ended.
// whole says that the arguments arrived with the call, in one piece.
func (h *Host) claim(c *call, text []byte, whole bool) (follow *call, todo task) {
	parsed, err := arguments.Parse(text)
	if err != nil {
		c.finishUnexecuted(tool.Outcome{Result: tool.ErrorResult(err.Error())})
		return c, task{}
	}
	return h.claimFor(c, submission{text: text, parsed: parsed, whole: whole}, true)
}

// claimFor is claim for parsed arguments. If the same call has an unknown outcome that its tool can
// settle, and ask is set, nothing has the id yet: the work is to ask the tool and to claim again.
// If another toolhost executes the call, the work is to wait for its end, and to claim again.
func (h *Host) claimFor(c *call, s submission, ask bool) (follow *call, todo task) {
	recorded := c.tool.Spec.HasSideEffects() || len(c.permittedKinds()) > 0 // see attempt.open
	holder, stored, refused := h.ledger.Claim(h.ctx, &c.entry, ledger.SumOf(c.request.Tool, s.parsed), recorded)
	switch {
	case refused != nil:
		c.finishUnexecuted(tool.Outcome{Err: refused})
		return c, task{}
	case ask && (stored != nil && stored.Unsettled() || stored == nil && holder.Call != c) && h.settler.IsUnsettled(h.ctx, c.entry.Key()):
		return c, task{call: c, submitted: s, unsettled: true}
	case stored != nil && stored.Elsewhere != "":
		return c, task{call: c, submitted: s, elsewhere: stored}
	case stored != nil:
		c.finishJoined()
		return h.restore(c.request, c.settings, stored), task{}
	case holder.Call != c:
		c.finishJoined()
		return holder.Call, task{}
	default:
		return c, c.accept(s)
	}
}

// openFormer opens a call whose tool no longer exists, for a caller that repeats the id: the
// outcome of the call may still exist. It returns neither an execution nor an error if the id is
// free.
func (h *Host) openFormer(ctx context.Context, request *tool.Call, settings *generation) (*execution, error) {
	if request.ID == "" || len(request.Arguments) > settings.MaxArgumentBytes {
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
	case stored != nil && stored.Elsewhere != "":
		return nil, ledger.Elsewhere(stored)
	case stored != nil:
		c = h.restore(*request, settings, stored)
	case holder != nil:
		c = holder.Call
	default:
		return nil, nil
	}
	e := &execution{host: h, id: request.ID, outcomeOnly: request.OutcomeOnly, call: c, complete: true, replayed: true}
	if !c.memory.follow() {
		holdFor(ctx, &e.hold, request)
	}
	return e, nil
}

// restore returns an ended call with the outcome from the store.
func (h *Host) restore(request tool.Call, settings *generation, stored *callstore.Entry) *call {
	c := &call{services: h.services, settings: settings, request: request}
	c.memory.over = true
	c.entry.Conclude()
	c.events.Restore(ledger.StoredOutcome(stored), 0)
	return c
}
