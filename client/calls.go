package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/link"
	"github.com/toolhost/toolhost/tool"
)

// WatchCall returns the events of a call that exists, made by this client or by another of the same user: those after a
// number that are kept, then new ones as they happen, up to the Ended event; none if that was seen. 0 begins at the first
// event. When ctx ends
// or the connection breaks its last item is an error; to go on, watch again after the Seq of the last event that came.
// Leaving the loop ends the watch and not the call. The principal of the key is ignored. Errors: invalid_argument,
// not_found.
func (c *Client) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.WatchCallResponse], error) {
		return toolhostv1.NewToolServiceClient(conn).WatchCall(ctx, &toolhostv1.WatchCallRequest{
			CallId: key.ID, Session: key.Session, AfterSeq: after,
		})
	}
	messages := link.Receive(ctx, c.link, open, (*toolhostv1.WatchCallResponse).GetEvent)
	return func(yield func(tool.Event, error) bool) {
		var joiner hostpb.Joiner
		for m, err := range messages {
			if err != nil {
				yield(tool.Event{}, err)
				return
			}
			event, ok := joiner.Add(m)
			if !ok {
				continue
			}
			if !yield(event, nil) {
				return
			}
		}
	}
}

// CancelCall asks to stop a call by its name, whoever made or follows it, and does not wait until it has ended. For one
// that has ended it does nothing. The principal of the key is ignored. Errors: invalid_argument, not_found.
func (c *Client) CancelCall(ctx context.Context, key tool.CallKey, reason string) error {
	_, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.CancelCallResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).CancelCall(ctx, &toolhostv1.CancelCallRequest{
			CallId: key.ID, Session: key.Session, Reason: reason,
		})
	})
	return err
}

// Calls returns one page of the calls that are under way or remembered, of all principals, the newest first. Errors:
// invalid_argument.
func (a *Admin) Calls(ctx context.Context, q tool.CallQuery) (tool.CallPage, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ListCallsResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).ListCalls(ctx, hostpb.FromCallQuery(q))
	})
	if err != nil {
		return tool.CallPage{}, err
	}
	page := tool.CallPage{Calls: []tool.CallRecord{}, NextPageToken: resp.GetNextPageToken()}
	for _, r := range resp.GetCalls() {
		page.Calls = append(page.Calls, hostpb.ToCallRecord(r))
	}
	return page, nil
}
