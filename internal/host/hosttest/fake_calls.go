package hosttest

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/toolhost/toolhost/tool"
)

// WatchCall follows a call by its key.
func (f *Fake) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	return func(yield func(tool.Event, error) bool) {
		e, err := f.find(key)
		for i := int(after); err == nil; i++ {
			var event tool.Event
			if event, err = e.event(ctx, i); err == nil && !yield(event, nil) || errors.Is(err, io.EOF) {
				return
			}
		}
		yield(tool.Event{}, tool.AsError(err))
	}
}

// CancelCall cancels a call by its key.
func (f *Fake) CancelCall(_ context.Context, key tool.CallKey, reason string) error {
	e, err := f.find(key)
	if err == nil {
		(&handle{execution: e}).Cancel(reason)
	}
	return err
}

func (f *Fake) find(key tool.CallKey) (*execution, error) {
	if err := tool.CheckID(key.ID); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if e := f.ledger[ledgerKey{key.Principal, key.Session, key.ID}]; e != nil {
		return e, nil
	}
	return nil, tool.Errorf(tool.KindNotFound, "there is no call %q", key.ID)
}

// Calls lists calls. The page token is the number of calls on the pages before.
func (f *Fake) Calls(_ context.Context, q tool.CallQuery) (tool.CallPage, error) {
	from, err := strconv.Atoi(q.PageToken)
	if q.PageToken != "" && err != nil {
		return tool.CallPage{}, tool.Errorf(tool.KindInvalidArgument, "the page token is not one of this API")
	}
	f.mutex.Lock()
	all := make([]*execution, 0, len(f.ledger))
	for _, e := range f.ledger {
		all = append(all, e)
	}
	f.mutex.Unlock()
	slices.SortFunc(all, func(a, b *execution) int { return b.came.Compare(a.came) })
	page := tool.CallPage{Calls: []tool.CallRecord{}}
	for _, e := range all {
		if r := e.summary(); (q.State == "" || q.State == r.State) && (q.CallID == "" || q.CallID == r.CallID) {
			page.Calls = append(page.Calls, r)
		}
	}
	page.Calls = page.Calls[min(from, len(page.Calls)):]
	if q.PageSize > 0 && len(page.Calls) > q.PageSize {
		page.Calls, page.NextPageToken = page.Calls[:q.PageSize], strconv.Itoa(from+q.PageSize)
	}
	return page, nil
}

func (e *execution) summary() tool.CallRecord {
	place := e.outcome()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	r := tool.CallRecord{
		CallID: e.call.ID, Principal: e.call.Principal, Session: e.call.Session, Tool: e.call.Tool,
		Plugin: PluginName, Instance: place.Instance, State: tool.CallRunning, StartTime: e.came,
	}
	if len(e.events) == 0 || e.events[len(e.events)-1].Ended == nil {
		return r
	}
	last := e.events[len(e.events)-1]
	r.EndTime, r.State = last.Time, tool.CallSucceeded
	switch {
	case last.Ended.Err != nil:
		r.State, r.Err = tool.CallFailed, last.Ended.Err
	case last.Ended.Result.IsError:
		r.State = tool.CallToolError
	}
	return r
}
