package host

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/frozen"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

const (
	defaultApprovalPage = 100
	maxApprovalPage     = 1000
	// maxApprovalPageBytes keeps a page of approvals with large arguments within one message of 4 MiB.
	maxApprovalPageBytes = 2 << 20
	// maxApprovalText bounds the name of the approver and the reason, in bytes.
	maxApprovalText = 1024
	// A caller's clock may be wrong by this much when it computes the latest expiry.
	expirySlack = time.Minute
)

// CreateApproval creates a standing approval. The caller must have checked that the principal, the
// approver and the delegate are who they are, and may approve calls of the principal. Errors are
// those of ApprovalService.CreateApproval.
func (h *Host) CreateApproval(ctx context.Context, r tool.ApprovalRequest) (tool.StandingApproval, error) {
	if h.cfg.Approvals == nil {
		return tool.StandingApproval{}, noApprovals()
	}
	if err := checkApprovalRequest(&r); err != nil {
		return tool.StandingApproval{}, err
	}
	latest := h.generations.latest()
	if len(r.Arguments) > latest.MaxArgumentBytes {
		return tool.StandingApproval{}, latest.tooLarge(r.CallID)
	}
	given, err := arguments.Parse(r.Arguments)
	if err != nil {
		return tool.StandingApproval{}, tool.Errorf(tool.KindInvalidArgument, "the arguments of the approved call: %w", err)
	}
	// A request may be repeated when its time is over, or its tool has changed.
	if had, ok, err := h.cfg.Approvals.Earlier(&r, given); ok || err != nil {
		return had, err
	}
	call := tool.Call{
		ID: r.CallID, Tool: r.Tool, Session: r.Session, Principal: r.Principal, Groups: r.Groups, Via: r.Via, From: r.From,
		Agent: r.Agent, Run: r.Run, Context: r.Context,
	}
	in, err := h.lookup(ctx, r.Tool, mayCall(ctx, &call))
	if tool.KindOf(err) == tool.KindNotFound {
		h.noteUnknown(ctx, &call)
	}
	if err != nil {
		return tool.StandingApproval{}, err
	}
	if in.settings.Approvals.Off {
		return tool.StandingApproval{}, tool.Errorf(tool.KindUnsupported, "the operator switched standing approvals off (approvals.standing in toolhost.yaml)")
	}
	a, err := in.propose(ctx, &r, &call, given)
	if err != nil {
		return tool.StandingApproval{}, err
	}
	limits := standing.Limits{PerPrincipal: in.settings.Approvals.PerPrincipal, PerTenant: in.settings.Approvals.PerTenant}
	created, first, err := h.cfg.Approvals.Create(ctx, standing.Proposal{Request: &r, Approval: a, Spec: &in.tool.Spec, RuleSHA256: in.settings.Policy.RuleDigest(a.Rule), Limits: limits, Permit: func(a tool.StandingApproval) error {
		return h.noteCreated(ctx, &a, r.From, frozen.Digest(given))
	}})
	if err == nil && first {
		h.log.policy.InfoContext(ctx, "a standing approval was created", "approval", created.ID, "tool", created.Tool, "principal", created.Principal, "approver", created.Approver,
			"scope", string(created.Scope), "expires", created.Expires.Format(time.RFC3339))
	}
	return created, err
}

func noApprovals() error {
	return tool.Errorf(tool.KindUnsupported, "this toolhost stores no standing approvals")
}

// checkApprovalRequest returns why a request is not valid, whatever its tool is.
func checkApprovalRequest(r *tool.ApprovalRequest) error {
	invalid := func(format string, args ...any) error {
		return tool.Errorf(tool.KindInvalidArgument, "the standing approval cannot be created: %w", fmt.Errorf(format, args...))
	}
	for what, id := range map[string]string{"request_id": r.RequestID, "agent": r.Agent, "run": r.Run, "session": r.Session, "call_id": r.CallID} {
		if id == "" {
			continue
		}
		if err := tool.CheckID(id); err != nil {
			return invalid("its %s cannot be used: %w", what, err)
		}
	}
	if len(r.ApprovedBy) > maxApprovalText || len(r.Reason) > maxApprovalText {
		return invalid("the name of the approver and the reason may have %d bytes", maxApprovalText)
	}
	if err := checkContext(r.Context); err != nil {
		return err
	}
	switch {
	case r.Scope == tool.ScopeRun && r.Run == "":
		return invalid("its scope is a run, and it names none")
	case r.Scope == tool.ScopeSession && r.Session == "":
		return invalid("its scope is a session, and it names none; the default session of a principal never ends, so use a date instead")
	case r.Scope == tool.ScopePrincipal && r.Expires.IsZero():
		return invalid("an approval for all calls needs expire_time")
	case !slices.Contains([]tool.ApprovalScope{tool.ScopeRun, tool.ScopeSession, tool.ScopePrincipal}, r.Scope):
		return invalid("it has no scope")
	}
	return nil
}

// propose returns the approval that a request is for, without its arguments. It refuses what no
// approval of the call could do either: what the policy denies, and four eyes.
func (in toolView) propose(ctx context.Context, r *tool.ApprovalRequest, call *tool.Call, given arguments.Parsed) (a tool.StandingApproval, err error) {
	d := in.settings.Policy.Decide(ctx, policyInput(call, in.tool, given))
	if d.Err != nil && ctx.Err() != nil {
		return a, d.Err
	}
	switch d.Then {
	case policy.RequireApproval:
	case policy.FourEyes:
		return a, tool.Errorf(tool.KindDenied, "%s: another principal has to approve each call, so that there can be no standing approval", whyApproval(call.Tool, d))
	case policy.Allow:
		return a, tool.Errorf(tool.KindInvalidArgument, "the call of %q needs no approval", call.Tool)
	default:
		return a, tool.Errorf(tool.KindDenied, "the call of %q is not allowed: %s", call.Tool, d.Because())
	}
	if !identity.InGroups(r.Approver, r.ApproverGroups, d.Approvers) {
		return a, tool.Errorf(tool.KindDenied, "%s: the approver has to be in %s", whyApproval(call.Tool, d), groupWords(d.Approvers))
	}
	definition := in.tool.DefinitionDigest()
	if r.DefinitionSHA256 != "" && r.DefinitionSHA256 != definition {
		return a, tool.Errorf(tool.KindConflict, "the definition of %q has changed since the call was refused; make the call again, and show it to the person", call.Tool)
	}
	now, longest := time.Now(), in.settings.Approvals.Longest
	expires := r.Expires
	switch latest := now.Add(longest); {
	case expires.IsZero():
		expires = latest
	case !expires.After(now):
		return a, tool.Errorf(tool.KindInvalidArgument, "expire_time %s is over", expires.UTC().Format(time.RFC3339))
	case expires.After(latest.Add(expirySlack)):
		return a, tool.Errorf(tool.KindInvalidArgument, "expire_time %s is later than the operator allows (approvals.longest is %s); choose %s at the latest",
			expires.UTC().Format(time.RFC3339), longest, latest.UTC().Format(time.RFC3339))
	}
	a = tool.StandingApproval{
		Principal: r.Principal, Via: r.Via, Agent: r.Agent, Tool: r.Tool, Plugin: in.tool.Plugin.Info.Name, DefinitionSHA256: definition, Rule: d.Rule,
		Scope: r.Scope, AnyArguments: r.AnyArguments, Approver: r.Approver, ApprovedBy: r.ApprovedBy, Reason: r.Reason, CallID: r.CallID, Expires: expires,
	}
	switch r.Scope {
	case tool.ScopeRun:
		a.Run = r.Run
	case tool.ScopeSession:
		a.Session = r.Session
	}
	return a, nil
}

// noteCreated writes to the audit log that a standing approval is created. If it cannot be written,
// the approval must not be created.
func (h *Host) noteCreated(ctx context.Context, a *tool.StandingApproval, from, digest string) error {
	if h.cfg.Audit == nil {
		return nil
	}
	err := h.cfg.Audit.Note(ctx, audit.Event{
		Kind: audit.OfApproval, Principal: a.Principal, Via: a.Via, From: from, CallID: a.CallID, Tool: a.Tool, Act: "create standing approval", Target: a.ID,
		Outcome: audit.Approved, Approver: a.Approver, Reason: whatStands(a, digest),
	})
	if err != nil {
		return tool.Errorf(tool.KindUnavailable, "the audit log cannot be written, so the standing approval was not created: %w", err)
	}
	return nil
}

// whatStands says for which calls an approval stands, without the values of arguments: like every
// line of the audit log, it has only their digest.
func whatStands(a *tool.StandingApproval, digest string) string {
	words := []string{"until " + a.Expires.UTC().Format(time.RFC3339)}
	for _, of := range [][2]string{{"agent", a.Agent}, {"run", a.Run}, {"session", a.Session}, {"rule", a.Rule}} {
		if of[1] != "" {
			words = append(words, of[0]+" "+of[1])
		}
	}
	if a.AnyArguments {
		return strings.Join(append(words, "any arguments"), ", ")
	}
	words = append(words, "arguments as those with the digest "+digest)
	for _, p := range a.Patterns {
		text, _ := json.Marshal(p) // texts and a bool never fail
		words = append(words, string(text))
	}
	return strings.Join(words, ", ")
}

// Approvals returns one page of standing approvals, the newest first. Errors: invalid_argument.
func (h *Host) Approvals(_ context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error) {
	page := tool.ApprovalPage{Approvals: []tool.StandingApproval{}}
	if h.cfg.Approvals == nil {
		return page, noApprovals()
	}
	found := h.cfg.Approvals.All(func(a *tool.StandingApproval) bool {
		of := q.AllPrincipals || a.Principal == q.Principal
		if q.Approved {
			of = a.Approver == q.Principal && q.May(a.Principal)
		}
		return a.ID == q.PageToken || of && q.Tenants.Contain(identity.TenantOf(a.Principal)) &&
			(q.Tool == "" || a.Tool == q.Tool) && (q.Run == "" || a.Run == q.Run) && (q.Ended || a.Ended.IsZero())
	})
	if q.PageToken != "" {
		at := slices.IndexFunc(found, func(a tool.StandingApproval) bool { return a.ID == q.PageToken })
		if at < 0 {
			return page, tool.Errorf(tool.KindInvalidArgument, "the page_token is not that of an approval that is still listed; begin with the first page")
		}
		found = found[at+1:] // also if that of the token has ended since, and is not listed any more
	}
	size, bytes := cmp.Or(min(max(q.PageSize, 0), maxApprovalPage), defaultApprovalPage), 0
	for i := range found {
		bytes += shownBytes(&found[i])
		if i == size || i > 0 && bytes > maxApprovalPageBytes {
			page.NextPageToken = found[i-1].ID
			break
		}
		page.Approvals = append(page.Approvals, found[i])
	}
	return page, nil
}

// shownBytes returns about how many bytes of a page an approval takes.
func shownBytes(a *tool.StandingApproval) int {
	size := 2<<10 + len(a.Arguments) + len(a.ApprovedBy) + len(a.Reason)
	for _, p := range a.Patterns {
		size += 16 + len(p.Argument) + len(p.PathPrefix) + len(p.Origin)
	}
	return size
}

// RevokeApproval ends a standing approval, and returns it as it is then. Errors: not_found, also if
// r.May returns false; unavailable if the file cannot be written.
func (h *Host) RevokeApproval(ctx context.Context, r tool.ApprovalRevocation) (tool.StandingApproval, error) {
	if h.cfg.Approvals == nil {
		return tool.StandingApproval{}, noApprovals()
	}
	known, ok := h.cfg.Approvals.Get(r.ID)
	if !ok || !r.May(known.Principal) {
		return tool.StandingApproval{}, tool.Errorf(tool.KindNotFound, "there is no standing approval of this id; `toolhost approvals list` shows them")
	}
	ended, first, err := h.cfg.Approvals.Revoke(context.WithoutCancel(ctx), r.ID, r.By)
	if first {
		h.noteEnded(context.WithoutCancel(ctx), &ended, audit.Event{
			Principal: ended.Principal, Via: r.Via, From: r.From, Approver: ended.Approver, Reason: strings.TrimSpace("revoked by " + r.By + " " + cutText(r.Reason)),
		})
	}
	return ended, err
}

// cutText bounds a text of a caller.
func cutText(text string) string {
	if len(text) > maxApprovalText {
		return strings.ToValidUTF8(text[:maxApprovalText], "")
	}
	return text
}
