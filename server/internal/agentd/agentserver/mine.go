package agentserver

import (
	"context"
	"slices"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// ListMadeDecisions implements toolhost.decision.v1.DecisionService. A person who lost the right to
// see a run does not see its arguments here either.
func (s *decisions) ListMadeDecisions(ctx context.Context, req *decisionv1.ListMadeDecisionsRequest) (*decisionv1.ListMadeDecisionsResponse, error) {
	if req.GetPageSize() < 0 {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the page size %d is negative", req.GetPageSize())
	}
	caller, _ := identity.FromContext(ctx)
	list, next, err := s.agent.ListMade(ctx, agent.MadeQuery{Principal: caller.Key(), Size: int(req.GetPageSize()), Token: req.GetPageToken()})
	if err != nil {
		return nil, err
	}
	resp := &decisionv1.ListMadeDecisionsResponse{NextPageToken: next}
	for i := range list {
		d := &list[i]
		if s.foreground || d.Run.Principal == caller.Key() || mayAny(ctx, decisionRights, agent.TenantOf(d.Run.ID)) {
			resp.Decisions = append(resp.Decisions, s.fromDecision(ctx, d))
		}
	}
	return resp, nil
}

func mayAny(ctx context.Context, rights []authz.Right, tenant string) bool {
	return slices.ContainsFunc(rights, func(right authz.Right) bool { return may(ctx, right, tenant) })
}

// Approvals has the standing approvals of a toolhost. *client.Client implements it. Errors are
// *tool.Error. All methods are safe for concurrent use.
type Approvals interface {
	Approvals(ctx context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error)
	RevokeApproval(ctx context.Context, id, reason string) (tool.StandingApproval, error)
}

// approvals implements ApprovalService for the standing approvals that its callers gave. toolhost
// has them, and is asked in the name of the caller, never by the rights of agentd.
type approvals struct {
	toolhostv1.UnimplementedApprovalServiceServer
	*service
	of Approvals // nil: there are none
}

func (s *approvals) check() error {
	if s.of == nil {
		return tool.Errorf(tool.KindUnsupported, "the runs of this journal have no server, so toolhost alone lists their standing approvals; use `toolhost approvals list`")
	}
	return nil
}

// ListApprovals implements toolhost.v1.ApprovalService.
func (s *approvals) ListApprovals(ctx context.Context, req *toolhostv1.ListApprovalsRequest) (*toolhostv1.ListApprovalsResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if !req.GetApproved() || req.GetAllPrincipals() || req.GetOnBehalfOf() != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "agentd lists the approvals that its caller gave: set approved, and neither all_principals nor on_behalf_of; toolhost lists others")
	}
	ctx, cancel := context.WithTimeout(ctx, heldWait)
	defer cancel()
	page, err := s.given(ctx, hostpb.ToApprovalQuery(req))
	if err != nil {
		return nil, s.ofToolhost(ctx, "", err)
	}
	return hostpb.FromApprovalPage(page), nil
}

// given returns a page of the approvals that the caller gave and may see by its rights at agentd. A
// toolhost that does not know the selection returns those for the calls of the caller.
func (s *approvals) given(ctx context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error) {
	ctx, err := asCaller(ctx)
	if err != nil {
		return tool.ApprovalPage{}, err
	}
	page, err := s.of.Approvals(ctx, q)
	page.Approvals = slices.DeleteFunc(page.Approvals, func(a tool.StandingApproval) bool { return !seesGiven(ctx, &a) })
	return page, err
}

func seesGiven(ctx context.Context, a *tool.StandingApproval) bool {
	caller, _ := identity.FromContext(ctx)
	return a.Approver == caller.Key() && authz.FromContext(ctx).InScope(a.Tool) &&
		(a.Principal == caller.Key() || mayAny(ctx, decisionRights, identity.TenantOf(a.Principal)))
}

// RevokeApproval implements toolhost.v1.ApprovalService. An approval that the caller did not give
// does not exist for it.
func (s *approvals) RevokeApproval(ctx context.Context, req *toolhostv1.RevokeApprovalRequest) (*toolhostv1.RevokeApprovalResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := s.mayDrive(ctx); err != nil {
		return nil, err
	}
	if req.GetOnBehalfOf() != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "agentd revokes approvals in the name of its caller; leave out on_behalf_of")
	}
	ctx, cancel := context.WithTimeout(ctx, heldWait)
	defer cancel()
	if err := s.mayRevoke(ctx, req.GetId()); err != nil {
		return nil, s.ofToolhost(ctx, req.GetId(), err)
	}
	named, err := asCaller(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.of.RevokeApproval(named, req.GetId(), req.GetReason())
	if err != nil {
		return nil, s.ofToolhost(ctx, req.GetId(), err)
	}
	return &toolhostv1.RevokeApprovalResponse{Approval: hostpb.FromStandingApproval(a)}, nil
}

// mayRevoke returns an error if the caller did not give an approval, or may not revoke it by its
// rights at agentd.
func (s *approvals) mayRevoke(ctx context.Context, id string) error {
	caller, _ := identity.FromContext(ctx)
	const most = 1000 // of a page, so that there are few
	for q := (tool.ApprovalQuery{Approved: true, Ended: true, PageSize: most}); ; {
		page, err := s.given(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Approvals {
			if a := &page.Approvals[i]; a.ID == id && (a.Principal == caller.Key() || may(ctx, authz.RunsApprove, identity.TenantOf(a.Principal))) {
				return nil
			}
		}
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			return tool.Errorf(tool.KindNotFound, "there is no standing approval %s that you gave and may revoke", loop.Clip(id))
		}
	}
}

// ofToolhost returns an error of toolhost for the caller of agentd.
func (s *approvals) ofToolhost(ctx context.Context, id string, err error) error {
	switch tool.KindOf(err) {
	case tool.KindUnavailable, tool.KindTimeout:
		return tool.Errorf(tool.KindUnavailable, "the toolhost of agentd, which has the standing approvals, does not answer; try again later")
	}
	return s.refuse(ctx, loop.Clip(id), err)
}
