package host

import (
	"context"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

// approveByStanding approves a call for which the policy requires an approval, if a standing
// approval is for it. A call with an approval of its own is judged by that one alone: a person who
// approved other arguments did not approve these.
func (a *authorizer) approveByStanding(made *decision, call *tool.Call, t *catalog.Tool, final arguments.Parsed) {
	if a.standing == nil || call.Approval != nil {
		return
	}
	found, ok := a.standing.Match(standing.Call{
		Principal: call.Principal, Via: call.Via, Agent: call.Agent, Tool: call.Tool, Rule: made.entry.Rule, Run: call.Run, Session: call.Session,
		Definition: t.DefinitionDigest, RuleSHA256: a.policy.RuleDigest(made.entry.Rule), Object: final.Object,
	})
	if !ok {
		return
	}
	made.refused, made.standing = nil, &found
	made.entry.Outcome, made.entry.Standing = audit.Approved, found.ID
	made.entry.Approval = &tool.Approval{Approver: found.Approver, ApprovedBy: found.ApprovedBy, Reason: found.Reason, Time: found.Created}
}

// standingUse is the use of a standing approval by a call that no plugin has received yet.
type standingUse struct {
	id    string
	entry audit.Decision
	// again returns the error that asks for an approval of the call, with its final arguments.
	again func() *tool.Error
}

// stand makes a call with a standing approval execute exactly the arguments that were compared, and
// notes the approval: it may end while the call waits.
func (p *preparation) stand(d decision) {
	c := p.call
	p.text = p.final.Canonical()
	c.report.SetStanding(d.standing)
	final := *p
	c.approval.setStands(&standingUse{id: d.standing.ID, entry: d.entry, again: func() *tool.Error {
		asked := tool.Errorf(tool.KindApprovalRequired, "the standing approval %s of the call ended before the call could begin: a person has to approve the call", d.standing.ID)
		asked.Rule = d.entry.Rule
		final.storeFrozen(asked)
		return asked
	}})
}

func (a *approval) setStands(use *standingUse) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stands = use
}

// checkStanding returns the error with which a call ends whose standing approval has ended; nil if
// it is in force, or the call needs none.
func (c *call) checkStanding() *tool.Error {
	c.approval.mu.Lock()
	use := c.approval.stands
	c.approval.mu.Unlock()
	off := c.services.approvals.off() // the operator may have switched them off since
	if use == nil || !off && c.services.approvals.standing.InForce(use.id) {
		return nil
	}
	c.report.SetStanding(nil)
	use.entry.Outcome, use.entry.Approval = audit.ApprovalRequired, nil
	use.entry.Reason = fmt.Sprintf("the standing approval %s ended while the call waited", use.id)
	return c.decided(use.entry, use.again())
}

// endExpiredApprovals ends standing approvals when their time is over. It returns when the host
// closes.
func (h *Host) endExpiredApprovals() {
	for {
		expires, changed := h.cfg.Approvals.Next()
		wait := time.Hour // the clock may be set
		if !expires.IsZero() {
			wait = min(wait, time.Until(expires))
		}
		timer := time.NewTimer(max(wait, 0))
		select {
		case <-h.ctx.Done():
			timer.Stop()
			return
		case <-changed:
			timer.Stop()
		case <-timer.C:
			now := time.Now()
			h.endApprovals(tool.ApprovalExpired, func(a *tool.StandingApproval) bool { return !now.Before(a.Expires) })
		}
	}
}

// endChangedApprovals ends the standing approvals of tools and of rules whose definition has
// changed, so that they do not come into force again if the change is undone. A tool that is not
// there for a while ends none, because toolhost may have to read its plugin first; a plugin that
// the operator does not trust any more does. It returns when the host closes.
func (h *Host) endChangedApprovals() {
	var seen *catalog.Snapshot
	for {
		next, err := h.cfg.Catalog.Next(h.ctx, seen)
		if err != nil {
			return
		}
		seen = next
		rules := h.generations.latest().Policy // stored before the snapshot of a reload is published
		h.ended(h.cfg.Approvals.EndOtherRules(context.WithoutCancel(h.ctx), rules.RuleDigest))
		untrusted := map[string]bool{}
		for _, p := range seen.Plugins() {
			untrusted[p.Info.Name] = p.Untrusted
		}
		digests := map[string]string{}
		h.endApprovals(tool.ApprovalChanged, func(a *tool.StandingApproval) bool {
			t := seen.Tool(a.Tool)
			if t == nil {
				return untrusted[a.Plugin]
			}
			if digests[a.Tool] == "" {
				digests[a.Tool] = t.DefinitionDigest()
			}
			return digests[a.Tool] != a.DefinitionSHA256
		})
	}
}

// endApprovals ends standing approvals that nobody revoked, and reports each.
func (h *Host) endApprovals(why tool.ApprovalEnd, accept func(*tool.StandingApproval) bool) {
	h.ended(h.cfg.Approvals.End(context.WithoutCancel(h.ctx), why, accept))
}

// ended reports standing approvals that no caller ended, and whether the file has their end.
func (h *Host) ended(all []tool.StandingApproval, err error) {
	if err != nil && h.ctx.Err() == nil {
		h.log.policy.Error("the end of standing approvals cannot be written; it is tried again with the next one", "error", err)
	}
	for i := range all {
		a := &all[i]
		h.noteEnded(context.WithoutCancel(h.ctx), a, audit.Event{Principal: a.Principal, Via: a.Via, Approver: a.Approver, Reason: endings[a.End]})
	}
}

// reportEnds writes the ends to the audit log that an earlier process did not write: it was killed
// between the change of the file and the line, or the log could not be written.
func (h *Host) reportEnds() {
	all := h.cfg.Approvals.Unreported()
	for i := range all {
		a := &all[i]
		reason := endings[a.End]
		if a.End == tool.ApprovalRevoked {
			reason = "revoked by " + a.RevokedBy
		}
		h.noteEnded(context.WithoutCancel(h.ctx), a, audit.Event{
			Principal: a.Principal, Via: a.Via, Approver: a.Approver, Reason: fmt.Sprintf("%s (at %s; this line is written late)", reason, a.Ended.Format(time.RFC3339)),
		})
	}
}

// shortenApprovals lets no standing approval be valid for longer than the settings permit. The
// memory has it at once; the file and the audit log follow, because a reload does not wait for a
// disk.
func (h *Host) shortenApprovals(longest time.Duration) {
	shorter := h.cfg.Approvals.Shorten(longest)
	if len(shorter) == 0 {
		return
	}
	h.spawn(func() { // ends after the writes
		ctx := context.WithoutCancel(h.ctx)
		for i := range shorter { // before the file has them: a process that is killed in between leaves a line too many, not one too few
			a := &shorter[i]
			h.log.policy.Info("a standing approval was shortened", "approval", a.ID, "tool", a.Tool, "principal", a.Principal, "expires", a.Expires.Format(time.RFC3339))
			h.noteApproval(ctx, a, audit.Event{
				Principal: a.Principal, Via: a.Via, Approver: a.Approver, Act: "shorten standing approval",
				Reason: fmt.Sprintf("until %s, because approvals.longest is %s", a.Expires.Format(time.RFC3339), longest),
			})
		}
		if err := h.cfg.Approvals.Write(ctx); err != nil {
			h.log.policy.Error("the new expiry of standing approvals cannot be written; it is tried again with the next change", "error", err)
		}
	})
}

// endings says in words why standing approvals ended.
var endings = map[tool.ApprovalEnd]string{
	tool.ApprovalExpired:  "its time is over",
	tool.ApprovalChanged:  "the definition of the tool, its plugin, the operator's trust in the plugin or the rule of the policy changed",
	tool.ApprovalRestored: "the ledger of calls was restored or replaced",
}

// noteEnded logs the end of a standing approval, and writes it to the audit log. It cannot be
// refused: the approval is not in force any more.
func (h *Host) noteEnded(ctx context.Context, a *tool.StandingApproval, e audit.Event) {
	h.log.policy.InfoContext(ctx, "a standing approval ended", "approval", a.ID, "why", string(a.End), "tool", a.Tool, "principal", a.Principal, "by", a.RevokedBy)
	e.Act = "end standing approval"
	if !h.noteApproval(ctx, a, e) {
		return // the next process writes the line
	}
	if err := h.cfg.Approvals.Reported(ctx, a.ID); err != nil && h.ctx.Err() == nil {
		h.log.policy.ErrorContext(ctx, "the audit log has the end of a standing approval, and will have it twice", "approval", a.ID, "error", err)
	}
}

// noteApproval writes to the audit log what happened to a standing approval, and reports whether it
// is written, or nothing has to be.
func (h *Host) noteApproval(ctx context.Context, a *tool.StandingApproval, e audit.Event) bool {
	if h.cfg.Audit == nil {
		return true
	}
	e.Kind, e.Target, e.Tool, e.Outcome = audit.OfApproval, a.ID, a.Tool, audit.Allowed
	err := h.cfg.Audit.Note(ctx, e)
	if err != nil {
		h.log.policy.ErrorContext(ctx, "what happened to a standing approval cannot be written to the audit log", "approval", a.ID, "act", e.Act, "error", err)
	}
	return err == nil
}
