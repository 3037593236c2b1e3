package client

import (
	"context"
	"iter"
	"time"

	"google.golang.org/grpc"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
)

// Inbox returns the calls that the toolhost holds until a person approves them, and that the client
// may see, or the principal of OnBehalfOf: its own, and with the right calls.list or calls.approve
// those of a tenant. The call whose wait ends first comes first. See tool.Call.ApprovalWait.
// Errors: denied; unsupported if the toolhost is of an earlier version.
func (c *Client) Inbox(ctx context.Context, filter InboxFilter) iter.Seq2[InboxDecision, error] {
	return allPages(ctx, filter, c.InboxPage)
}

// InboxPage returns one page of what Inbox returns. Errors: those of Inbox; invalid_argument for a
// token that the server did not give out.
func (c *Client) InboxPage(ctx context.Context, query InboxQuery) (InboxPage, error) {
	if !c.fleet.Single() {
		return c.eachInboxPage(ctx, query)
	}
	return inboxPage(ctx, c.fleet.To(""), &decisionv1.ListDecisionsRequest{OnBehalfOf: onBehalfOf(ctx)}, query)
}

// InboxDecision returns one held call as a whole, also for some time after the decision was made.
// Errors: not_found, also if the client may not see it.
func (c *Client) InboxDecision(ctx context.Context, name string) (InboxDecision, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(""), func(conn grpc.ClientConnInterface) (*decisionv1.GetDecisionResponse, error) {
		return decisionv1.NewDecisionServiceClient(conn).GetDecision(ctx, &decisionv1.GetDecisionRequest{Name: name, OnBehalfOf: onBehalfOf(ctx)})
	})
	if err != nil {
		return InboxDecision{}, err
	}
	return toInboxDecision(resp.GetDecision()), nil
}

// Decide approves or rejects a held call in the name of the client, or of the principal of
// OnBehalfOf, and returns it with the verdict. Errors: not_found; conflict if the etag is not that
// of the decision, or if the decision was made before; invalid_argument; denied if the client may
// not decide. To reject a call of its own, a client needs no right.
func (c *Client) Decide(ctx context.Context, request DecideRequest) (InboxDecision, error) {
	message, err := fromDecideRequest(&request)
	if err != nil {
		return InboxDecision{}, err
	}
	message.OnBehalfOf = onBehalfOf(ctx)
	resp, err := link.Invoke(ctx, c.fleet.To(""), func(conn grpc.ClientConnInterface) (*decisionv1.DecideResponse, error) {
		return decisionv1.NewDecisionServiceClient(conn).Decide(ctx, message)
	})
	if err != nil {
		return InboxDecision{}, err
	}
	return toInboxDecision(resp.GetDecision()), nil
}

// ExtendDecision lets a held call be decided until a time, in the name of the client or of the
// principal of OnBehalfOf; see AgentClient.ExtendDecision. The call itself waits no longer than its
// caller lets it; the approval then counts for a repeat. Errors: those of
// AgentClient.ExtendDecision; unsupported by a toolhost of before.
func (c *Client) ExtendDecision(ctx context.Context, name string, until time.Time) (InboxDecision, error) {
	return extendDecision(ctx, c.fleet.To(""), &decisionv1.ExtendDecisionRequest{Name: name, ExpireTime: toolpb.FromTime(until), OnBehalfOf: onBehalfOf(ctx)})
}
