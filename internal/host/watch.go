package host

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

// WatchCall returns the events of a call after a number: those that are kept, then new ones as they happen, up to its
// outcome. When ctx ends its last item is an error. Errors: invalid_argument; not_found.
//
// A call whose arguments are not complete is not known by its id yet.
func (h *Host) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	return func(yield func(tool.Event, error) bool) {
		record, letGo, err := h.watched(ctx, key, after)
		defer letGo()
		for err == nil {
			var ev tool.Event
			ev, err = record.next(ctx, after)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				err = tool.AsError(err)
			case !yield(ev, nil):
				return
			}
			after = ev.Seq
		}
		yield(tool.Event{}, err)
	}
}

// watched returns the record of a call for a watcher whose account the context carries, and what the watcher calls in the
// end.
func (h *Host) watched(ctx context.Context, key tool.CallKey, after uint64) (_ *record, letGo func(), _ error) {
	r := h.ledger.find(keyOf(key))
	if r != nil && r.follow() {
		return &r.record, r.unfollow, nil
	}
	if r != nil {
		r.unfollow()
	}
	record, err := h.recordOf(ctx, key, after)
	if err != nil {
		return nil, func() {}, err
	}
	hold := &budget.Hold{}
	hold.On(budget.FromContext(ctx))
	if err := hold.TryReserve(record.bytes()); err != nil {
		e := tool.Errorf(tool.KindRateLimited, "the call cannot be shown now: %w; try again later", err)
		e.CallID, e.RetryAfter = key.ID, busyRetry
		return nil, func() {}, e
	}
	return record, hold.Release, nil
}

// CancelCall asks to stop a call, whoever follows it, and does not wait until it has ended. For a call that has ended it
// does nothing. Errors: invalid_argument; not_found.
func (h *Host) CancelCall(ctx context.Context, key tool.CallKey, reason string) error {
	if r := h.ledger.find(keyOf(key)); r != nil {
		r.cancel(cancelledBy(reason))
		return nil
	}
	_, err := h.recordOf(ctx, key, 0)
	return err
}

// recordOf returns the record of a call, for somebody who has seen its events up to a number.
func (h *Host) recordOf(ctx context.Context, key tool.CallKey, after uint64) (*record, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if r := h.ledger.find(keyOf(key)); r != nil {
		return &r.record, nil
	}
	if h.cfg.Calls == nil {
		return nil, unknownCall(key.ID)
	}
	entry, found, err := h.cfg.Calls.Find(ctx, callstore.Key{Principal: key.Principal, Session: key.Session, ID: key.ID})
	switch {
	case err != nil:
		return nil, tool.Errorf(tool.KindUnavailable, "%w", err)
	case !found:
		return nil, unknownCall(key.ID)
	default:
		r := &record{}
		r.revive(&entry, after)
		return r, nil
	}
}

func keyOf(k tool.CallKey) ledgerKey {
	return ledgerKey{principal: k.Principal, session: k.Session, id: k.ID}
}

func checkKey(key tool.CallKey) error {
	if err := tool.CheckID(key.ID); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the call id cannot be one: %w", err)
	}
	if key.Session == "" {
		return nil
	}
	if err := tool.CheckID(key.Session); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the session cannot be one: %w", err)
	}
	return nil
}

func unknownCall(id string) *tool.Error {
	err := tool.Errorf(tool.KindNotFound, "there is no call %q in this session: it was never made, its arguments are not complete yet, or it is forgotten", id)
	err.CallID = id
	return err
}

// cancelledBy returns the cause of a call that is cancelled for a reason; empty: its caller did not say.
func cancelledBy(reason string) *cancelError {
	if reason == "" {
		reason = "its caller cancelled it"
	}
	return &cancelError{reason: reason}
}
