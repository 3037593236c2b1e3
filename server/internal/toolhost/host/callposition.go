package host

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// listedCall is a call with its number in the store. The number is 0 if the call is in memory.
type listedCall struct {
	tool.CallRecord
	number int64
}

// identity returns a value that no other call has, and that is the same wherever the call is
// listed. A call id alone may belong to several calls, because a refused call releases its id.
func (c listedCall) identity() callPosition {
	return callPosition{Time: time.Unix(0, c.StartTime.UnixNano()), ID: c.CallID, Session: c.Session, Principal: c.Principal}
}

// compare orders calls: the newest first.
func (c listedCall) compare(d listedCall) int {
	return cmp.Or(d.StartTime.Compare(c.StartTime), cmp.Compare(c.CallID, d.CallID),
		cmp.Compare(c.Session, d.Session), cmp.Compare(c.Principal, d.Principal))
}

// callPosition is where a page of calls begins: after a call, and in the store before a number. Its
// JSON form is the page token.
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
		panic(err) // cannot happen: a time, strings and a number
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// after returns the position after a call.
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
