package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// approvalScopes and approvalEnds have the numbers of scopes and ends in the protocol.
var (
	approvalScopes = map[tool.ApprovalScope]toolhostv1.ApprovalScope{
		tool.ScopeRun:       toolhostv1.ApprovalScope_APPROVAL_SCOPE_RUN,
		tool.ScopeSession:   toolhostv1.ApprovalScope_APPROVAL_SCOPE_SESSION,
		tool.ScopePrincipal: toolhostv1.ApprovalScope_APPROVAL_SCOPE_PRINCIPAL,
	}
	approvalEnds = map[tool.ApprovalEnd]toolhostv1.ApprovalEnd{
		tool.ApprovalRevoked:  toolhostv1.ApprovalEnd_APPROVAL_END_REVOKED,
		tool.ApprovalExpired:  toolhostv1.ApprovalEnd_APPROVAL_END_EXPIRED,
		tool.ApprovalChanged:  toolhostv1.ApprovalEnd_APPROVAL_END_CHANGED,
		tool.ApprovalRestored: toolhostv1.ApprovalEnd_APPROVAL_END_RESTORED,
	}
)

// nameOf returns the name of a number, or the zero name for a number that this version does not
// know.
func nameOf[Name ~string, Number comparable](names map[Name]Number, number Number) (found Name) {
	for name, n := range names {
		if n == number {
			return name
		}
	}
	return ""
}

// FromApprovalRequest converts a request, without the principals, which the caller sets.
func FromApprovalRequest(r tool.ApprovalRequest) *toolhostv1.CreateApprovalRequest {
	m := &toolhostv1.CreateApprovalRequest{
		RequestId: valid(r.RequestID), Tool: valid(r.Tool), Arguments: r.Arguments, DefinitionSha256: valid(r.DefinitionSHA256), Agent: valid(r.Agent),
		Run: valid(r.Run), Session: valid(r.Session), Scope: approvalScopes[r.Scope], AnyArguments: r.AnyArguments, Patterns: fromPatterns(r.Patterns),
		ExpireTime: toolpb.FromTime(r.Expires), CallId: valid(r.CallID), ApprovedBy: valid(r.ApprovedBy), Reason: valid(r.Reason),
	}
	for key, value := range r.Context {
		if m.Context == nil {
			m.Context = map[string][]byte{}
		}
		m.Context[valid(key)] = value
	}
	return m
}

// ToApprovalRequest converts a request, without the principals, which the server sets.
func ToApprovalRequest(m *toolhostv1.CreateApprovalRequest) tool.ApprovalRequest {
	r := tool.ApprovalRequest{
		RequestID: m.GetRequestId(), Tool: m.GetTool(), Arguments: m.GetArguments(), DefinitionSHA256: m.GetDefinitionSha256(), Agent: m.GetAgent(),
		Run: m.GetRun(), Session: m.GetSession(), Scope: nameOf(approvalScopes, m.GetScope()), AnyArguments: m.GetAnyArguments(), Patterns: toPatterns(m.GetPatterns()),
		Expires: toolpb.ToTime(m.GetExpireTime()), CallID: m.GetCallId(), ApprovedBy: m.GetApprovedBy(), Reason: m.GetReason(),
	}
	r.Context = toolpb.ToValues(m.GetContext())
	return r
}

func fromPatterns(patterns []tool.ArgumentPattern) (all []*toolhostv1.ArgumentPattern) {
	for _, p := range patterns {
		m := &toolhostv1.ArgumentPattern{Argument: valid(p.Argument)}
		switch {
		case p.PathPrefix != "":
			m.Form = &toolhostv1.ArgumentPattern_PathPrefix{PathPrefix: valid(p.PathPrefix)}
		case p.Origin != "":
			m.Form = &toolhostv1.ArgumentPattern_Origin{Origin: valid(p.Origin)}
		case p.Any:
			m.Form = &toolhostv1.ArgumentPattern_Any{Any: true}
		}
		all = append(all, m)
	}
	return all
}

func toPatterns(patterns []*toolhostv1.ArgumentPattern) (all []tool.ArgumentPattern) {
	for _, m := range patterns {
		all = append(all, tool.ArgumentPattern{Argument: m.GetArgument(), PathPrefix: m.GetPathPrefix(), Origin: m.GetOrigin(), Any: m.GetAny()})
	}
	return all
}

// FromStandingApproval converts a standing approval.
func FromStandingApproval(a tool.StandingApproval) *toolhostv1.StandingApproval {
	return &toolhostv1.StandingApproval{
		Id: a.ID, Principal: valid(a.Principal), Via: valid(a.Via), Agent: valid(a.Agent), Tool: valid(a.Tool), Plugin: valid(a.Plugin),
		DefinitionSha256: a.DefinitionSHA256, Rule: valid(a.Rule), Scope: approvalScopes[a.Scope], Run: valid(a.Run), Session: valid(a.Session),
		AnyArguments: a.AnyArguments, Patterns: fromPatterns(a.Patterns), Arguments: a.Arguments, Approver: valid(a.Approver), ApprovedBy: valid(a.ApprovedBy),
		Reason: valid(a.Reason), CallId: valid(a.CallID), CreateTime: toolpb.FromTime(a.Created), ExpireTime: toolpb.FromTime(a.Expires),
		EndTime: toolpb.FromTime(a.Ended), End: approvalEnds[a.End], RevokedBy: valid(a.RevokedBy),
	}
}

// ToStandingApproval converts a standing approval. nil stands for the zero StandingApproval.
func ToStandingApproval(m *toolhostv1.StandingApproval) tool.StandingApproval {
	return tool.StandingApproval{
		ID: m.GetId(), Principal: m.GetPrincipal(), Via: m.GetVia(), Agent: m.GetAgent(), Tool: m.GetTool(), Plugin: m.GetPlugin(),
		DefinitionSHA256: m.GetDefinitionSha256(), Rule: m.GetRule(), Scope: nameOf(approvalScopes, m.GetScope()), Run: m.GetRun(), Session: m.GetSession(),
		AnyArguments: m.GetAnyArguments(), Patterns: toPatterns(m.GetPatterns()), Arguments: m.GetArguments(), Approver: m.GetApprover(), ApprovedBy: m.GetApprovedBy(),
		Reason: m.GetReason(), CallID: m.GetCallId(), Created: toolpb.ToTime(m.GetCreateTime()), Expires: toolpb.ToTime(m.GetExpireTime()),
		Ended: toolpb.ToTime(m.GetEndTime()), End: nameOf(approvalEnds, m.GetEnd()), RevokedBy: m.GetRevokedBy(),
	}
}

// FromApprovalQuery converts a query, without the principal, which the caller sets.
func FromApprovalQuery(q tool.ApprovalQuery) *toolhostv1.ListApprovalsRequest {
	return &toolhostv1.ListApprovalsRequest{
		AllPrincipals: q.AllPrincipals, Tenants: q.Tenants, Tool: valid(q.Tool), Run: valid(q.Run), Ended: q.Ended, PageSize: uint32(max(q.PageSize, 0)), PageToken: valid(q.PageToken),
		Approved: q.Approved,
	}
}

// ToApprovalQuery converts a query, without the principal, which the server sets.
func ToApprovalQuery(m *toolhostv1.ListApprovalsRequest) tool.ApprovalQuery {
	return tool.ApprovalQuery{
		AllPrincipals: m.GetAllPrincipals(), Tenants: m.GetTenants(), Tool: m.GetTool(), Run: m.GetRun(), Ended: m.GetEnded(),
		PageSize: int(m.GetPageSize()), PageToken: m.GetPageToken(), Approved: m.GetApproved(),
	}
}

// FromApprovalPage converts a page.
func FromApprovalPage(p tool.ApprovalPage) *toolhostv1.ListApprovalsResponse {
	m := &toolhostv1.ListApprovalsResponse{NextPageToken: p.NextPageToken}
	for _, a := range p.Approvals {
		m.Approvals = append(m.Approvals, FromStandingApproval(a))
	}
	return m
}
