package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/eventlog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// The size of a page of calls.
const (
	defaultCallPage = 100
	maxCallPage     = 1000
)

// LedgerID returns the id of the ledger that remembers the calls. Without Config.Calls, every host
// has a different id.
func (h *Host) LedgerID() string { return h.ledger.ID() }

// Folders returns the workspace, Settings.WritableFolders and Settings.HiddenFolders. The caller
// must not change the slices.
func (h *Host) Folders() tool.Folders {
	latest := h.generations.latest()
	return tool.Folders{Workspace: h.cfg.Workspace, Writable: latest.WritableFolders, Hidden: latest.HiddenFolders}
}

// Calls returns the calls of the principals of some tenants, the newest first: those that run,
// those in the ledger, in memory and on disk, those that ended in the last minutes (recentCalls),
// and the failed ones in the history. Errors: invalid_argument; unavailable if the store or the
// history cannot be read.
func (h *Host) Calls(ctx context.Context, q tool.CallQuery) (tool.CallPage, error) {
	at, err := parseCallPosition(q.PageToken)
	if err != nil {
		return tool.CallPage{}, err
	}
	size := cmp.Or(min(max(q.PageSize, 0), maxCallPage), defaultCallPage)
	listed := h.callsInMemory(q, at)
	stored, more, err := h.callsInStore(ctx, q, at, size)
	if err != nil {
		return tool.CallPage{}, err
	}
	listed = append(listed, stored...)
	failed, moreFailed, err := h.callsInHistory(ctx, q, at, size, listed)
	if err != nil {
		return tool.CallPage{}, err
	}
	listed = append(listed, failed...)
	slices.SortFunc(listed, listedCall.compare)
	more = more || moreFailed || len(listed) > size
	listed = listed[:min(len(listed), size)]
	page := tool.CallPage{Calls: []tool.CallRecord{}}
	for _, c := range listed {
		page.Calls = append(page.Calls, c.CallRecord)
		at = at.after(c)
	}
	if more {
		page.NextPageToken = at.token()
	}
	return page, nil
}

// WatchCall returns the events of a call after a number: first those in the event log, then new
// ones, up to the outcome. If the outcome is unknown and the tool can settle it, WatchCall first
// asks the tool. When ctx ends, the last item is an error. Errors: invalid_argument; not_found,
// also while the arguments of the call are incomplete, because a call gets its id only after that.
func (h *Host) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	return func(yield func(tool.Event, error) bool) {
		events, unfollow, err := h.watch(ctx, key, after)
		defer unfollow()
		for err == nil {
			var ev tool.Event
			ev, err = events.Next(ctx, after)
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

// CancelCall cancels a call, and does not wait for its end. It does nothing to a call that has
// ended. Errors: invalid_argument; not_found.
func (h *Host) CancelCall(ctx context.Context, key tool.CallKey, reason string) error {
	if e := h.ledger.Find(ledger.KeyOf(key)); e != nil && authz.FromContext(ctx).InScope(e.Call.request.Tool) {
		e.Call.Cancel(cancelledBy(reason))
		return nil
	}
	_, err := h.eventsOf(ctx, key, 0)
	return err
}

// Has reports whether a call of this host is in memory.
func (h *Host) Has(key tool.CallKey) bool { return h.ledger.Find(ledger.KeyOf(key)) != nil }

// watch returns the event log of a call for a watcher. ctx carries the watcher's memory account.
// The watcher must call unfollow at the end.
func (h *Host) watch(ctx context.Context, key tool.CallKey, after uint64) (_ *eventlog.Call, unfollow func(), _ error) {
	if ledger.CheckKey(key) == nil && h.settler.IsUnsettled(ctx, ledger.KeyOf(key)) {
		h.settler.Settle(ctx, ledger.KeyOf(key))
	}
	if e := h.ledger.Find(ledger.KeyOf(key)); e != nil && authz.FromContext(ctx).InScope(e.Call.request.Tool) {
		if e.Call.memory.follow() {
			return &e.Call.events, e.Call.memory.unfollow, nil
		}
		e.Call.memory.unfollow()
	}
	if ledger.CheckKey(key) == nil && h.cfg.Calls != nil && h.cfg.Calls.Shared() {
		if _, err := h.services.await(ctx, ledger.KeyOf(key)); err != nil {
			return nil, func() {}, tool.AsError(err)
		}
	}
	events, err := h.eventsOf(ctx, key, after)
	if err != nil {
		return nil, func() {}, err
	}
	hold := &budget.Hold{}
	hold.On(budget.FromContext(ctx))
	hold.For(key.Principal, true) // an operator or a delegate may watch calls of others
	if err := hold.TryReserve(events.Size()); err != nil {
		e := tool.Errorf(tool.KindRateLimited, "the call cannot be shown now: %w; try again later", err)
		e.CallID, e.RetryAfter = key.ID, busyRetry
		return nil, func() {}, e
	}
	return events, hold.Release, nil
}

// eventsOf returns the events of a call in memory or in the store, for a reader that has read the
// events up to a number.
func (h *Host) eventsOf(ctx context.Context, key tool.CallKey, after uint64) (*eventlog.Call, error) {
	if err := ledger.CheckKey(key); err != nil {
		return nil, err
	}
	caller := authz.FromContext(ctx)
	if e := h.ledger.Find(ledger.KeyOf(key)); e != nil {
		if !caller.InScope(e.Call.request.Tool) {
			return nil, unknownCall(key.ID)
		}
		return &e.Call.events, nil
	}
	if h.cfg.Calls == nil {
		return nil, unknownCall(key.ID)
	}
	stored, found, err := h.cfg.Calls.Find(ctx, ledger.KeyOf(key))
	switch {
	case err != nil:
		return nil, tool.Errorf(tool.KindUnavailable, "%w", err)
	case !found, !caller.InScope(stored.Tool):
		return nil, unknownCall(key.ID)
	case stored.Elsewhere != "":
		return nil, ledger.Elsewhere(&stored)
	default:
		events := &eventlog.Call{}
		events.Restore(ledger.StoredOutcome(&stored), after)
		return events, nil
	}
}

func unknownCall(id string) *tool.Error {
	err := tool.Errorf(tool.KindNotFound, "there is no call %q in this session: it was never made, its arguments are not complete yet, or it is forgotten", id)
	err.CallID = id
	return err
}

// callsInMemory returns the calls in memory that match and come after a position, in no order. A
// call that ends gets into recentCalls before it leaves the ledger, so callsInMemory reads the
// ledger first, and leaves out what both have.
func (h *Host) callsInMemory(q tool.CallQuery, at callPosition) []listedCall {
	entries := h.ledger.All()
	var calls []listedCall
	known := map[callPosition]bool{}
	for _, recent := range h.recent.all(time.Now()) {
		c := listedCall{CallRecord: recent}
		known[c.identity()] = true
		if selects(q, &c.CallRecord) && at.precedes(c) {
			calls = append(calls, c)
		}
	}
	for _, e := range entries {
		c := listedCall{CallRecord: summaryOf(e.Call)}
		if selects(q, &c.CallRecord) && at.precedes(c) && !known[c.identity()] {
			calls = append(calls, c)
		}
	}
	return calls
}

// callsInHistory returns matching calls that failed, except those that are listed already, and
// whether there may be more. They are of this toolhost and of those that share its ledger. Memory
// has a failed call too until it needs the room, so callsInHistory reads the history after memory:
// a call that leaves memory meanwhile is in the history by then. The parameter most is the largest
// number of calls to return of each history.
func (h *Host) callsInHistory(ctx context.Context, q tool.CallQuery, at callPosition, most int, listed []listedCall) ([]listedCall, bool, error) {
	if q.State != "" && q.State != tool.CallFailed && q.State != tool.CallNeedsApproval {
		return nil, false, nil
	}
	var before time.Time
	if at.ID != "" {
		before = at.Time.Add(1) // several calls may have begun at that time
	}
	known := make(map[callPosition]bool, len(listed))
	for _, c := range listed {
		known[c.identity()] = true
	}
	var calls []listedCall
	more := false
	elsewhere := func(ctx context.Context, since, before time.Time, visit func(tool.CallRecord) bool) error {
		return h.cfg.History.CallsElsewhere(ctx, since, before, q.Tenants, visit)
	}
	for _, read := range []func(context.Context, time.Time, time.Time, func(tool.CallRecord) bool) error{h.cfg.History.Calls, elsewhere} {
		first := len(calls) // of each of the two, the newest calls are enough
		err := read(ctx, q.Since, before, func(record tool.CallRecord) bool {
			c := listedCall{CallRecord: record}
			c.State = failedState(c.Err) // of an older toolhost
			if selects(q, &c.CallRecord) && at.precedes(c) && !known[c.identity()] {
				calls = append(calls, c)
			}
			return len(calls)-first < most
		})
		if err != nil {
			return nil, false, tool.Errorf(tool.KindUnavailable, "%w", err)
		}
		more = more || len(calls)-first == most
	}
	return calls, more, nil
}

// callsInStore returns matching calls that are only in the store, and whether there may be more.
// The parameter most is the largest number of calls to return.
func (h *Host) callsInStore(ctx context.Context, q tool.CallQuery, at callPosition, most int) ([]listedCall, bool, error) {
	if h.cfg.Calls == nil {
		return nil, false, nil
	}
	var calls []listedCall
	query := callstore.Query{
		Plugin: q.Plugin, Tool: q.Tool, Session: q.Session, ID: q.CallID, State: q.State, Tenants: q.Tenants,
		Before: at.Before, Limit: most,
	}
	for len(calls) < most {
		entries, err := h.cfg.Calls.List(ctx, query)
		if err != nil {
			return nil, false, tool.Errorf(tool.KindUnavailable, "%w", err)
		}
		for _, e := range entries {
			query.Before = e.Number
			if e.Begun.Before(q.Since) {
				return calls, false, nil // the rest began even earlier
			}
			if h.ledger.Find(e.Key) == nil {
				calls = append(calls, listedCall{CallRecord: e.Record(), number: e.Number})
			}
		}
		if len(entries) < most {
			return calls, false, nil
		}
	}
	return calls, true, nil
}

// summaryOf returns a call as operators see it.
func summaryOf(c *call) tool.CallRecord {
	record := tool.CallRecord{
		CallID:    c.request.ID,
		Principal: c.request.Principal,
		Session:   c.request.Session,
		Tool:      c.request.Tool,
		Plugin:    c.plugin(),
		Instance:  c.events.Instance(),
		State:     tool.CallRunning,
		StartTime: c.arrived,
	}
	if outcome, ended := c.events.Outcome(); outcome != nil {
		record.EndTime = ended
		setState(&record, outcome)
	}
	return record
}

// endRecord returns the call as operators see it after its end, which is now. Unlike summaryOf, it
// does not use the event log.
func (c *call) endRecord(outcome *tool.Outcome) tool.CallRecord {
	record := tool.CallRecord{
		CallID:    c.request.ID,
		Principal: c.request.Principal,
		Session:   c.request.Session,
		Tool:      c.request.Tool,
		Plugin:    c.plugin(),
		Instance:  outcome.Instance,
		StartTime: c.arrived,
		EndTime:   time.Now(),
	}
	setState(&record, outcome)
	return record
}

// failedState returns the state of a call that ended with an error.
func failedState(err *tool.Error) tool.CallState {
	if err != nil && err.Kind == tool.KindApprovalRequired {
		return tool.CallNeedsApproval
	}
	return tool.CallFailed
}

func setState(record *tool.CallRecord, outcome *tool.Outcome) {
	record.Settled = outcome.Settled
	switch {
	case outcome.Err != nil:
		record.State, record.Err = failedState(outcome.Err), outcome.Err
	case outcome.Result.IsError:
		record.State = tool.CallToolError
	default:
		record.State = tool.CallSucceeded
	}
}

func selects(q tool.CallQuery, c *tool.CallRecord) bool {
	if c.StartTime.Before(q.Since) || !q.Tenants.Contain(identity.TenantOf(c.Principal)) {
		return false
	}
	for _, want := range [][2]string{
		{q.Plugin, c.Plugin}, {q.Tool, c.Tool}, {q.Session, c.Session}, {q.CallID, c.CallID}, {string(q.State), string(c.State)},
	} {
		if want[0] != "" && want[0] != want[1] {
			return false
		}
	}
	return true
}
