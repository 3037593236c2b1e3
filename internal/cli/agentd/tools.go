package agentd

import (
	"context"
	"errors"
	"iter"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/tool"
)

var _ agent.Tools = remoteTools{}

// remoteTools adapts a toolhost client to an agent. When a connection is lost, the client ends the
// call with an outcome that says so. For an agent this is not an outcome: it can open the call
// again by its id and receive the real one.
type remoteTools struct{ client *client.Client }

// ListTools implements agent.Tools.
func (r remoteTools) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	return r.client.ListTools(ctx, query)
}

// Open implements agent.Tools.
func (r remoteTools) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	execution, err := r.client.Open(ctx, call, complete)
	if err != nil {
		return nil, err
	}
	return remoteExecution{execution}, nil
}

// CancelCall implements agent.Tools.
func (r remoteTools) CancelCall(ctx context.Context, key tool.CallKey, reason string) error {
	return r.client.CancelCall(ctx, key, reason)
}

// WatchCall implements agent.Tools.
func (r remoteTools) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	return r.client.WatchCall(ctx, key, after)
}

type remoteExecution struct{ tool.Execution }

// Next implements tool.Execution.
func (e remoteExecution) Next(ctx context.Context) (tool.Event, error) {
	event, err := e.Execution.Next(ctx)
	if err == nil && event.Ended != nil && event.Ended.Err != nil && errors.Is(event.Ended.Err, client.ErrNoServer) {
		return tool.Event{}, tool.Errorf(tool.KindUnavailable, "the connection to toolhost was lost: %w", event.Ended.Err)
	}
	return event, err
}
