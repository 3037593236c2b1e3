package host

import (
	"context"
	"log/slog"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

// authorizer decides which calls may be executed, by the operator's policy and by the approvals of
// persons, and writes the decisions to the audit log. It is safe for concurrent use.
//
// An approval is for exact final arguments. An approval of other arguments is refused even where no
// rule requires an approval: what a person approved and what a plugin executes must never differ.
type authorizer struct {
	policy   *policy.Policy
	standing *standing.Store // nil: there are no standing approvals, or the operator switched them off
	audit    *audit.Log      // nil: decisions are not written
	homes    *homes          // nil: the files of a session are at every toolhost that executes its calls
	sandbox  func(plugin string) tool.Sandbox
	logger   *slog.Logger
}

// decision is the authorizer's decision about a call.
type decision struct {
	entry    audit.Decision
	refused  *tool.Error            // why the call must not be executed; nil: it may be
	standing *tool.StandingApproval // which approves the call; nil: none does
	policy   *policy.Policy         // that decided
	move     *move                  // which follows the record of the decision; nil: the session stays
}

// decide decides whether a call may be executed with its final arguments. stands says that a
// standing approval may approve it. decide returns an error only if the context of the call ended
// meanwhile.
func (a *authorizer) decide(ctx context.Context, call *tool.Call, t *catalog.Tool, s submission, final arguments.Parsed, stands bool) (decision, error) {
	d := a.policy.Decide(ctx, policyInput(call, t, final))
	if d.Err != nil && ctx.Err() != nil { // not the fault of a rule
		return decision{}, d.Err
	}
	if d.Err != nil {
		a.logger.Warn("a rule of the policy could not be evaluated and denied a call", "plugin", t.Plugin.Info.Name, "tool", call.Tool,
			"call", call.ID, "session", call.Session, "principal", call.Principal, "trace", traceOf(call), "rule", d.Rule, "error", d.Err)
	}
	made := decision{entry: audit.Decision{
		Principal: call.Principal, Via: call.Via, From: call.From, Session: call.Session, CallID: call.ID, Tool: call.Tool,
		Plugin: t.Plugin.Info.Name, Rule: d.Rule, Reason: d.Reason, Arguments: final.Canonical(),
	}}
	made.policy = a.policy
	made.judge(call, s, final, d)
	if stands && made.refused != nil && d.Then == policy.RequireApproval {
		a.approveByStanding(&made, call, t, final)
	}
	approved, _ := approvalOf(call, s, final)
	a.atHome(ctx, &made, call, t, approved)
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
	case policy.RequireApproval, policy.FourEyes:
		other := d.Then == policy.FourEyes
		if approved != nil && other && !byAnother(call, approved) {
			approved, refused = nil, tool.Errorf(tool.KindApprovalRequired,
				"%s: the principal that the call is for cannot approve it; another one has to", whyApproval(call.Tool, d))
		}
		if approved != nil && !identity.InGroups(approved.Approver, approved.ApproverGroups, d.Approvers) {
			approved, refused = nil, tool.Errorf(tool.KindApprovalRequired, "%s: the approver has to be in %s", whyApproval(call.Tool, d), groupWords(d.Approvers))
		}
		if approved != nil {
			made.entry.Outcome, made.entry.Approval = audit.Approved, approved
			return
		}
		if refused == nil {
			refused = tool.Errorf(tool.KindApprovalRequired, "%s: %s has to approve the call first", whyApproval(call.Tool, d), approvers(other, d.Approvers))
		}
		refused.Rule, refused.FourEyes, refused.ApproverGroups = d.Rule, other, d.Approvers
	default:
		made.entry.Outcome = audit.Denied
		made.refused = tool.Errorf(tool.KindDenied, "the call of %q is not allowed: %s", call.Tool, d.Because())
		made.refused.Rule = d.Rule
		return
	}
	made.entry.Outcome, made.refused = audit.ApprovalRequired, refused
}

// record writes a decision to the audit log. If a permission cannot be written, the call must not
// be executed.
func (a *authorizer) record(ctx context.Context, entry audit.Decision) error {
	if a.audit == nil {
		return nil
	}
	return a.audit.Record(ctx, entry)
}

// allowsPreview reports whether the tool may see the arguments before the policy decides about
// them. It may not if the policy will deny the call for any arguments. A tool with secrets gets
// them together with the first arguments. So it may preview only if the policy will allow the call
// for any arguments.
func (a *authorizer) allowsPreview(ctx context.Context, call *tool.Call, t *catalog.Tool) bool {
	verdict, known := a.policy.Foresee(ctx, policyInput(call, t, arguments.Parsed{}))
	if len(t.Spec.RequiresAuth) > 0 {
		return known && verdict == policy.Allow
	}
	return !known || verdict != policy.Deny
}

func policyInput(call *tool.Call, t *catalog.Tool, given arguments.Parsed) policy.Input {
	return policy.Input{
		Principal: call.Principal, Groups: call.Groups, Via: call.Via, Session: call.Session, CallID: call.ID, Context: call.Context, Plugin: t.Plugin.Info.Name,
		Tool: &t.Spec, Arguments: given.Canonical(), Object: given,
	}
}

// whyApproval returns why a person has to approve a call.
func whyApproval(toolName string, d policy.Decision) string {
	if d.Rule == "" {
		return "the tool \"" + toolName + "\" is dangerous"
	}
	return "the call of \"" + toolName + "\" needs consent, " + d.Because()
}

func approvers(other bool, groups []string) string {
	who := "a person"
	if other {
		who = "a principal other than the one that the call is for"
	}
	if len(groups) > 0 {
		who += " in " + groupWords(groups)
	}
	return who
}

func groupWords(groups []string) string {
	if len(groups) == 1 {
		return "the group " + groups[0]
	}
	return "one of the groups " + strings.Join(groups, ", ")
}

// decisions has the level and the words for each outcome of a decision.
var decisions = map[audit.Outcome]struct {
	level slog.Level
	words string
}{
	audit.Allowed:          {slog.LevelDebug, "call allowed"},
	audit.Denied:           {slog.LevelInfo, "call denied"},
	audit.ApprovalRequired: {slog.LevelInfo, "call waits for approval"},
	audit.Approved:         {slog.LevelInfo, "call approved"},
	audit.RateLimited:      {slog.LevelInfo, "call refused by a rate limit"},
}

// decided logs a decision about the call and writes it to the audit log. It returns an error if the
// call must not be executed, or nil.
func (c *call) decided(entry audit.Decision, refused *tool.Error) *tool.Error {
	made := decisions[entry.Outcome]
	if logger := c.services.log.policy; logger.Enabled(context.Background(), made.level) {
		var attrs []slog.Attr
		for _, a := range [][2]string{{"rule", entry.Rule}, {"reason", entry.Reason}} {
			if a[1] != "" {
				attrs = append(attrs, slog.String(a[0], a[1]))
			}
		}
		if entry.Approval != nil {
			attrs = append(attrs, slog.String("approved_by", entry.Approval.ApprovedBy))
		}
		if entry.Standing != "" {
			attrs = append(attrs, slog.String("standing_approval", entry.Standing))
		}
		c.logger(logger).LogAttrs(context.Background(), made.level, made.words, attrs...)
	}
	err := c.settings.authorizer.record(c.ctx(), entry)
	if err == nil {
		return refused
	}
	if c.ctx().Err() == nil { // otherwise the call ended meanwhile, and the log may be fine
		c.logger(c.services.log.policy).Error("the audit log cannot be written: calls that it has to contain are refused", "error", err)
	}
	if refused != nil {
		return refused
	}
	return tool.Errorf(tool.KindUnavailable, "the decision about the call cannot be recorded, and so it must not be made: %w", err)
}
