package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

// claim takes the id of a run whose arguments are complete, or finds the call that has it: it returns the run to follow,
// or why there is none. What only the store knows is returned as a run that has ended.
func (h *Host) claim(r *run, sum [sha256.Size]byte) (*run, *tool.Error) {
	if h.cfg.Calls != nil && !r.minted && !r.fresh { // else the ledger in memory knows all there is to know
		if holder, refused := h.holder(&r.call, sum); holder != nil || refused != nil {
			return holder, refused
		}
	}
	return h.ledger.claim(r.ledgerKey(), sum, r)
}

// holder returns the run that has a call's id, if it is that of the same call; or why it cannot be followed; or neither if
// the id is free.
func (h *Host) holder(call *tool.Call, sum [sha256.Size]byte) (*run, *tool.Error) {
	key := ledgerKey{principal: call.Principal, session: call.Session, id: call.ID}
	holder, refused := h.ledger.holder(key, sum)
	if holder != nil || refused != nil || h.cfg.Calls == nil {
		return holder, refused
	}
	entry, found, err := h.cfg.Calls.Find(h.ctx, callstore.Key{Principal: call.Principal, Session: call.Session, ID: call.ID})
	switch {
	case err != nil:
		return nil, tool.Errorf(tool.KindUnavailable, "whether the call id was used before cannot be seen: %w; nothing was executed", err)
	case found && entry.Sum != sum:
		return nil, conflict(key)
	case found && !h.underWay(&entry):
		return h.revived(*call, &entry), nil
	}
	return nil, nil
}

// formerly follows a call that was made when there was still a tool of its name: that the tool has gone does not change what
// became of the call. It returns neither an execution nor an error if the id is not known.
func (h *Host) formerly(ctx context.Context, call tool.Call) (*execution, error) {
	if call.ID == "" || len(call.Arguments) > h.cfg.MaxArgumentBytes {
		return nil, nil
	}
	parsed, err := arguments.Parse(call.Arguments)
	if err != nil {
		return nil, nil // such arguments were never executed
	}
	holder, refused := h.holder(&call, sumCall(call.Tool, parsed))
	switch {
	case refused != nil:
		return nil, refused
	case holder == nil:
		return nil, nil
	}
	e := &execution{host: h, id: call.ID, outcomeOnly: call.OutcomeOnly, run: holder, complete: true, replayed: true}
	if !holder.follow() {
		e.hold.On(budget.FromContext(ctx))
	}
	return e, nil
}

// underWay reports whether the call of an entry was begun by this host and has not ended.
func (h *Host) underWay(e *callstore.Entry) bool {
	return e.State == callstore.StateBegun && h.ledger.find(ledgerKey{principal: e.Principal, session: e.Session, id: e.ID}) != nil
}

// revived returns a run that has ended as the store says.
func (h *Host) revived(call tool.Call, e *callstore.Entry) *run {
	r := &run{host: h, call: call, finished: true, over: true, entry: ledgerEntry{over: true}}
	r.record.revive(e, 0)
	return r
}

// revive makes a new record that of a call of which only the outcome is left. Whoever has seen the events up to a number gets
// it.
func (r *record) revive(e *callstore.Entry, after uint64) {
	r.seq = after
	outcome := e.Outcome
	if outcome == nil {
		outcome = &tool.Outcome{Err: unknownOutcome(e)}
	}
	told := *outcome
	told.CallID, told.Plugin, told.Instance, told.Replayed = e.ID, e.Plugin, e.Instance, true
	if told.Err != nil {
		failure := *told.Err
		failure.CallID, failure.Plugin, failure.Instance = e.ID, e.Plugin, e.Instance
		told.Err = &failure
	}
	r.publish(tool.Event{Ended: &told})
}

// unknownOutcome says why the outcome of a call that was begun cannot be had.
func unknownOutcome(e *callstore.Entry) *tool.Error {
	begun := e.Begun.Format(time.RFC3339)
	switch {
	case e.State != callstore.StateEnded:
		return tool.Errorf(tool.KindOutcomeUnknown,
			"toolhost ended while the call, begun at %s, was under way: it may have done all of its work, a part or none; look before you make a new call", begun)
	case e.Err != nil:
		failure := *e.Err
		return &failure
	default:
		return tool.Errorf(tool.KindOutcomeUnknown,
			"the call was executed at %s and ended with %s, but its result is no longer kept; it is not executed again", begun, endedWith(e.How))
	}
}

func endedWith(how tool.CallState) string {
	if how == tool.CallToolError {
		return "an error of the tool"
	}
	return "a result"
}

// begin writes, before a plugin may execute the call, that it is begun, if that must not happen twice. It does nothing
// the second time. If it returns an error, the plugin must not execute the call.
func (r *run) begin() *tool.Error {
	store := r.host.cfg.Calls
	if store == nil || r.minted || !r.entry.claimed || !r.tool.Spec.HasSideEffects() || r.hasBegun() {
		return nil
	}
	err := store.Begin(&r.ctx, callstore.Entry{
		Key: r.storeKey(), Sum: r.entry.sum, Tool: r.call.Tool, Plugin: r.tool.Plugin.Info.Name, Begun: r.came,
	})
	if err != nil {
		return r.unrecorded(err)
	}
	r.mu.Lock()
	r.begun = !r.finished
	late := r.finished
	r.mu.Unlock()
	if late { // its instance died meanwhile, say
		r.forget()
		return r.unsent(context.Canceled)
	}
	return nil
}

func (r *run) hasBegun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun
}

// unrecorded says why a call that could not be recorded is not made.
func (r *run) unrecorded(err error) *tool.Error {
	if full, ok := errors.AsType[*callstore.FullError](err); ok {
		e := tool.Errorf(tool.KindUnavailable, "%w: no more calls with side effects are taken; nothing was executed", err)
		e.RetryAfter = max(time.Until(full.Room), 0)
		return e
	}
	if r.ctx.Err() != nil {
		return r.unsent(err)
	}
	return tool.Errorf(tool.KindUnavailable, "the call cannot be recorded, and so it must not be made: %w; nothing was executed", err)
}

// end writes how a call that was begun ended.
func (r *run) end(outcome *tool.Outcome) {
	// Not r.ctx: it may have ended with the call. The store answers or fails by itself.
	if err := r.host.cfg.Calls.End(context.WithoutCancel(&r.ctx), r.storeKey(), *outcome); err != nil {
		r.host.cfg.Logger.Error("the outcome of a call was not recorded: after a restart it may be outcome_unknown",
			"call_id", r.call.ID, "tool", r.call.Tool, "error", err)
	}
}

// forget takes back that a call was begun: it never reached a plugin.
func (r *run) forget() {
	if err := r.host.cfg.Calls.Forget(context.WithoutCancel(&r.ctx), r.storeKey()); err != nil {
		r.host.cfg.Logger.Error("a call that was not made stays recorded: its id cannot be used again",
			"call_id", r.call.ID, "tool", r.call.Tool, "error", err)
	}
}

func (r *run) storeKey() callstore.Key {
	return callstore.Key{Principal: r.call.Principal, Session: r.call.Session, ID: r.call.ID}
}
