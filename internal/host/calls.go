package host

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

// The size of a page of calls.
const (
	defaultCallPage = 100
	maxCallPage     = 1000
)

// Calls returns the calls that are under way and those that are remembered, in memory and on disk, of all principals, the
// newest first. Errors: invalid_argument; unavailable if the ledger on disk cannot be read.
func (h *Host) Calls(ctx context.Context, q tool.CallQuery) (tool.CallPage, error) {
	at, err := parseCallPosition(q.PageToken)
	if err != nil {
		return tool.CallPage{}, err
	}
	size := cmp.Or(min(max(q.PageSize, 0), maxCallPage), defaultCallPage)
	listed := h.rememberedCalls(q, at)
	stored, more, err := h.storedCalls(ctx, q, at, size)
	if err != nil {
		return tool.CallPage{}, err
	}
	listed = append(listed, stored...)
	slices.SortFunc(listed, listedCall.compare)
	more = more || len(listed) > size
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

// listedCall is a call with its place in the store; 0: it is in memory.
type listedCall struct {
	tool.CallRecord
	number int64
}

// compare orders calls: the newest first.
func (c listedCall) compare(d listedCall) int {
	return cmp.Or(d.StartTime.Compare(c.StartTime), cmp.Compare(c.CallID, d.CallID),
		cmp.Compare(c.Session, d.Session), cmp.Compare(c.Principal, d.Principal))
}

// callPosition is where a page of calls begins: after a call, and in the store before a number.
type callPosition struct {
	Time      time.Time `json:"t"`
	ID        string    `json:"i"`
	Session   string    `json:"s,omitempty"`
	Principal string    `json:"p,omitempty"`
	Before    int64     `json:"n,omitempty"` // 0: from the newest
}

func parseCallPosition(token string) (callPosition, error) {
	var at callPosition
	if token == "" {
		return at, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &at)
	}
	if err != nil || at.ID == "" || at.Before < 0 {
		return at, tool.Errorf(tool.KindInvalidArgument, "the page token is not one of this API; use the next_page_token of the page before, unchanged")
	}
	return at, nil
}

func (at callPosition) token() string {
	data, err := json.Marshal(at)
	if err != nil {
		panic(err) // a time, texts and a number
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// after returns the position behind a call.
func (at callPosition) after(c listedCall) callPosition {
	before := at.Before
	if c.number > 0 {
		before = c.number
	}
	return callPosition{Time: c.StartTime, ID: c.CallID, Session: c.Session, Principal: c.Principal, Before: before}
}

// precedes reports whether a call comes after the position.
func (at callPosition) precedes(c listedCall) bool {
	last := listedCall{CallRecord: tool.CallRecord{StartTime: at.Time, CallID: at.ID, Session: at.Session, Principal: at.Principal}}
	return at.ID == "" || last.compare(c) < 0
}

// rememberedCalls returns the calls that the ledger has in memory, behind a position, in no order.
func (h *Host) rememberedCalls(q tool.CallQuery, at callPosition) []listedCall {
	var calls []listedCall
	for _, r := range h.ledger.all() {
		c := listedCall{CallRecord: r.summary()}
		if selects(q, &c.CallRecord) && at.precedes(c) {
			calls = append(calls, c)
		}
	}
	return calls
}

// storedCalls returns so many of the calls that only the store has, and whether there may be more.
func (h *Host) storedCalls(ctx context.Context, q tool.CallQuery, at callPosition, most int) ([]listedCall, bool, error) {
	if h.cfg.Calls == nil {
		return nil, false, nil
	}
	var calls []listedCall
	query := callstore.Query{
		Plugin: q.Plugin, Tool: q.Tool, Session: q.Session, ID: q.CallID, State: q.State, Before: at.Before, Limit: most,
	}
	for len(calls) < most {
		entries, err := h.cfg.Calls.List(ctx, query)
		if err != nil {
			return nil, false, tool.Errorf(tool.KindUnavailable, "%w", err)
		}
		for _, e := range entries {
			query.Before = e.Number
			if h.ledger.find(ledgerKey{principal: e.Principal, session: e.Session, id: e.ID}) == nil {
				calls = append(calls, listedCall{CallRecord: e.Record(), number: e.Number})
			}
		}
		if len(entries) < most {
			return calls, false, nil
		}
	}
	return calls, true, nil
}

// summary returns the call as operators see it.
func (r *run) summary() tool.CallRecord {
	c := tool.CallRecord{
		CallID:    r.call.ID,
		Principal: r.call.Principal,
		Session:   r.call.Session,
		Tool:      r.call.Tool,
		Plugin:    r.tool.Plugin.Info.Name,
		Instance:  r.record.place(),
		State:     tool.CallRunning,
		StartTime: r.came,
	}
	outcome, ended := r.record.outcome()
	if outcome == nil {
		return c
	}
	c.EndTime = ended
	switch {
	case outcome.Err != nil:
		c.State, c.Err = tool.CallFailed, outcome.Err
	case outcome.Result.IsError:
		c.State = tool.CallToolError
	default:
		c.State = tool.CallSucceeded
	}
	return c
}

func selects(q tool.CallQuery, c *tool.CallRecord) bool {
	for _, want := range [][2]string{
		{q.Plugin, c.Plugin}, {q.Tool, c.Tool}, {q.Session, c.Session}, {q.CallID, c.CallID}, {string(q.State), string(c.State)},
	} {
		if want[0] != "" && want[0] != want[1] {
			return false
		}
	}
	return true
}
