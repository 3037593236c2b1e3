package agent

import (
	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/tool"
)

// toolhost executes a call id once, as long as it has the ledger that knows the id. A run that
// continues can meet a toolhost with another ledger: a private one that lost its files, or one at
// another address. That toolhost does not know the id of a call that has begun, and would execute
// the call a second time.
//
// Therefore the event that starts a call with side effects has the id of the ledger that receives
// the call. Each request for the call carries that id, and toolhost compares it with its own in the
// step that accepts the call. There is no moment in between at which the toolhost can change. The
// invariant is that a call with side effects reaches no plugin under two ledgers. See
// docs/adr/0022-ledger-of-a-run.md.

// underLedger adds the ledger's id to the event that starts a call.
func (r *run) underLedger(started *loop.CallStarted) *loop.CallStarted {
	c := r.state.Call(started.CallID)
	if c == nil || c.System != "" || !c.SideEffects {
		return started
	}
	under := *started
	under.Ledger = r.agent.config.LedgerID()
	return &under
}

// elsewhere returns an error if the call was sent to a toolhost with another ledger, so that its
// outcome cannot be known here. It returns nil if this toolhost has the ledger or a ledger is
// unknown.
func (e *toolCall) elsewhere() *tool.Error {
	here := e.run.agent.config.LedgerID()
	if !e.call.SideEffects || e.call.Ledger == "" || here == "" || here == e.call.Ledger {
		return nil
	}
	return tool.Errorf(tool.KindOutcomeUnknown,
		"the call was sent to a toolhost with the ledger %q, and the toolhost that answers now has the ledger %q: what became of the call cannot be seen",
		e.call.Ledger, here)
}
