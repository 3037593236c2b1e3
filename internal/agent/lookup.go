package agent

import (
	"context"

	"github.com/toolhost/toolhost/internal/runstore"
	"github.com/toolhost/toolhost/tool"
)

// GetRun returns a run's summary, or a KindNotFound.
func (a *Agent) GetRun(ctx context.Context, runID string) (Run, error) {
	kept, err := a.store.Get(ctx, runID)
	if err != nil {
		return Run{}, storeError(err)
	}
	r, err := summarize(&kept)
	if err != nil {
		return Run{}, err
	}
	if len(r.Prompt) > summaryPrompt {
		started, err := a.startOf(ctx, runID)
		if err != nil {
			return Run{}, err
		}
		r.Prompt = started.Prompt
	}
	return r, nil
}

// ListRuns returns runs, the last begun first, at most size of them; 0 means 50. token is where to go on, as the page
// before returned it; empty means at the newest. next is empty on the last page.
func (a *Agent) ListRuns(ctx context.Context, size int, token string) (runs []Run, next string, err error) {
	const usual = 50
	query := runstore.Query{Limit: min(firstPositive(size, usual, usual), runstore.MaxPage), Before: token}
	page, err := a.store.List(ctx, query)
	if tool.KindOf(storeError(err)) == tool.KindNotFound {
		return nil, "", tool.Errorf(tool.KindInvalidArgument, "the page token %q is not one that was given out", clip(token))
	}
	if err != nil {
		return nil, "", storeError(err)
	}
	for i := range page {
		r, err := summarize(&page[i])
		if err != nil {
			return nil, "", err
		}
		runs = append(runs, r)
	}
	if len(page) == query.PageSize() {
		next = page[len(page)-1].ID
	}
	return runs, next, nil
}

// startOf returns the first event of a run.
func (a *Agent) startOf(ctx context.Context, runID string) (*RunStarted, error) {
	for rec, err := range a.store.Read(ctx, runID, 0) {
		if err != nil {
			return nil, storeError(err)
		}
		e, err := decode(rec)
		if err != nil {
			return nil, storeError(err)
		}
		if started, ok := e.Payload.(*RunStarted); ok {
			return started, nil
		}
		break
	}
	return nil, tool.Errorf(tool.KindInternal, "the journal of run %s does not begin with %s", runID, TypeRunStarted)
}
