package agent

import (
	"cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// A toolhost executes a call id once, as long as it has the ledger that knows the id. A run that
// continues can meet a toolhost with another ledger: a private one that lost its files, or one at
// another address. That toolhost does not know the id of a call that has begun, and would execute
// the call a second time.
//
// Therefore the event that starts a call with side effects has the id of the ledger that receives
// the call. Each request for the call carries that id, and toolhost compares it with the id of its
// own ledger in the same step in which it accepts the call. So the ledger cannot change between the
// comparison and the acceptance. The invariant is that a call with side effects reaches no plugin
// under two ledgers. See docs/adr/0022-ledger-of-a-run.md.

// A journal that was restored from a backup does not have the events from after the backup. The run
// makes its calls from then on again, under the same ids, and cannot know which ones it had made
// already. So it sends their first attempts under the ledger of the backup (loop.RunResumed). A
// second attempt follows a decision of a person, or an approval, and belongs to the ledger of its
// time.

// underLedger adds the ledger's id to the event that starts a call.
func (r *run) underLedger(started *loop.CallStarted) *loop.CallStarted {
	c := r.state.Batch().Call(started.CallID)
	if c == nil || c.System != "" || !c.SideEffects {
		return started
	}
	under := *started
	under.Ledger = r.config.LedgerID()
	if started.Attempt <= 1 {
		under.Ledger = cmp.Or(r.state.LedgerAtBackup(), under.Ledger)
	}
	return &under
}

// reused replaces the conflict of a call whose id was used by another call after the backup, when
// the run was at the same place. The run treats it as any call whose outcome is unknown.
func (e *toolCall) reused(out *tool.Outcome) *tool.Outcome {
	if !e.restored || e.call.Attempt > 1 || !e.call.SideEffects || out.Err == nil || out.Err.Kind != tool.KindConflict {
		return out
	}
	unknown := *out
	unknown.Err = tool.Errorf(tool.KindOutcomeUnknown,
		"the journal of the run was restored from a backup, and after the backup the run made another call at this place: %w", out.Err)
	return &unknown
}

// elsewhere returns an error if the call was sent to a toolhost with another ledger, so that this
// toolhost cannot know its outcome. It returns nil if this toolhost has the same ledger, or if one
// of the two ledgers is unknown.
func (e *toolCall) elsewhere() *tool.Error {
	here := e.run.config.LedgerID()
	if !e.call.SideEffects || e.call.Ledger == "" || here == "" || here == e.call.Ledger {
		return nil
	}
	return tool.Errorf(tool.KindOutcomeUnknown,
		"the call was sent to a toolhost with the ledger %q, and the toolhost that answers now has the ledger %q: what became of the call cannot be seen",
		e.call.Ledger, here)
}
