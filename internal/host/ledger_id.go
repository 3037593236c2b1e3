package host

import (
	"time"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

// LedgerID returns what tells the host's ledger from that of any other host: the id of Config.Calls, or, without one, an id
// that is the host's own.
func (h *Host) LedgerID() string {
	if h.cfg.Calls != nil {
		return h.cfg.Calls.ID()
	}
	return h.ownID
}

// checkLedger refuses a call that may have been executed where this host cannot see it: under another ledger, or so long ago
// that this one has forgotten it. Executing it could double its effects.
func (h *Host) checkLedger(call *tool.Call) error {
	if call.Ledger != "" && call.Ledger != h.LedgerID() {
		return ofCall(call.ID, tool.Errorf(tool.KindOutcomeUnknown,
			"the call may have been executed under the ledger %.40q, and this toolhost has the ledger %q: nothing was executed now; "+
				"send the call to the toolhost that it was first sent to, or find out what happened and make a new call", call.Ledger, h.LedgerID()))
	}
	if call.FirstSent.IsZero() || call.ID == "" || h.cfg.Calls == nil || !h.cfg.Calls.Forgets(call.FirstSent) {
		return nil
	}
	if h.cfg.Calls.Known(callstore.Key{Principal: call.Principal, Session: call.Session, ID: call.ID}) {
		return nil
	}
	return ofCall(call.ID, tool.Errorf(tool.KindOutcomeUnknown,
		"the call was first sent at %s, and the ledger forgets calls of that age: nothing was executed now; find out what happened and make a new call",
		call.FirstSent.UTC().Format(time.RFC3339)))
}
