package commands

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync/atomic"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/tool"
)

// agentTools are the tools of an agent.
type agentTools interface {
	agent.Tools
	// ListChangedTools is agent.Config.ListChangedTools.
	ListChangedTools(ctx context.Context, query tool.Query, known string) (infos []tool.Info, revision string, err error)
}

// remoteTools adapts a toolhost client to an agent. When a connection is lost, the client ends the
// call with an outcome that says so. For an agent this is not an outcome: it can open the call
// again by its id and receive the real one.
type remoteTools struct {
	client *client.Client
	link   *linkLog
}

// newRemoteTools returns the tools of a toolhost, and logs when the toolhost is lost.
func newRemoteTools(c *client.Client, log *slog.Logger) remoteTools {
	return remoteTools{c, &linkLog{log: log}}
}

// linkLog logs one record when toolhost is lost, and one when it answers again, however many runs
// notice that. It is safe for concurrent use.
type linkLog struct {
	log  *slog.Logger
	lost atomic.Bool
}

// see takes the result of a request to toolhost, and returns its error.
func (l *linkLog) see(err error) error {
	switch {
	case err == nil && l.lost.CompareAndSwap(true, false):
		l.log.Info("toolhost answers again")
	case errors.Is(err, client.ErrNoServer) && l.lost.CompareAndSwap(false, true):
		l.log.Error("toolhost is lost; runs wait for it", "error", err)
	}
	return err
}

// ListTools implements agent.Tools.
func (r remoteTools) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	infos, err := r.client.ListTools(ctx, query)
	return infos, r.link.see(err)
}

// ListChangedTools implements agentTools.
func (r remoteTools) ListChangedTools(ctx context.Context, query tool.Query, known string) ([]tool.Info, string, error) {
	infos, revision, err := r.client.ListChangedTools(ctx, query, known)
	return infos, revision, r.link.see(err)
}

// Open implements agent.Tools.
func (r remoteTools) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	execution, err := r.client.Open(ctx, call, complete)
	if r.link.see(err) != nil {
		return nil, err
	}
	return remoteExecution{execution, r.link}, nil
}

// CancelCall implements agent.Tools.
func (r remoteTools) CancelCall(ctx context.Context, key tool.CallKey, reason string) error {
	return r.client.CancelCall(ctx, key, reason)
}

// AnswerQuestion implements agent.Tools.
func (r remoteTools) AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error {
	return r.client.AnswerQuestion(ctx, key, question, answer)
}

// WatchCall implements agent.Tools.
func (r remoteTools) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	return r.client.WatchCall(ctx, key, after)
}

type remoteExecution struct {
	tool.Execution
	link *linkLog
}

// Next implements tool.Execution.
func (e remoteExecution) Next(ctx context.Context) (tool.Event, error) {
	event, err := e.Execution.Next(ctx)
	if err == nil && event.Ended != nil && event.Ended.Err != nil && errors.Is(event.Ended.Err, client.ErrNoServer) {
		_ = e.link.see(event.Ended.Err)
		return tool.Event{}, tool.Errorf(tool.KindUnavailable, "the connection to toolhost was lost: %w", event.Ended.Err)
	}
	return event, err
}
