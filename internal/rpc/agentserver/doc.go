// Package agentserver serves an agent over gRPC: agentd.v1.AgentService, health and reflection.
//
// It translates, in both directions, and decides nothing: what a run does is the agent's, and errors become statuses in package toolpb.
package agentserver

import (
	"context"
	"iter"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/agent/loop"
)

// Agent is what is served. Errors are, or wrap, *tool.Error. All methods are safe for concurrent use.
type Agent interface {
	Control
	Lookup
}

// Control steers runs; see agent.Agent for each method.
type Control interface {
	StartRun(ctx context.Context, task loop.Task) (runID string, err error)
	SendMessage(ctx context.Context, runID, text string) (seq uint64, err error)
	Respond(ctx context.Context, runID string, decisions ...loop.DecisionMade) (seq uint64, err error)
	CancelRun(ctx context.Context, runID, reason string) error
}

// Lookup shows runs; see agent.Agent for each method.
type Lookup interface {
	WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error]
	GetRun(ctx context.Context, runID string) (agent.Run, error)
	ListRuns(ctx context.Context, query agent.RunQuery) (runs []agent.Run, next string, err error)
}
