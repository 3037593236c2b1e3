package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/wire/link"
)

// InboxWatch selects the decisions to watch. The zero value selects all that the client may see,
// from the present state on.
type InboxWatch struct {
	InboxFilter
	// Position is the InboxChange.Position or the InboxPage.Position after which the watch goes on.
	// Empty: the present state.
	Position string
}

// InboxChange is what one source of decisions waits for now. It is a state: it replaces what the
// reader knows of the source, and a reader that is slow gets fewer of them.
type InboxChange struct {
	Restart bool   // forget all before this change
	Source  string // the run, or the name of the held call; empty: none
	// Decisions are all that the source waits for, as Inbox returns them. Empty: it waits for none.
	Decisions []InboxDecision
	Complete  bool   // the reader knows the whole state now
	Position  string // to go on after this change; empty until the state is complete
	// Unavailable is as in InboxPage, if Complete is set.
	Unavailable []string
}

// WatchInbox yields what Inbox returns, and what becomes of it, until ctx ends. An error is the
// last element; unavailable: watch again from the last position. Errors: invalid_argument for the
// position of another client or filter; denied if the rights of the client change: watch again
// without a position; unsupported.
func (a *AgentClient) WatchInbox(ctx context.Context, watch InboxWatch) iter.Seq2[InboxChange, error] {
	return watchInbox(ctx, a.link, &decisionv1.WatchDecisionsRequest{Tenants: watch.Tenants, Position: watch.Position})
}

// WatchInbox yields what Inbox returns, and what becomes of it; see AgentClient.WatchInbox.
func (c *Client) WatchInbox(ctx context.Context, watch InboxWatch) iter.Seq2[InboxChange, error] {
	if !c.fleet.Single() {
		return c.watchEachInbox(ctx, watch)
	}
	return watchInbox(ctx, c.fleet.To(""), &decisionv1.WatchDecisionsRequest{Tenants: watch.Tenants, Position: watch.Position, OnBehalfOf: onBehalfOf(ctx)})
}

func watchInbox(ctx context.Context, l link.Route, request *decisionv1.WatchDecisionsRequest) iter.Seq2[InboxChange, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[decisionv1.WatchDecisionsResponse], error) {
		return decisionv1.NewDecisionServiceClient(conn).WatchDecisions(ctx, request)
	}
	same := func(m *decisionv1.WatchDecisionsResponse) *decisionv1.WatchDecisionsResponse { return m }
	return func(yield func(InboxChange, error) bool) {
		for m, err := range link.Receive(ctx, l, open, same) {
			if err != nil {
				yield(InboxChange{}, err)
				return
			}
			change := InboxChange{Restart: m.GetRestart(), Source: m.GetSource(), Complete: m.GetComplete(), Position: m.GetPosition(), Unavailable: m.GetUnavailable()}
			for _, d := range m.GetDecisions() {
				change.Decisions = append(change.Decisions, toInboxDecision(d))
			}
			if !yield(change, nil) {
				return
			}
		}
	}
}
