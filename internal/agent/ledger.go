package agent

import (
	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/tool"
)

// A toolhost executes a call id once, as long as it has the ledger that knows the id. A run that goes on may meet a toolhost
// with another ledger: a private one whose files are lost, or one at another address. There the id of a call that has begun is
// new, and the toolhost would execute the call a second time.
//
// The journal therefore holds, with the event that starts a call with side effects, the id of the ledger that the call is sent
// to. Each request for the call carries that id, and the toolhost compares it with its own in the same step in which it takes
// the call: so there is no moment at which the agent could be mistaken about whom it talks to. The invariant is that a call
// with side effects reaches no plugin under two ledgers. See docs/adr/0022-ledger-of-a-run.md.

// underLedger returns the event that starts a call with the ledger that the call is sent to.
func (r *run) underLedger(started *loop.CallStarted) *loop.CallStarted {
	c := r.state.Call(started.CallID)
	if c == nil || c.System != "" || !c.SideEffects {
		return started
	}
	under := *started
	under.Ledger = r.agent.config.LedgerID()
	return &under
}

// elsewhere returns why nothing can be learned of a call here: it was sent to a toolhost with another ledger. Nil: to this one,
// as far as is known.
func (e *toolCall) elsewhere() *tool.Error {
	here := e.run.agent.config.LedgerID()
	if !e.call.SideEffects || e.call.Ledger == "" || here == "" || here == e.call.Ledger {
		return nil
	}
	return tool.Errorf(tool.KindOutcomeUnknown,
		"the call was sent to a toolhost with the ledger %q, and the toolhost that answers now has the ledger %q: what became of the call cannot be seen",
		e.call.Ledger, here)
}
