package host

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/tool"
)

// holding is what a call needs that waits for a person. While it waits, its caller can lose what it
// had when the call began, so the call looks again before it is executed.
type holding struct {
	may   permission
	valid func(context.Context) bool // whether the credential of the caller is still valid; nil: it always is
}

// heldBy returns the holding of a call that its caller lets wait; nil if the call must not wait. A
// delegate asks people itself, and would approve with the rights of another principal.
func heldBy(ctx context.Context, call *tool.Call) *holding {
	if call.ApprovalWait == nil || call.Via != "" {
		return nil
	}
	return &holding{may: mayCall(ctx, call), valid: gate.Recheck(ctx)}
}

// holds reports whether a call waits that needs an approval and has none. Arguments that the plugin
// could not get as a person saw them are refused as without a wait.
func (p *preparation) holds() bool {
	return p.call.holding != nil && p.call.request.Approval == nil && !p.tooLargeToReplace(p.final.Canonical())
}

// hold makes a person decide about a call, or uses what one has decided. asked is the decision that
// requires an approval. hold returns why the call must not be executed, or nil.
//
// Several calls can wait for one decision, and an approval is for one. So each tries to take it,
// and those that do not get it ask again. A call that did not wait long enough ends, and its repeat
// finds the approval.
func (p *preparation) hold(asked decision) *tool.Error {
	c, store := p.call, p.call.services.approvals.held
	until, recorded := time.Now().Add(*c.request.ApprovalWait), false
	for {
		d, made, err := store.Hold(p.heldKey(&asked), p.shownCall(&asked))
		if (err != nil || d.State == held.Waiting) && !recorded {
			asked.refused, recorded = p.record(asked), true
		}
		if err != nil {
			c.logger(c.services.log.policy).Info("a call cannot be held for a person", "error", err)
			asked.refused.Message += fmt.Sprintf("; toolhost does not hold the call for a person: %v", err)
			return asked.refused
		}
		if d.State == held.Waiting {
			c.logger(c.services.log.policy).Info("a call is held for a person", "decision", d.Name, "until", d.Expires)
			if ended := c.await(store, d, made, until); ended != nil {
				return ended
			}
			d, _ = store.Get(d.Name)
		}
		switch d.State {
		case held.Waiting:
			asked.refused.Decision = d.Name
			asked.refused.Message += fmt.Sprintf("; `toolhost approvals approve %s` approves it until %s, and then the same call passes once",
				d.Name, d.Expires.UTC().Format(time.RFC3339))
			return asked.refused
		case held.Rejected, held.Expired:
			asked.refused = tool.Errorf(tool.KindDenied, "the call of %q was not approved: %s", c.request.Tool, d.Because())
			asked.refused.Rule, asked.entry.Outcome, asked.entry.Reason = asked.entry.Rule, audit.Denied, d.Because()
			return p.record(asked)
		case held.Approved:
			if !store.Use(d.Name) {
				continue // another call took it
			}
			again, refused := p.pass(&d)
			if refused == nil || refused.Kind != tool.KindApprovalRequired {
				return refused
			}
			p.storeFrozen(refused)
			asked = again // this approval is not enough any more, such as for a rule with four eyes
		}
	}
}

// pass decides again about a call that has taken an approval: what it depends on may have changed
// since a person was asked.
func (p *preparation) pass(d *held.Decision) (decision, *tool.Error) {
	c := p.call
	again, refused := p.decideAgain(d)
	switch {
	case refused == nil:
		p.text = p.final.Canonical() // exactly what the person saw
		c.approval.setUsed(d.Name)
	case refused.Kind != tool.KindApprovalRequired:
		c.services.approvals.held.GiveBack(d.Name)
	}
	return again, refused
}

func (p *preparation) decideAgain(d *held.Decision) (decision, *tool.Error) {
	c := p.call
	if c.holding.valid != nil && !c.holding.valid(c.ctx()) {
		return decision{}, tool.Errorf(tool.KindUnavailable, "the credential of the caller is not valid any more; nothing was executed")
	}
	in, err := c.services.plugins.tools.lookup(c.ctx(), c.request.Tool, c.holding.may)
	if err != nil {
		return decision{}, tool.AsError(err)
	}
	if in.tool.DefinitionDigest() != c.tool.DefinitionDigest() {
		return decision{}, tool.Errorf(tool.KindUnavailable, "the tool %q has changed while the call waited for a person, so the approval is for another one; nothing was executed; call it again",
			c.request.Tool)
	}
	approved := c.request
	approved.Approval = &tool.Approval{
		Approver: d.By, ApproverGroups: d.Groups, ApprovedBy: d.ByName, Reason: d.Text, Time: d.Decided, ArgumentsSHA256: frozen.Digest(p.final),
		SessionMove: d.SessionMove,
	}
	made, ended := in.settings.authorizer.decide(c.ctx(), &approved, in.tool, p.submitted, p.final, false)
	if ended == nil && made.entry.Outcome == audit.Approved && made.policy.RuleDigest(made.entry.Rule) != d.RuleDigest {
		// Another rule wants an approval now than the person has seen.
		made, ended = in.settings.authorizer.decide(c.ctx(), &c.request, in.tool, p.submitted, p.final, false)
	}
	if ended != nil {
		return decision{}, c.unsent(ended)
	}
	made.refused = p.record(made)
	return made, made.refused
}

// await waits for a verdict about d until a time at most, and until d ends, which may move
// meanwhile. The time limit of the call does not run meanwhile. await returns an error if the call
// ends first. A call that a plugin previews occupies the plugin, and does not wait; neither does a
// call of a principal with too many that do.
func (c *call) await(store *held.Store, d held.Decision, made <-chan struct{}, until time.Time) *tool.Error {
	wait := min(time.Until(until), held.MaxExtended)
	if wait <= 0 || c.args.previews() {
		return nil
	}
	leave, ok := store.Enter(c.request.Principal)
	if !ok {
		return nil
	}
	defer leave()
	c.timer.AllowPause(wait + time.Minute) // longer than the wait, so that the deadline never passes in it
	c.timer.Pause()
	timer := time.NewTimer(0)
	defer func() {
		timer.Stop()
		c.timer.Resume()
		c.timer.AllowPause(0)
		c.allowPause()
	}()
	for d.State == held.Waiting && time.Until(until) > 0 {
		timer.Reset(min(time.Until(until), time.Until(d.Expires)))
		select {
		case <-made:
			return nil
		case <-timer.C:
		case <-c.ctx().Done():
			return c.unsent(context.Cause(c.ctx()))
		case <-c.services.approvals.held.Ending():
			return tool.Errorf(tool.KindUnavailable, "%w; the call waited for a person, and nothing was executed", errStopping)
		}
		d, _ = store.Get(d.Name)
	}
	return nil
}

// heldKey identifies the calls for which one approval is. It has what frozen.Key has, the
// definition of the tool, the rule, the move of the session, and the context that is shown: all
// that the person saw or relied on.
func (p *preparation) heldKey(asked *decision) held.Key {
	c := p.call
	key, _ := p.frozenKey(frozen.Digest(p.final)) // a digest of its own form
	return held.KeyOf(key.Principal, key.Session, c.request.Agent, c.request.Tool, key.Revision, c.tool.DefinitionDigest(), c.request.Run,
		asked.entry.Rule, asked.policy.RuleDigest(asked.entry.Rule), asked.refused.SessionMove, p.shownContext(asked),
		hex.EncodeToString(key.Submitted[:]), hex.EncodeToString(key.Final[:]), hex.EncodeToString(key.Filters[:]))
}

// shownContext returns the values of the caller's context on which the call depends: those that the
// tool gets, and those that rules read. It is a JSON object, or empty.
func (p *preparation) shownContext(asked *decision) string {
	c := p.call
	shown := map[string]json.RawMessage{}
	for key, value := range c.request.Context {
		if !slices.Contains(c.tool.Spec.ContextKeys, key) && !asked.policy.Reads(key) {
			continue
		}
		if !json.Valid(value) { // the caller chose it
			value = encoded(string(value))
		}
		shown[key] = value
	}
	if len(shown) == 0 {
		return ""
	}
	return string(encoded(shown))
}

// shownCall is what a person sees of the call.
func (p *preparation) shownCall(asked *decision) held.Call {
	r := &p.call.request
	return held.Call{
		Principal: r.Principal, Session: r.Session, ID: r.ID, Agent: r.Agent, Run: r.Run, Tool: r.Tool, DisplayName: p.call.tool.Spec.DisplayName,
		Plugin: p.call.plugin(), Arguments: p.final.Canonical(), Context: p.shownContext(asked),
		Rule: asked.entry.Rule, RuleDigest: asked.policy.RuleDigest(asked.entry.Rule), Reason: asked.refused.Message, FourEyes: asked.refused.FourEyes,
		ApproverGroups: asked.refused.ApproverGroups, SessionMove: asked.refused.SessionMove,
	}
}

// setUsed notes the approval that the call has taken.
func (a *approval) setUsed(decision string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = decision
}

// spend makes the use of an approval final: the plugin gets the call now.
func (a *approval) spend() { a.setUsed("") }

// HeldCalls has the decisions about the calls that wait for a person.
func (h *Host) HeldCalls() *held.Store { return h.held }

// StopHolding ends the wait of all calls that are held, because the program stops.
func (h *Host) StopHolding() { h.held.End() }

// DecideHeld makes a decision about a held call. Whoever calls it has checked that the principal of
// the verdict may decide. from is where the principal is. Errors: those of held.Store.Decide;
// unavailable if the audit log cannot be written.
func (h *Host) DecideHeld(ctx context.Context, v held.Verdict, from string) (held.Decision, error) {
	return h.held.Decide(v, func(d held.Decision) error {
		e := audit.Event{
			Kind: audit.OfApproval, Principal: d.Principal, Via: v.Via, From: from, CallID: d.ID, Tool: d.Tool, Act: "approve call", Target: d.Name,
			Outcome: audit.Approved, Approver: d.By, Given: d.Text,
		}
		if d.State == held.Rejected {
			e.Act, e.Outcome = "reject call", audit.Denied
		}
		if h.cfg.Audit != nil {
			if err := h.cfg.Audit.Note(ctx, e); err != nil {
				return tool.Errorf(tool.KindUnavailable, "the audit log cannot be written, so the decision was not made: %w", err)
			}
		}
		h.log.policy.InfoContext(ctx, "a person decided about a held call", "decision", d.Name, "verdict", string(d.State), "by", d.By, "via", v.Via, "from", from,
			"tool", d.Tool, "call", d.ID, "principal", d.Principal)
		return nil
	})
}

// ExtendHeld moves the end of a decision about a held call. Whoever calls it has checked that the
// principal of the extension may decide. Otherwise as DecideHeld.
func (h *Host) ExtendHeld(ctx context.Context, x held.Extension, from string) (held.Decision, error) {
	return h.held.Extend(x, func(d held.Decision) error {
		until := d.Expires.Format(time.RFC3339)
		e := audit.Event{
			Kind: audit.OfApproval, Principal: d.Principal, Via: x.Via, From: from, CallID: d.ID, Tool: d.Tool, Act: "extend decision", Target: d.Name,
			Outcome: audit.Allowed, Approver: x.By, Reason: "it waits until " + until,
		}
		if h.cfg.Audit != nil {
			if err := h.cfg.Audit.Note(ctx, e); err != nil {
				return tool.Errorf(tool.KindUnavailable, "the audit log cannot be written, so the decision was not extended: %w", err)
			}
		}
		h.log.policy.InfoContext(ctx, "a person extended the decision about a held call", "decision", d.Name, "until", until, "by", x.By, "via", x.Via, "from", from,
			"tool", d.Tool, "call", d.ID, "principal", d.Principal)
		return nil
	})
}
