package prove

import (
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// answer is what the caller of a call was told in the end.
type answer struct {
	receipt string    // of a result
	failure tool.Kind // of a call without a result; empty: it has one
	message string    // of the failure
}

// ended is what became of one call.
type ended struct {
	answer   *answer  // nil: the call has no end
	receipts []string // of the executions that had their effect
	settled  bool     // the tool said whether an earlier execution had its effect
}

// tally counts what became of the calls of one tool.
type tally struct {
	Kills   int `json:"kills,omitempty"` // 0 with --nodes
	Calls   int `json:"calls"`
	Doubled int `json:"doubled"` // had their effect more than once
	// Lost calls ended with a result although their effect did not happen, or failed although it did;
	// or they failed for another reason than that their outcome is not known.
	Lost    int `json:"lost"`
	Unknown int `json:"unknown"` // ended with an unknown outcome
	Settled int `json:"settled"` // had an unknown outcome, until their tool was asked
	Stuck   int `json:"stuck"`   // had no end in time
}

// add counts a call.
func (t *tally) add(e ended) {
	t.Calls++
	if len(e.receipts) > 1 {
		t.Doubled++
	}
	if e.settled {
		t.Settled++
	}
	switch {
	case e.answer == nil:
		t.Stuck++
	case e.answer.failure == tool.KindOutcomeUnknown:
		t.Unknown++
	case e.answer.failure != "" || !slices.Contains(e.receipts, e.answer.receipt):
		t.Lost++
	}
}

// holds reports whether the promises hold. Without a check, an unknown outcome is one of them.
func (t *tally) holds(checked bool) bool {
	return t.Doubled == 0 && t.Lost == 0 && t.Stuck == 0 && !(checked && t.Unknown > 0)
}

// plus adds the counts of calls.
func (t *tally) plus(u tally) {
	t.Calls += u.Calls
	t.Doubled += u.Doubled
	t.Lost += u.Lost
	t.Unknown += u.Unknown
	t.Settled += u.Settled
	t.Stuck += u.Stuck
}

// String implements fmt.Stringer.
func (a *answer) String() string {
	switch {
	case a == nil:
		return "none"
	case a.failure != "":
		return fmt.Sprintf("%s (%s)", a.failure, a.message)
	default:
		return a.receipt
	}
}
