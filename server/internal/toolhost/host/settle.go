package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// maxSettling bounds how many tools are asked at the same time after a start.
const maxSettling = 4

// settler asks tools what became of calls whose outcome is unknown.
//
// The problem: if the process of a plugin, or toolhost, ends during a call with side effects,
// toolhost does not know whether the call had its effect, and never executes its id again. The tool
// may be able to find out.
//
// The idea: the store keeps the final arguments of such a call. When a caller asks for the call
// again or watches it, and once after a start, the settler asks the tool, and records the answer. A
// call that happened gets its outcome. A call that did not happen gives its id back, for one
// execution of the same call, which passes the policy and everything else like a new one.
//
// The invariants: the settler asks only about a call that the store has as ended, so that no
// process executes it; about each call one request runs at a time; and no caller sees an answer
// before the audit log and the store have it. If one of them fails, the outcome stays unknown.
type settler struct {
	host *Host

	mu      sync.Mutex
	running map[ledger.Key]chan struct{} // closed when the answer has taken effect
	barred  map[ledger.Key]bool          // see bar
}

func newSettler(h *Host) *settler {
	return &settler{host: h, running: map[ledger.Key]chan struct{}{}, barred: map[ledger.Key]bool{}}
}

// settleArguments returns the final arguments that the store keeps in case the outcome becomes
// unknown; nil if the tool cannot settle the call.
func settleArguments(c *call) []byte {
	if !c.tool.Spec.Settles || !c.tool.Spec.HasSideEffects() {
		return nil
	}
	if text := c.args.current(); len(text) > 0 {
		return text
	}
	return []byte("{}")
}

// canSettle reports whether toolhost can ask the tool what became of the call, if its caller
// repeats it.
func (s *settler) canSettle(c *call) bool {
	arguments := settleArguments(c)
	return arguments != nil && len(arguments) <= callstore.MaxArguments && s.host.cfg.Calls != nil && !c.entry.Generated()
}

// bar prevents that the tool of a call is asked as long as this host lives: a plugin may still
// execute the call, because toolhost lost track of it.
func (s *settler) bar(key ledger.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.barred[key] = true
}

func (s *settler) isBarred(key ledger.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.barred[key]
}

// isUnsettled reports whether a call has an unknown outcome that settle may change.
func (s *settler) isUnsettled(ctx context.Context, key ledger.Key) bool {
	h := s.host
	if h.cfg.Calls == nil || !h.cfg.Calls.Known(key) || s.isBarred(key) {
		return false
	}
	known := h.ledger.Find(key)
	if known != nil && !endedUnknown(known.Call) {
		return false
	}
	stored, found, err := h.cfg.Calls.Find(ctx, key)
	if err != nil || !found {
		return false
	}
	if known != nil && stored.Settled != nil && !stored.Unsettled() {
		return stored.State != callstore.StateBegun // the memory still has the former outcome
	}
	_, settles := s.toolOf(stored.Tool, stored.Plugin)
	return settles && stored.Unsettled()
}

// endedUnknown reports whether the call has ended, and its outcome is not known.
func endedUnknown(c *call) bool {
	outcome, _ := c.events.Outcome()
	return outcome != nil && outcome.Err != nil && outcome.Err.Kind == tool.KindOutcomeUnknown
}

// toolOf returns the tool with a name if it can say what became of calls, as it is trusted now, and
// still belongs to the plugin.
func (s *settler) toolOf(name, plugin string) (toolView, bool) {
	settings, snapshot := s.host.generations.view(s.host.cfg.Catalog)
	t := snapshot.Tool(name)
	if t == nil || t.Plugin.Info.Name != plugin || !t.Spec.Settles || !t.Spec.HasSideEffects() || settings.switchedOff(plugin) != nil {
		return toolView{}, false
	}
	return toolView{t, settings}, true
}

// settle asks the tool of a call, unless it is being asked already, and waits until the answer has
// taken effect or ctx ends.
func (s *settler) settle(ctx context.Context, key ledger.Key) {
	select {
	case <-s.begin(key):
	case <-ctx.Done():
	}
}

// begin is settle without the wait.
func (s *settler) begin(key ledger.Key) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answered := s.running[key]; answered != nil {
		return answered
	}
	answered := make(chan struct{})
	check := &settleCheck{settler: s, key: key, answered: answered}
	s.running[key] = answered
	// Ends with the bounds of the check, or with the host.
	if !s.host.spawn(func() { defer s.forget(check); check.run() }) {
		delete(s.running, key)
		close(answered)
	}
	return answered
}

// forget records that a request does not run any more. It may be called again.
func (s *settler) forget(k *settleCheck) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[k.key] == k.answered { // otherwise a later request runs
		delete(s.running, k.key)
	}
}

// settleFound asks about the calls that earlier hosts left, once each.
func (s *settler) settleFound() {
	h := s.host
	if h.cfg.Catalog.Settle(h.ctx) != nil {
		return
	}
	room := make(chan struct{}, maxSettling)
	for query := (callstore.Query{Unsettled: true}); ; {
		found, err := h.cfg.Calls.List(h.ctx, query)
		if err != nil && h.ctx.Err() == nil {
			h.log.storage.Error("calls with an unknown outcome cannot be listed, so their tools are not asked", "error", err)
		}
		if err != nil || len(found) == 0 {
			return
		}
		for i := range found {
			query.Before = found[i].Number
			if _, settles := s.toolOf(found[i].Tool, found[i].Plugin); !settles {
				continue
			}
			select {
			case room <- struct{}{}:
			case <-h.ctx.Done():
				return
			}
			answered := s.begin(found[i].Key)
			h.spawn(func() { <-answered; <-room }) // ends with the check
		}
	}
}

// settleCheck is one request to a tool what became of a call. One goroutine uses it.
type settleCheck struct {
	settler  *settler
	key      ledger.Key
	answered chan struct{}

	entry    callstore.Entry
	view     toolView
	instance string // that was asked; empty: none
}

// run asks the tool, if the outcome is still unknown, and makes the answer take effect.
func (k *settleCheck) run() {
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
	if k.settler.host.ctx.Err() == nil { // otherwise the next host asks
		k.apply(said)
	}
	if leave == nil {
		k.settler.forget(k) // who asks after the answer gets a new one
	}
	answer() // a tool that does not stop delays nobody
}

// caught must be deferred. A panic is a bug of toolhost; the outcome stays unknown.
func (k *settleCheck) caught() {
	if v := recover(); v != nil {
		k.settler.host.log.calls.Error("panic while an outcome was settled", "call", k.key.ID, "panic", v)
	}
}

// find reads the call from the store, and reports whether its tool must be asked.
func (k *settleCheck) find() bool {
	h := k.settler.host
	stored, found, err := h.cfg.Calls.Find(h.ctx, k.key)
	if err != nil || !found || k.settler.isBarred(k.key) {
		return false
	}
	known := h.ledger.Find(k.key)
	if known != nil && !endedUnknown(known.Call) {
		return false // it runs, or has an outcome
	}
	if !stored.Unsettled() {
		k.refresh()
		return false
	}
	view, settles := k.settler.toolOf(stored.Tool, stored.Plugin)
	k.entry, k.view = stored, view
	return settles
}

// refresh makes the ledger forget an unknown outcome in memory, because the store has more.
func (k *settleCheck) refresh() {
	h := k.settler.host
	if known := h.ledger.Find(k.key); known != nil && endedUnknown(known.Call) {
		h.ledger.Drop(k.key)
	}
}

// apply records what the tool said. If it cannot be recorded, it has no effect.
func (k *settleCheck) apply(said tool.Settlement) {
	h := k.settler.host
	var outcome tool.Outcome
	if said.Verdict == tool.VerdictHappened {
		// One that breaks the contract of a filter is an outcome. One that a filter withholds is not.
		if outcome = k.outcome(said); outcome.Err != nil && outcome.Err.Kind != tool.KindInternal {
			said = notKnown("it said that the call happened, but %s", outcome.Err.Message)
		}
	}
	said.Result = nil
	if err := k.audited(said); err != nil {
		h.log.policy.Error("what a tool said about a call has no effect, because the audit log cannot be written",
			"plugin", k.entry.Plugin, "tool", k.entry.Tool, "call", k.key.ID, "session", k.key.Session, "principal", k.key.Principal, "error", err)
		said = notKnown("it was asked, but its answer has no effect, because it cannot be written to the audit log")
	}
	if err := h.cfg.Calls.Settle(context.WithoutCancel(h.ctx), k.key, k.entry.Number, said, outcome); err != nil {
		h.log.storage.Error("what a tool said about a call has no effect, because it cannot be recorded",
			"plugin", k.entry.Plugin, "tool", k.entry.Tool, "call", k.key.ID, "session", k.key.Session, "principal", k.key.Principal, "error", err)
		return
	}
	k.refresh()
	h.plugins.Of(k.view.tool.Plugin, identity.TenantOf(k.key.Principal)).Settled(k.instance,
		fmt.Sprintf("the call %s of %s: %s%s", k.key.ID, k.entry.Tool, verdictWords(said.Verdict), reasonSuffix(said.Reason)))
}

// audited writes what the tool said to the audit log.
func (k *settleCheck) audited(said tool.Settlement) error {
	log := k.settler.host.cfg.Audit
	if log == nil {
		return nil
	}
	return log.Note(context.WithoutCancel(k.settler.host.ctx), audit.Event{
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

// lostResult is the result of a call that happened, if its tool does not know its result.
func lostResult(reason string) tool.Result {
	return tool.TextResult("[settled] The call had its effect, but its own result is lost, because a process ended before it had answered" + reasonSuffix(reason) + ".")
}

// settleTime returns how long the tool has to answer.
func (v toolView) settleTime() time.Duration {
	d := min(maxSettleTime, v.settings.MaxTimeout)
	if own := v.tool.Spec.Timeout; own > 0 {
		d = min(d, own)
	}
	return d
}
