package host

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/host/frozen"
	"github.com/toolhost/toolhost/internal/host/result"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/tool"
)

// authorizer decides which calls may be executed, by the operator's policy and by the approvals of
// persons, and writes the decisions to the audit log. It is safe for concurrent use.
//
// An approval is for exact final arguments. An approval of other arguments is refused even where no
// rule requires an approval: what a person approved and what a plugin executes must never differ.
type authorizer struct {
	policy *policy.Policy
	audit  *audit.Log // nil: decisions are not written
	logger *slog.Logger
}

// decision is what the authorizer decided about a call.
type decision struct {
	entry   audit.Decision
	refused *tool.Error // why the call must not be executed; nil: it may be
}

// decide decides whether a call may be executed with its final arguments. It returns an error only
// if the context of the call ended meanwhile.
func (a *authorizer) decide(ctx context.Context, call *tool.Call, t *catalog.Tool, s submission, final arguments.Parsed) (decision, error) {
	d := a.policy.Decide(ctx, policyInput(call, t, final))
	if d.Err != nil && ctx.Err() != nil { // not the fault of a rule
		return decision{}, d.Err
	}
	if d.Err != nil {
		a.logger.Warn("a rule of the policy could not be evaluated and denied a call", "rule", d.Rule,
			"tool", call.Tool, "call_id", call.ID, "error", d.Err)
	}
	made := decision{entry: audit.Decision{
		Principal: call.Principal, Session: call.Session, CallID: call.ID, Tool: call.Tool,
		Plugin: t.Plugin.Info.Name, Rule: d.Rule, Reason: d.Reason, Arguments: final.Canonical(),
	}}
	made.judge(call, s, final, d)
	return made, nil
}

// judge combines the decision of the policy with the approval of the call.
func (made *decision) judge(call *tool.Call, s submission, final arguments.Parsed, d policy.Decision) {
	approved, refused := approvalOf(call, s, final)
	switch d.Then {
	case policy.Allow:
		if refused == nil || !call.Approval.Named() {
			made.entry.Outcome = audit.Allowed
			return
		}
	case policy.RequireApproval:
		if approved != nil {
			made.entry.Outcome, made.entry.Approval = audit.Approved, approved
			return
		}
		if refused == nil {
			refused = tool.Errorf(tool.KindApprovalRequired, "%s: a person has to approve the call first", whyApproval(call.Tool, d))
		}
		refused.Rule = d.Rule
	default:
		made.entry.Outcome = audit.Denied
		made.refused = tool.Errorf(tool.KindDenied, "the call of %q is not allowed: %s", call.Tool, because(d))
		made.refused.Rule = d.Rule
		return
	}
	made.entry.Outcome, made.refused = audit.ApprovalRequired, refused
}

// record writes a decision to the audit log, and returns why the call must not be executed, or nil.
// A call whose permission cannot be written must not be executed.
func (a *authorizer) record(ctx context.Context, entry audit.Decision, refused *tool.Error) *tool.Error {
	if a.audit == nil {
		return refused
	}
	if err := a.audit.Record(ctx, entry); err != nil && refused == nil {
		return tool.Errorf(tool.KindUnavailable, "the decision about the call cannot be recorded, and so it must not be made: %w", err)
	} else if err != nil {
		a.logger.Error("a refused call is missing in the audit log", "call_id", entry.CallID, "tool", entry.Tool, "error", err)
	}
	return refused
}

// allowsPreview reports whether the tool may see the arguments before the policy has judged them.
// It may not if the policy will deny the call whatever the arguments are. A tool that gets secrets,
// which it gets with the first arguments, may only if the policy will allow the call.
func (a *authorizer) allowsPreview(ctx context.Context, call *tool.Call, t *catalog.Tool) bool {
	verdict, known := a.policy.Foresee(ctx, policyInput(call, t, arguments.Parsed{}))
	if len(t.Spec.RequiresAuth) > 0 {
		return known && verdict == policy.Allow
	}
	return !known || verdict != policy.Deny
}

func policyInput(call *tool.Call, t *catalog.Tool, given arguments.Parsed) policy.Input {
	return policy.Input{
		Principal: call.Principal, Session: call.Session, CallID: call.ID, Context: call.Context, Plugin: t.Plugin.Info.Name,
		Tool: &t.Spec, Arguments: given.Canonical(), Object: given,
	}
}

// whyApproval returns why a person has to approve a call.
func whyApproval(toolName string, d policy.Decision) string {
	if d.Rule == "" {
		return "the tool \"" + toolName + "\" is dangerous"
	}
	return "the call of \"" + toolName + "\" needs consent, " + because(d)
}

// because names the rule that decided, with its reason.
func because(d policy.Decision) string {
	if d.Reason == "" {
		return "by the rule \"" + d.Rule + "\""
	}
	return d.Reason + " (rule \"" + d.Rule + "\")"
}

// approvalOf returns the approval that came with a call if it is for exactly these final arguments,
// or why it is not. It returns nil and nil if no approval came.
func approvalOf(call *tool.Call, s submission, final arguments.Parsed) (*tool.Approval, *tool.Error) {
	if call.Approval == nil {
		return nil, nil
	}
	approved := *call.Approval
	if approved.Time.IsZero() {
		approved.Time = time.Now()
	}
	digest := approved.ArgumentsSHA256
	if len(approved.Arguments) > 0 {
		named, err := arguments.Parse(approved.Arguments)
		if err != nil {
			return nil, tool.Errorf(tool.KindInvalidArgument, "the arguments of the approval: %w", err)
		}
		ofNamed := frozen.Digest(named)
		if digest != "" && digest != ofNamed {
			return nil, tool.Errorf(tool.KindInvalidArgument,
				"the approval names two things: arguments with the digest %s, and the digest %s; set one of them", ofNamed, digest)
		}
		digest = ofNamed
	}
	if digest == "" && !s.whole {
		return nil, tool.Errorf(tool.KindApprovalRequired,
			"the approval came before the arguments and does not say which it is for; set its arguments or their digest, or send it with the complete arguments")
	}
	if digest == "" {
		digest = frozen.Digest(s.parsed)
	}
	if digest != frozen.Digest(final) {
		return nil, tool.Errorf(tool.KindApprovalRequired,
			"the approval by %s is not for the arguments that would be executed; show these to a person and ask again", result.Clip(approved.ApprovedBy, 200))
	}
	approved.ApprovedBy = approver(call.Principal, approved.ApprovedBy)
	return &approved, nil
}

// approver returns how the audit log names the person who approved: the principal that the
// connection authenticates, and in quotes the name that the caller claims, as in `uid:1000
// ("ada")`. The claim alone proves nothing. Without a principal there is no connection, and the
// claim is all there is.
func approver(principal, claimed string) string {
	if principal == "" || claimed == principal || isApprover(principal, claimed) {
		return claimed
	}
	return fmt.Sprintf("%s (%q)", principal, result.Clip(claimed, 200))
}

// isApprover reports whether a claim already has the form of approver, with the same principal.
// agentd sends it in this form.
func isApprover(principal, claimed string) bool {
	claim, ok := strings.CutPrefix(claimed, principal+" (")
	if !ok {
		return false
	}
	claim, ok = strings.CutSuffix(claim, ")")
	name, err := strconv.Unquote(claim)
	return ok && err == nil && claim == strconv.Quote(name) && len(name) <= 200
}
