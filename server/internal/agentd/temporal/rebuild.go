package temporal

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
)

// Rebuild makes the workflows of unfinished runs that are no sub-runs, and tells those that exist
// to look. It also tells the other open workflows of the task queue, whose runs have ended while
// the service could not be told; they end then. It can be repeated, and beside agentds that work.
// It returns how many workflows of runs, and how many others, it has told. It goes on if the
// service refuses some, and then returns an error as well.
func (e *Engine) Rebuild(ctx context.Context, runs iter.Seq2[string, error]) (told, others int, err error) {
	open := make(map[string]bool)
	var refused atomic.Int64
	var reason atomic.Pointer[error]
	group, bounded := errgroup.WithContext(ctx)
	group.SetLimit(tellers)
	for runID, err := range runs {
		if err != nil {
			return 0, 0, fmt.Errorf("listing the runs: %w", err)
		}
		open[e.workflowOf(runID)] = true
		group.Go(func() error {
			err := e.signal(bounded, runID)
			if err == nil || bounded.Err() != nil {
				return err
			}
			refused.Add(1)
			reason.Store(&err)
			return e.check(bounded)
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, fmt.Errorf("making the workflows: %w", err)
	}
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s' AND ExecutionStatus = 'Running'", workflowName, e.config.TaskQueue),
	}
	for {
		page, err := e.client.ListWorkflow(ctx, request)
		if err != nil {
			return len(open), others, fmt.Errorf("listing the open workflows: %w", err)
		}
		for _, found := range page.GetExecutions() {
			id := found.GetExecution().GetWorkflowId()
			if open[id] || !strings.HasPrefix(id, e.workflowOf("")) {
				continue
			}
			if e.client.SignalWorkflow(ctx, id, "", signalName, nil) == nil { // else it has ended meanwhile
				others++
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			break
		}
	}
	told = len(open) - int(refused.Load())
	if told < len(open) {
		err = fmt.Errorf("the service has refused %d workflows, whose runs agentds find by themselves; the last time: %w", refused.Load(), *reason.Load())
	}
	return told, others, err
}
