package tool

import "time"

// Event is an event of a call. Exactly one of the pointer fields is set. Started comes first,
// unless the call fails before it. Ended comes last, exactly once.
type Event struct {
	Seq     uint64    // the number of the event in the call, from 1; 0 if events have no numbers
	Time    time.Time // zero if unknown
	Started *Started
	Status  *Status
	Log     *LogRecord
	Ended   *Outcome

	Question *Question       // the tool asks something; see Call.Answers
	Closed   *QuestionClosed // a question takes no answer any more
}

// Started names the instance that executes a call.
type Started struct {
	CallID   string `json:"call_id"`
	Plugin   string `json:"plugin"`
	Instance string `json:"instance"`
	Attempt  uint32 `json:"attempt"` // from 1
	// Asks is what the operator permits the plugin to ask. A tool that asks a kind that is not in
	// Call.Answers gets KindUnsupported. nil: the plugin may ask nothing.
	Asks []QuestionKind `json:"asks,omitempty"`
}

// Outcome is the end of a call: a result or, if Err is set, an infrastructure error.
type Outcome struct {
	CallID   string
	Plugin   string // empty if the call reached none
	Instance string // empty if the call reached none
	Result   Result // the result of the tool, if Err is nil
	Err      *Error // why there is no result
	Replayed bool   // the outcome is that of an earlier execution of the same call id
	// Settled is what the tool said later about the call, whose outcome was unknown; without a result.
	// nil: the tool was not asked.
	Settled *Settlement
}
