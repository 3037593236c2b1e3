package host

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/tool"
)

// permit decides whether the call may be made with the arguments that would be executed, and has that kept in the audit
// log. It returns nil if it may. Where the log keeps it and must not be waited for, nothing is decided, and late is true.
func (r *run) permit(s submission, given arguments.Parsed, now bool) (refused *tool.Error, late bool) {
	decision := r.host.cfg.Policy.Decide(&r.ctx, r.policyInput(given))
	if decision.Err != nil && r.ctx.Err() != nil { // no rule is to blame
		return r.unsent(decision.Err), false
	}
	if decision.Err != nil {
		r.host.cfg.Logger.Warn("a rule of the policy could not be evaluated and denied a call", "rule", decision.Rule,
			"tool", r.call.Tool, "call_id", r.call.ID, "error", decision.Err)
	}
	entry := audit.Decision{
		Principal: r.call.Principal, Session: r.call.Session, CallID: r.call.ID, Tool: r.call.Tool,
		Plugin: r.tool.Plugin.Info.Name, Rule: decision.Rule, Reason: decision.Reason, Arguments: given.Canonical(),
	}
	refused = r.judge(s, given, decision, &entry)
	if now && r.host.cfg.Audit != nil && r.host.cfg.Audit.Keeps(entry) {
		return nil, true
	}
	if refused != nil && refused.Kind == tool.KindApprovalRequired {
		r.keepFrozen(s, given, refused)
	}
	r.notePermitted(entry)
	return r.audited(entry, refused), false
}

// paced returns nil if the rate limit lets the call start now, which is counted if take is set. That it does not is kept in
// the audit log where it is kept that the call may be made.
func (r *run) paced(take bool) *tool.Error {
	refused := r.host.rates.check(r, take)
	if refused == nil {
		return nil
	}
	var entry audit.Decision
	r.mu.Lock()
	if r.permitted != nil {
		entry = *r.permitted
	}
	r.mu.Unlock()
	entry.Outcome, entry.Reason = audit.RateLimited, refused.Message
	return r.audited(entry, refused)
}

// notePermitted keeps what was decided for paced, where that may have to tell it.
func (r *run) notePermitted(entry audit.Decision) {
	if r.host.cfg.Audit == nil || r.tool.Spec.RateLimitPerMinute == 0 {
		return
	}
	kept := entry // of its own, so that entry needs no memory where it is not kept
	r.mu.Lock()
	defer r.mu.Unlock()
	r.permitted = &kept
}

// policyLetsPreview reports whether the tool may see the arguments before the policy has judged them: not where it will deny
// the call whatever they are; and a tool that gets secrets, which come with the first look, only where it will allow it.
func (r *run) policyLetsPreview() bool {
	verdict, known := r.host.cfg.Policy.Foresee(&r.ctx, r.policyInput(arguments.Parsed{}))
	if len(r.tool.Spec.RequiresAuth) > 0 {
		return known && verdict == policy.Allow
	}
	return !known || verdict != policy.Deny
}

func (r *run) policyInput(given arguments.Parsed) policy.Input {
	return policy.Input{
		Principal: r.call.Principal, Session: r.call.Session, CallID: r.call.ID, Context: r.call.Context, Plugin: r.tool.Plugin.Info.Name,
		Tool: &r.tool.Spec, Arguments: given.Canonical(), Object: given,
	}
}

// audited has a decision kept in the audit log, and returns why the call must not be made, or nil.
func (r *run) audited(entry audit.Decision, refused *tool.Error) *tool.Error {
	log := r.host.cfg.Audit
	if log == nil {
		return refused
	}
	if err := log.Record(&r.ctx, entry); err != nil && refused == nil {
		return tool.Errorf(tool.KindUnavailable, "the decision about the call cannot be recorded, and so it must not be made: %w", err)
	} else if err != nil {
		r.host.cfg.Logger.Error("a refused call is missing in the audit log", "call_id", r.call.ID, "tool", r.call.Tool, "error", err)
	}
	return refused
}

// judge carries a decision about the final arguments out: it returns why the call must not be made, or nil, and says in the
// entry what it came to. An approval of other arguments is refused also where no rule requires one: what a person approved and
// what is executed must never differ.
func (r *run) judge(s submission, final arguments.Parsed, d policy.Decision, entry *audit.Decision) *tool.Error {
	approval, refused := r.approval(s, final)
	switch d.Then {
	case policy.Allow:
		if refused == nil || !r.call.Approval.Named() {
			entry.Outcome = audit.Allowed
			return nil
		}
	case policy.RequireApproval:
		if approval != nil {
			entry.Outcome, entry.Approval = audit.Approved, approval
			return nil
		}
		if refused == nil {
			refused = tool.Errorf(tool.KindApprovalRequired, "%s: a person has to approve the call first", r.whyAsked(d))
		}
		refused.Rule = d.Rule
	default:
		entry.Outcome = audit.Denied
		refused := tool.Errorf(tool.KindDenied, "the call of %q is not allowed: %s", r.call.Tool, because(d))
		refused.Rule = d.Rule
		return refused
	}
	entry.Outcome = audit.ApprovalRequired
	return refused
}

// whyAsked says why a person has to agree.
func (r *run) whyAsked(d policy.Decision) string {
	if d.Rule == "" {
		return "the tool \"" + r.call.Tool + "\" is dangerous"
	}
	return "the call of \"" + r.call.Tool + "\" needs consent, " + because(d)
}

// because names what decided.
func because(d policy.Decision) string {
	if d.Reason == "" {
		return "by the rule \"" + d.Rule + "\""
	}
	return d.Reason + " (rule \"" + d.Rule + "\")"
}

// approval returns a person's consent to just these final arguments, or why what came with the call is none; nil and nil if
// none came.
func (r *run) approval(s submission, final arguments.Parsed) (*tool.Approval, *tool.Error) {
	if r.call.Approval == nil {
		return nil, nil
	}
	approval := *r.call.Approval
	if approval.Time.IsZero() {
		approval.Time = time.Now()
	}
	agreed := approval.ArgumentsSHA256
	if len(approval.Arguments) > 0 {
		named, err := arguments.Parse(approval.Arguments)
		if err != nil {
			return nil, tool.Errorf(tool.KindInvalidArgument, "the arguments of the approval: %w", err)
		}
		digest := digestOf(named)
		if agreed != "" && agreed != digest {
			return nil, tool.Errorf(tool.KindInvalidArgument,
				"the approval names two things: arguments with the digest %s, and the digest %s; set one of them", digest, agreed)
		}
		agreed = digest
	}
	if agreed == "" && !s.whole {
		return nil, tool.Errorf(tool.KindApprovalRequired,
			"the approval came before the arguments and does not say which it is for; set its arguments or their digest, or send it with the complete arguments")
	}
	if agreed == "" {
		agreed = digestOf(s.parsed)
	}
	if agreed != digestOf(final) {
		return nil, tool.Errorf(tool.KindApprovalRequired,
			"the approval by %s is not for the arguments that would be executed; show these to a person and ask again", clip(approval.ApprovedBy, 200))
	}
	approval.ApprovedBy = approver(r.call.Principal, approval.ApprovedBy)
	return &approval, nil
}

// approver says who approved, in one form for all callers: the principal that the connection shows, and in quotes the name that
// the caller claims, as in `uid:1000 ("ada")`. The claim alone is nobody's word. Without a principal there is no connection.
func approver(principal, claimed string) string {
	if principal == "" || claimed == principal || names(principal, claimed) {
		return claimed
	}
	return fmt.Sprintf("%s (%q)", principal, clip(claimed, 200))
}

// names reports whether a claim has the form of approver already, with the same principal: agentd sends it so.
func names(principal, claimed string) bool {
	claim, ok := strings.CutPrefix(claimed, principal+" (")
	if !ok {
		return false
	}
	claim, ok = strings.CutSuffix(claim, ")")
	name, err := strconv.Unquote(claim)
	return ok && err == nil && claim == strconv.Quote(name) && len(name) <= 200
}
