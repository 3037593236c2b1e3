package ledger

import (
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// StoredOutcome returns the outcome of a call that only the store knows, in the form for callers.
// If the outcome is not stored, the result is an outcome_unknown error that says why.
func StoredOutcome(e *callstore.Entry) tool.Outcome {
	outcome := tool.Outcome{Err: unknownOutcome(e), Settled: e.Settled}
	if e.Outcome != nil {
		outcome = *e.Outcome
		outcome.Settled = e.Settled
	}
	outcome.CallID, outcome.Plugin, outcome.Instance, outcome.Replayed = e.ID, e.Plugin, e.Instance, true
	if outcome.Err != nil {
		failure := *outcome.Err
		failure.CallID, failure.Plugin, failure.Instance = e.ID, e.Plugin, e.Instance
		outcome.Err = &failure
	}
	return outcome
}

// unknownOutcome returns an error that says why the outcome of a call that began is not available.
func unknownOutcome(e *callstore.Entry) *tool.Error {
	begun := e.Begun.Format(time.RFC3339)
	switch {
	case e.State == callstore.StateFree:
		failure := *e.Err
		return &failure
	case e.State != callstore.StateEnded && e.Settled != nil:
		return tool.Errorf(tool.KindOutcomeUnknown,
			"toolhost ended while the call, begun at %s, was under way: it may have done all of its work, a part or none; "+
				"the tool was asked and does not know: %s; look before you make a new call", begun, e.Settled.Reason)
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
