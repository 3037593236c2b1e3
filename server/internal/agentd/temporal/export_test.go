package temporal

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
)

// The workflow and the activity, for the test suite and the replayer of the SDK.
var Drive = drive

const (
	WorkflowName = workflowName
	ActivityName = activityName
	SignalName   = signalName
	LongestWait  = longestWait
)

// Activity returns the activity of a worker.
func Activity(w agent.Worker) func(ctx context.Context, runID string) (*agent.Rest, error) {
	return (&activities{worker: w, log: slog.New(slog.DiscardHandler)}).work
}
