package temporal

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
)

// The workflow and the activity, for the test suite and the replayer of the SDK.
var Drive = drive

const (
	WorkflowName = workflowName
	ActivityName = activityName
	SignalName   = signalName
	LongestWait  = longestWait
	MaxDue       = maxDue
)

// Activity returns the activity of a worker.
func Activity(w agent.Worker) func(ctx context.Context, runID string) (*agent.Rest, error) {
	return activities{w}.work
}

// Unreached is unreached.
var Unreached = unreached

// Report is report.
var Report = (*Engine).report

// Fail does what the SDK does when it gives a worker up.
func Fail(e *Engine, err error) {
	e.failed.Store(true)
	e.report(err)
}

// Waiting returns how many runs the service has to be told of.
func Waiting(e *Engine) int { return len(e.due) }
