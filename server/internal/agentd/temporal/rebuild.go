package temporal

import (
	"context"
	"fmt"
	"iter"

	"go.temporal.io/api/workflowservice/v1"
)

// Rebuild signals the workflows of runs, and makes those that do not exist. runs yields the
// unfinished runs that are no sub-runs. Rebuild then signals the other open workflows of the task
// queue, which makes them end: their runs ended while the engine did not reach the service. Rebuild
// may be repeated, and may run while agentds work. told and others count the signaled workflows of
// both kinds. If the service refuses some workflows of runs, Rebuild continues, and returns an
// error at the end.
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
