package tool

import "time"

// Event is something that happened to a call. Exactly one of the pointer fields is set. Started comes first unless the
// call failed before it; Ended comes last, exactly once.
type Event struct {
	Seq     uint64    // the event's place among the call's events, from 1; 0 where events are not numbered
	Time    time.Time // zero where it was not noted
	Started *Started
	Status  *Status
	Log     *LogRecord
	Ended   *Outcome
}

// Started says where a call runs.
type Started struct {
	CallID   string `json:"call_id"`
	Plugin   string `json:"plugin"`
	Instance string `json:"instance"`
	Attempt  uint32 `json:"attempt"` // from 1
}

// Outcome is how a call ended: with a result, or, if Err is set, with a failure of the machinery.
type Outcome struct {
	CallID   string
	Plugin   string // empty if the call reached none
	Instance string // empty if the call reached none
	Result   Result // what the tool answered, if Err is nil
	Err      *Error // why there is no result
	Replayed bool   // the outcome is that of an earlier execution of the same call id
}
