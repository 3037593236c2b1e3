package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/tool"
)

// Open begins a call. If complete, call.Arguments are all the arguments and the call is executed; else they are the
// beginning of its text, and Send on the execution brings the rest. ctx bounds only the opening.
//
// Arguments that are not JSON or do not fit the tool's schema end the call with a result that tells the model; no
// process is launched for them. Errors: not_found, invalid_argument, unavailable.
func (h *Host) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	e, todo, err := h.open(ctx, &call, complete)
	if err != nil {
		return nil, err
	}
	if todo.run != nil {
		todo.run.spawn(todo.do)
	}
	return e, nil
}

// Do makes a call whose arguments are complete, from beginning to end. It returns soon, and where the call need not wait for
// anything but its tool, it has been given to the plugin by then (see express); any other has a goroutine of the host's. opened
// is told of the execution as soon as there is one, to cancel it; done gets the outcome, exactly once, also if ctx has ended.
// When ctx ends, a call without an id of its caller's is cancelled; any other goes on. Both are called before Do returns or
// from a goroutine of the host's, which may be one that reads a plugin's stream: they must not block. It is Open for who
// wants nothing but the outcome, and costs less.
func (h *Host) Do(ctx context.Context, call tool.Call, opened func(tool.Execution), done func(tool.Event)) {
	call.OutcomeOnly = true
	t := h.unhindered(&call)
	switch {
	case t != nil && h.board():
		x := &express{host: h, ctx: ctx, done: done}
		x.begin(&call, t, opened)
	default:
		h.doBeside(ctx, call, opened, done)
	}
}

// doBeside makes a call in a goroutine. It is a function of its own because a call that has none needs no copy of the call.
func (h *Host) doBeside(ctx context.Context, call tool.Call, opened func(tool.Execution), done func(tool.Event)) {
	if !h.spawn(func() { h.do(ctx, &call, opened, done) }) {
		done(failed(&call, tool.Errorf(tool.KindUnavailable, "%w", errStopping)))
	}
}

// do tells done the outcome of a call, once it has one.
func (h *Host) do(ctx context.Context, call *tool.Call, opened func(tool.Execution), done func(tool.Event)) {
	e, todo, err := h.open(ctx, call, true)
	if err != nil {
		done(failed(call, err))
		return
	}
	defer e.letGo() // the outcome's memory is the call's until done has seen to it
	opened(e)
	if e.minted {
		defer context.AfterFunc(ctx, e.Close)()
	}
	todo.do() // then its outcome is there, whatever became of ctx
	ev, err := e.Next(ctx)
	if err != nil {
		ev = failed(call, err)
	}
	done(ev)
}

// failed is the outcome of a call that cannot be followed.
func failed(call *tool.Call, err error) tool.Event {
	e := *tool.AsError(err)
	e.CallID = cmp.Or(e.CallID, call.ID)
	return tool.Event{Ended: &tool.Outcome{CallID: e.CallID, Err: &e}}
}

// open begins a call. What is still to be done for it is todo.
func (h *Host) open(ctx context.Context, call *tool.Call, complete bool) (e *execution, todo task, err error) {
	if err := checkCall(call); err != nil {
		return nil, task{}, err
	}
	if err := h.checkLedger(call); err != nil {
		return nil, task{}, err
	}
	t, err := h.lookup(ctx, call.Tool)
	if tool.KindOf(err) == tool.KindNotFound && complete {
		if e, refused := h.formerly(ctx, *call); e != nil || refused != nil {
			return e, task{}, refused
		}
	}
	if err != nil {
		return nil, task{}, ofCall(call.ID, err)
	}
	e = &execution{}
	todo, err = e.begin(ctx, h, call, t, complete)
	return e, todo, err
}

// openOf is open for a call that is unhindered, whose tool that has shown. It does not block. e, of the zero value, is to be the
// caller's hold on the call.
func (h *Host) openOf(ctx context.Context, e *execution, call *tool.Call, t *catalog.Tool) (todo task, err error) {
	if err := checkCall(call); err != nil {
		return task{}, err
	}
	if err := h.checkLedger(call); err != nil {
		return task{}, err
	}
	if err := h.switchedOff(t.Plugin.Info.Name); err != nil {
		return task{}, ofCall(call.ID, err)
	}
	e.fresh = true // else the call were not unhindered
	return e.begin(ctx, h, call, t, true)
}

// begin begins a call that was checked, of a tool that may be called. e has nothing but fresh.
func (e *execution) begin(ctx context.Context, h *Host, call *tool.Call, t *catalog.Tool, complete bool) (todo task, err error) {
	r, err := h.newRun(*call, t)
	if err != nil {
		return task{}, err
	}
	if r.minted = call.ID == ""; r.minted {
		r.call.ID = "call-" + rand.Text()
	}
	if len(call.Arguments) > h.cfg.MaxArgumentBytes {
		return task{}, h.tooLarge(r.call.ID)
	}
	if err := r.reserve(ctx, call, complete); err != nil {
		return task{}, err
	}
	r.fresh = e.fresh
	e.host, e.id, e.minted, e.outcomeOnly, e.text, e.run = h, r.call.ID, r.minted, call.OutcomeOnly, flow.TextOf(call.Arguments), r
	if complete {
		todo = e.submit()
	} else if t.Spec.PartialArguments && r.mayPreview() && r.hasSecrets() {
		r.preview(call.Arguments)
	}
	if !complete {
		e.awaitArguments()
	}
	return todo, nil
}

// checkCall refuses calls that cannot be, whatever their tool is.
func checkCall(call *tool.Call) error {
	if call.ID != "" {
		if err := tool.CheckID(call.ID); err != nil {
			return tool.Errorf(tool.KindInvalidArgument, "the call id cannot be used: %w", err)
		}
	}
	if err := checkSession(call.Session); err != nil {
		return err
	}
	if call.Timeout < 0 {
		return tool.Errorf(tool.KindInvalidArgument, "the timeout %v is negative; give a positive one, or none for the tool's own", call.Timeout)
	}
	if call.Approval != nil && call.Approval.ApprovedBy == "" {
		return tool.Errorf(tool.KindInvalidArgument, "the approval does not say who approved; set approved_by")
	}
	if call.Approval != nil && call.Approval.ArgumentsSHA256 != "" && !isDigest(call.Approval.ArgumentsSHA256) {
		return tool.Errorf(tool.KindInvalidArgument, "the approval's arguments_sha256 is no digest; repeat that of the answer that asked for approval, 64 lower-case hexadecimal digits")
	}
	return nil
}

// ofCall names the call that an error is about.
func ofCall(id string, err error) error {
	e := tool.AsError(err)
	e.CallID = id
	return e
}

func (h *Host) tooLarge(callID string) *tool.Error {
	err := tool.Errorf(tool.KindInvalidArgument, "the arguments are larger than %d bytes; put large data into a file of the workspace and pass its path", h.cfg.MaxArgumentBytes)
	err.CallID = callID
	return err
}

// admit decides what becomes of a call whose arguments are complete: it is run, or it joins the call that has its id,
// or it ends at once. It returns the run to follow, and what is to be done for it. whole says that the arguments came with
// the call, in one piece.
func (h *Host) admit(r *run, text []byte, whole bool) (follow *run, todo task) {
	parsed, err := arguments.Parse(text)
	if err != nil {
		r.finishWithout(tool.Outcome{Result: tool.ErrorResult(err.Error())})
		return r, task{}
	}
	holder, refused := h.claim(r, sumCall(r.call.Tool, parsed))
	if refused != nil {
		r.finishWithout(tool.Outcome{Err: refused})
		return r, task{}
	}
	if holder != r {
		r.joined()
		return holder, task{}
	}
	return r, r.accept(submission{text: text, parsed: parsed, whole: whole})
}

// newRun returns a run that has not begun.
func (h *Host) newRun(call tool.Call, t *catalog.Tool) (*run, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, tool.Errorf(tool.KindUnavailable, "%w", errStopping)
	}
	r := &run{host: h, call: call, tool: t, came: call.Came}
	if r.came.IsZero() {
		r.came = time.Now()
	}
	r.call.Arguments = nil // text has them, as long as they are needed
	return r, nil
}

// errAbandoned is why a call without complete arguments ends when its caller leaves.
var errAbandoned = fmt.Errorf("its caller left before the arguments were complete; nothing was executed")
