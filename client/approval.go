package client

import (
	"context"

	"google.golang.org/grpc"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// CreateApproval creates a standing approval for the principal of OnBehalfOf, or for the client.
// The fields of r that only servers set are ignored. approver is the principal that approves, as a
// delegate has verified it; one without a name stands for the client itself. The approval is one
// that has ended if the same request was made before, and the approval ended since. Errors:
// not_found, denied, invalid_argument, conflict, rate_limited, unsupported; see ApprovalService.
func (c *Client) CreateApproval(ctx context.Context, r tool.ApprovalRequest, approver Principal) (tool.StandingApproval, error) {
	req := hostpb.FromApprovalRequest(r)
	req.OnBehalfOf = onBehalfOf(ctx)
	if approver.Name != "" {
		req.Approver = &toolv1.Principal{Tenant: approver.Tenant, Name: approver.Name, Groups: approver.Groups}
	}
	resp, err := link.Invoke(ctx, c.fleet.One(""), func(conn grpc.ClientConnInterface) (*toolhostv1.CreateApprovalResponse, error) {
		return toolhostv1.NewApprovalServiceClient(conn).CreateApproval(ctx, req)
	})
	return hostpb.ToStandingApproval(resp.GetApproval()), err
}

// Approvals returns one page of standing approvals, the newest first: those of the principal of
// OnBehalfOf, or of the client; with q.Approved those that this principal gave; with
// q.AllPrincipals those that the client may see. q.Principal is ignored. Errors: denied,
// invalid_argument, unsupported.
func (c *Client) Approvals(ctx context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error) {
	req := hostpb.FromApprovalQuery(q)
	req.OnBehalfOf = onBehalfOf(ctx)
	return approvals(ctx, c.fleet.To(""), req)
}

// Approvals returns one page of the standing approvals that the client gave, the newest first.
// agentd asks its toolhost. q.Principal is ignored, and q.AllPrincipals must not be set. Errors:
// denied, invalid_argument, unsupported; unavailable while the toolhost does not answer.
func (a *AgentClient) Approvals(ctx context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error) {
	q.Approved = true
	return approvals(ctx, a.link, hostpb.FromApprovalQuery(q))
}

func approvals(ctx context.Context, l link.Route, req *toolhostv1.ListApprovalsRequest) (tool.ApprovalPage, error) {
	resp, err := link.Invoke(ctx, l, func(conn grpc.ClientConnInterface) (*toolhostv1.ListApprovalsResponse, error) {
		return toolhostv1.NewApprovalServiceClient(conn).ListApprovals(ctx, req)
	})
	if err != nil {
		return tool.ApprovalPage{}, err
	}
	page := tool.ApprovalPage{Approvals: []tool.StandingApproval{}, NextPageToken: resp.GetNextPageToken()}
	for _, a := range resp.GetApprovals() {
		page.Approvals = append(page.Approvals, hostpb.ToStandingApproval(a))
	}
	return page, nil
}

// RevokeApproval ends a standing approval and returns it. reason may be empty. An approval that has
// ended does not change. Errors: not_found, also if the client may not revoke it.
func (c *Client) RevokeApproval(ctx context.Context, id, reason string) (tool.StandingApproval, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(""), func(conn grpc.ClientConnInterface) (*toolhostv1.RevokeApprovalResponse, error) {
		return toolhostv1.NewApprovalServiceClient(conn).RevokeApproval(ctx, &toolhostv1.RevokeApprovalRequest{Id: id, Reason: reason, OnBehalfOf: onBehalfOf(ctx)})
	})
	return hostpb.ToStandingApproval(resp.GetApproval()), err
}

// RevokeApproval ends a standing approval that the client gave, and returns it; see
// Client.RevokeApproval.
func (a *AgentClient) RevokeApproval(ctx context.Context, id, reason string) (tool.StandingApproval, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.RevokeApprovalResponse, error) {
		return toolhostv1.NewApprovalServiceClient(conn).RevokeApproval(ctx, &toolhostv1.RevokeApprovalRequest{Id: id, Reason: reason})
	})
	return hostpb.ToStandingApproval(resp.GetApproval()), err
}
