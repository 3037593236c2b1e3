package temporal

import (
	"context"
	"fmt"
	"iter"

	"go.temporal.io/api/workflowservice/v1"
)

// Rebuild makes the workflows of unfinished runs that are no sub-runs, and tells those that exist
// to look. It also tells the other open workflows of the task queue, whose runs have ended while
// the service could not be told; they end then. It can be repeated, and beside agentds that work.
// It returns how many workflows of runs, and how many others, it has told. It goes on if the
// service refuses some, and then returns an error as well.
func (e *Engine) Rebuild(ctx context.Context, runs iter.Seq2[string, error]) (told, others int, err error) {
	open := make(map[string]bool)
	var refusal error
	for runID, err := range runs {
		if err != nil {
			return told, 0, fmt.Errorf("listing the runs: %w", err)
		}
		open[e.workflowOf(runID)] = true
		if err = e.signal(ctx, runID); err == nil {
			told++
		} else if refusal = err; e.check(ctx) != nil {
			return told, 0, fmt.Errorf("making the workflows: %w", err)
		}
	}
	request := &workflowservice.ListWorkflowExecutionsRequest{ // the pages of a service that may choose are large, and took it longer than the SDK waits
		PageSize: 100, Query: fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s' AND ExecutionStatus = 'Running'", workflowName, e.config.TaskQueue),
	}
	for more := true; more; more = len(request.NextPageToken) > 0 {
		page, err := e.client.ListWorkflow(ctx, request)
		if err != nil {
			return told, others, fmt.Errorf("listing the open workflows: %w", err)
		}
		for _, found := range page.GetExecutions() {
			if id := found.GetExecution().GetWorkflowId(); !open[id] && e.client.SignalWorkflow(ctx, id, "", signalName, nil) == nil { // else it has ended meanwhile
				others++
			}
		}
		request.NextPageToken = page.GetNextPageToken()
	}
	if refusal != nil {
		err = fmt.Errorf("the service has refused %d workflows, whose runs agentds find by themselves; the last time: %w", len(open)-told, refusal)
	}
	return told, others, err
}
