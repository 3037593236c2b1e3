// Package agentserver serves an agent over gRPC: agentd.v1.AgentService, health and reflection.
//
// It translates requests and responses, and decides which runs a caller may use. Package toolpb
// turns errors into statuses. It asks toolhost in the name of callers about the calls that toolhost
// holds; see HeldCalls.
package agentserver

import (
	"context"
	"iter"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// Agent is the interface that the server needs. Errors are, or wrap, *tool.Error. All methods are
// safe for concurrent use.
type Agent interface {
	Control
	Lookup
	// DeleteRun deletes a run with its sub-runs, and returns their ids; see agent.Agent.
	DeleteRun(ctx context.Context, runID string) (runIDs []string, err error)
}

// Control starts and controls runs; see agent.Agent for each method.
type Control interface {
	StartRun(ctx context.Context, task loop.Task) (runID string, err error)
	SendMessage(ctx context.Context, runID, text string, files ...loop.NewAttachment) (seq uint64, err error)
	SendMessageOnce(ctx context.Context, runID string, id loop.MessageID, text string, files ...loop.NewAttachment) (seq uint64, err error)
	Respond(ctx context.Context, runID string, decisions ...loop.DecisionMade) (seq uint64, err error)
	Decide(ctx context.Context, runID, etag string, made loop.DecisionMade) (agent.Decision, error)
	Extend(ctx context.Context, runID string, e loop.DecisionExtended) (agent.Decision, error)
	CancelRun(ctx context.Context, runID, reason string) error
}

// Lookup reads runs; see agent.Agent for each method.
type Lookup interface {
	WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error]
	GetRun(ctx context.Context, runID string) (agent.Run, error)
	ListRuns(ctx context.Context, query agent.RunQuery) (runs []agent.Run, next string, err error)
	ListDecisions(ctx context.Context, query agent.DecisionQuery) (list []agent.Decision, next string, err error)
	ListMade(ctx context.Context, query agent.MadeQuery) (list []agent.Decision, next string, err error)
	ChangedDecisions(ctx context.Context, query agent.DecisionQuery, after int64) (sets []agent.DecisionSet, position int64, err error)
	DecisionsChange() <-chan struct{}
	Decision(ctx context.Context, runID, id string) (agent.Decision, error)
	OwnerOf(ctx context.Context, runID string) (principal string, err error)
}
