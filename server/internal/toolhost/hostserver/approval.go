package hostserver

import (
	"context"
	"slices"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

// Approvals has the standing approvals. Errors are *tool.Error.
type Approvals interface {
	CreateApproval(ctx context.Context, r tool.ApprovalRequest) (tool.StandingApproval, error)
	Approvals(ctx context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error)
	RevokeApproval(ctx context.Context, r tool.ApprovalRevocation) (tool.StandingApproval, error)
}

// approvalService implements toolhost.v1.ApprovalService. The guard converts errors to statuses.
// The rules about principals are those of calls, which toolService has.
type approvalService struct {
	toolhostv1.UnimplementedApprovalServiceServer
	tools     *toolService
	approvals Approvals // nil: there are none
}

func (s *approvalService) check() error {
	if s.approvals == nil {
		return tool.Errorf(tool.KindUnsupported, "this toolhost stores no standing approvals")
	}
	return nil
}

// CreateApproval implements toolhost.v1.ApprovalService. What the caller must be permitted is what
// it must be permitted to make the call with an approval: to call tools for the principal, and to
// approve its calls, or to name the approver. A limited token must not extend what it can reach
// beyond its own end.
func (s *approvalService) CreateApproval(ctx context.Context, req *toolhostv1.CreateApprovalRequest) (*toolhostv1.CreateApprovalResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	caller := callerOf(ctx)
	if caller.who.Name == "" || caller.who.Name == authn.Anonymous {
		return nil, tool.Errorf(tool.KindDenied, "an anonymous caller cannot create a standing approval, because every program of the machine would use it; connect over the unix socket or with a token")
	}
	if caller.who.Scope != nil && req.GetOnBehalfOf() == nil {
		return nil, tool.Errorf(tool.KindDenied, "a token that is limited to some roles or tools cannot create a standing approval")
	}
	of, err := s.tools.subjectOf(ctx, &caller, authz.ToolsCall, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	approver, groups, err := s.tools.approverOf(ctx, &caller, of, &toolhostv1.Approval{Approver: req.GetApprover()})
	if err != nil {
		return nil, err
	}
	r := hostpb.ToApprovalRequest(req)
	r.Principal, r.Groups, r.Via, r.From, r.Approver, r.ApproverGroups = of.key, of.groups, of.via, caller.who.From, approver, groups
	a, err := s.approvals.CreateApproval(ctx, r)
	if err != nil {
		return nil, err
	}
	return &toolhostv1.CreateApprovalResponse{Approval: hostpb.FromStandingApproval(a)}, nil
}

// ListApprovals implements toolhost.v1.ApprovalService.
func (s *approvalService) ListApprovals(ctx context.Context, req *toolhostv1.ListApprovalsRequest) (*toolhostv1.ListApprovalsResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	caller, q := callerOf(ctx), hostpb.ToApprovalQuery(req)
	switch {
	case q.Approved:
		if q.AllPrincipals {
			return nil, tool.Errorf(tool.KindInvalidArgument, "approved and all_principals exclude each other")
		}
		decider, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
		if err != nil {
			return nil, err
		}
		q.Principal, q.May = decider.key, decider.seesApproval
	case q.AllPrincipals:
		if req.GetOnBehalfOf() != nil {
			return nil, tool.Errorf(tool.KindInvalidArgument, "all_principals and on_behalf_of exclude each other")
		}
		seen := tenantsOf(ctx, authz.CallsList, q.Tenants)
		if seen != nil {
			seen = both(seen, tenantsOf(ctx, authz.CallsApprove, q.Tenants))
		}
		q.Tenants = seen
	default:
		of, err := s.tools.subjectOf(ctx, &caller, authz.CallsOwn, req.GetOnBehalfOf())
		if err != nil {
			return nil, err
		}
		q.Principal = of.key
	}
	page, err := s.approvals.Approvals(ctx, q)
	if err != nil {
		return nil, err
	}
	return hostpb.FromApprovalPage(page), nil
}

// both returns the tenants that one of two lists contains. nil contains all.
func both(a, b tool.Tenants) tool.Tenants {
	if a == nil || b == nil {
		return nil
	}
	all := append(append(tool.Tenants{}, a...), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// RevokeApproval implements toolhost.v1.ApprovalService. An approval that the caller may not revoke
// does not exist for it.
func (s *approvalService) RevokeApproval(ctx context.Context, req *toolhostv1.RevokeApprovalRequest) (*toolhostv1.RevokeApprovalResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	decider, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	a, err := s.approvals.RevokeApproval(ctx, tool.ApprovalRevocation{
		ID: req.GetId(), By: decider.key, Via: decider.via, From: decider.caller.who.From, Reason: req.GetReason(), May: decider.revokes,
	})
	if tool.KindOf(err) == tool.KindNotFound {
		s.tools.guard.gate.Attempt(ctx, decider.refusal(gate.Refusal{Target: cutID(req.GetId()), Reason: err.Error()}))
	}
	if err != nil {
		return nil, err
	}
	return &toolhostv1.RevokeApprovalResponse{Approval: hostpb.FromStandingApproval(a)}, nil
}

// cutID bounds an id that the caller chose, for the audit log.
func cutID(id string) string { return id[:min(len(id), 128)] }
