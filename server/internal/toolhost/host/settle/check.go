package settle

import (
	"context"
	"fmt"
	"sync"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// check is one request to a tool what became of a call. One goroutine uses it.
type check struct {
	settler  *Settler
	key      ledger.Key
	silent   bool // a toolhost that is silent may still execute the call; see Settler.Seal
	answered chan struct{}

	entry    callstore.Entry
	tool     Tool
	instance string // that was asked; empty: none
}

// run asks the tool, if the outcome is still unknown, and makes the answer take effect.
func (k *check) run() {
	var open sync.Once
	answer := func() { open.Do(func() { close(k.answered) }) }
	defer answer()
	defer k.caught()
	if !k.find() {
		return
	}
	said, leave := k.askPatiently()
	if leave != nil {
		defer leave()
	}
	if k.settler.cfg.Context.Err() == nil { // otherwise the next host asks
		k.apply(said)
	}
	if leave == nil {
		k.settler.forget(k) // who asks after the answer gets a new one
	}
	answer() // a tool that does not stop delays nobody
}

// caught must be deferred. A panic is a bug of toolhost; the outcome stays unknown.
func (k *check) caught() {
	if v := recover(); v != nil {
		k.settler.cfg.Log.Calls.Error("panic while an outcome was settled", "call", k.key.ID, "panic", v)
	}
}

// find reads the call from the store, and reports whether its tool must be asked.
func (k *check) find() bool {
	cfg := &k.settler.cfg
	stored, found, err := cfg.Calls.Find(cfg.Context, k.key)
	if err != nil || !found || k.settler.isBarred(k.key) {
		return false
	}
	if known, unknown := cfg.Ledger.Known(k.key); known && !unknown {
		return false // it runs, or has an outcome
	}
	if !stored.Unsettled() && !(k.silent && stored.Sealable()) {
		k.refresh()
		return false
	}
	var settles bool
	k.entry = stored
	k.tool, settles = cfg.Tool(stored.Tool, stored.Plugin)
	return settles && (k.tool.Spec.Seals || !stored.SealOnly)
}

// refresh makes the ledger forget an unknown outcome in memory, because the store has more.
func (k *check) refresh() {
	if _, unknown := k.settler.cfg.Ledger.Known(k.key); unknown {
		k.settler.cfg.Ledger.Drop(k.key)
	}
}

// apply records what the tool said. If it cannot be recorded, it has no effect.
func (k *check) apply(said tool.Settlement) {
	cfg := &k.settler.cfg
	var outcome tool.Outcome
	if said.Verdict == tool.VerdictHappened {
		// One that breaks the contract of a filter is an outcome. One that a filter withholds is not.
		if outcome = k.tool.Outcome(&k.entry, k.instance, said); outcome.Err != nil && outcome.Err.Kind != tool.KindInternal {
			said = notKnown("it said that the call happened, but %s", outcome.Err.Message)
		}
	}
	said.Result = nil
	if err := k.audited(said); err != nil {
		cfg.Log.Policy.Error("what a tool said about a call has no effect, because the audit log cannot be written",
			"plugin", k.entry.Plugin, "tool", k.entry.Tool, "call", k.key.ID, "session", k.key.Session, "principal", k.key.Principal, "error", err)
		said = notKnown("it was asked, but its answer has no effect, because it cannot be written to the audit log")
	}
	if said.Verdict == tool.VerdictUnknown && k.entry.Elsewhere != "" {
		return // the call stays under way
	}
	if err := cfg.Calls.Settle(context.WithoutCancel(cfg.Context), k.key, k.entry.Number, said, outcome); err != nil {
		cfg.Log.Storage.Error("what a tool said about a call has no effect, because it cannot be recorded",
			"plugin", k.entry.Plugin, "tool", k.entry.Tool, "call", k.key.ID, "session", k.key.Session, "principal", k.key.Principal, "error", err)
		return
	}
	k.refresh()
	cfg.Plugins.Of(k.tool.Plugin, identity.TenantOf(k.key.Principal)).Settled(k.instance,
		fmt.Sprintf("the call %s of %s: %s%s", k.key.ID, k.entry.Tool, verdictWords(said.Verdict), reasonSuffix(said.Reason)))
}

// audited writes what the tool said to the audit log.
func (k *check) audited(said tool.Settlement) error {
	log := k.settler.cfg.Audit
	if log == nil {
		return nil
	}
	return log.Note(context.WithoutCancel(k.settler.cfg.Context), audit.Event{
		Kind: audit.OfSettlement, Principal: k.key.Principal, CallID: k.key.ID, Tool: k.entry.Tool, Act: "settle", Target: k.entry.Plugin,
		Outcome: audit.Outcome(said.Verdict), Reason: said.Reason,
	})
}

func verdictWords(v tool.Verdict) string {
	switch v {
	case tool.VerdictHappened:
		return "it happened"
	case tool.VerdictDidNotHappen:
		return "it did not happen"
	default:
		return "the tool does not know"
	}
}

func reasonSuffix(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// notKnown returns the settlement of a call whose outcome stays unknown.
func notKnown(format string, args ...any) tool.Settlement {
	return tool.Settlement{Verdict: tool.VerdictUnknown, Reason: fmt.Sprintf(format, args...)}
}

// LostResult is the result of a call that happened, if its tool does not know its result.
func LostResult(reason string) tool.Result {
	return tool.TextResult("[settled] The call had its effect, but its own result is lost, because a process ended before it had answered" + reasonSuffix(reason) + ".")
}
