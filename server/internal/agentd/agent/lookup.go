package agent

import (
	"context"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// GetRun returns a run's summary and the pending decisions of the run and its sub-runs, or a
// KindNotFound.
func (a *Agent) GetRun(ctx context.Context, runID string) (Run, error) {
	r, err := a.journal.summaryOf(ctx, runID)
	if err == nil {
		var one []Run
		if one, err = a.journal.markInterrupted(ctx, []Run{r}, nil); err == nil {
			r = one[0]
		}
	}
	if err != nil || !r.Waiting && len(r.Prompt) <= loop.MaxSummaryPrompt {
		return r, err
	}
	if !r.Waiting {
		started, err := a.journal.startOf(ctx, runID)
		if err != nil {
			return Run{}, err
		}
		r.Prompt = started.Prompt
		return r, nil
	}
	var s loop.State
	if _, err := a.journal.fold(ctx, runID, &s); err != nil {
		return Run{}, err
	}
	below, err := a.journal.pendingBelow(ctx, &s)
	if err != nil {
		return Run{}, err
	}
	r.Prompt, r.Pending = s.Started().Prompt, append(s.Pending(), below...)
	return r, nil
}

// RunQuery selects runs. The zero value is the first page of all.
type RunQuery struct {
	Size   int        // the largest number of runs; 0 means 50
	Token  string     // the next token of the page before; empty means the newest run
	States []RunState // only runs in these states; empty means all
	Parent string     // only the sub-runs of this run; empty means all runs
	// Tenants and Principal select the runs of some tenants, and of the principal with a key. Empty
	// means all. The token of a page with other runs, or sub-runs of another run, is then unknown.
	Tenants   []string
	Principal string
}

func (q *RunQuery) matches(r *Run) bool {
	return q.inTenants(r.ID) && (len(q.States) == 0 || slices.Contains(q.States, r.State())) &&
		(q.Parent == "" || r.Parent != nil && r.Parent.RunID == q.Parent)
}

func (q *RunQuery) inTenants(runID string) bool {
	return len(q.Tenants) == 0 || slices.Contains(q.Tenants, TenantOf(runID))
}

func unknownToken(token string) error {
	return tool.Errorf(tool.KindInvalidArgument, "the page token %q is not one that was given out", loop.Clip(token))
}

// maxScanned is the largest number of runs that one page of ListRuns examines.
const maxScanned = 10 * runstore.MaxPage

// ListRuns returns the runs that match, the newest first. next is empty on the last page. If few
// runs match, a page can be short or empty although more pages follow.
func (a *Agent) ListRuns(ctx context.Context, query RunQuery) (runs []Run, next string, err error) {
	const usual = 50
	size := min(loop.FirstPositive(query.Size, usual, usual), runstore.MaxPage)
	from := runstore.Query{Limit: size, Before: query.Token, Owner: query.Principal, Parent: query.Parent}
	from.OpenOnly = len(query.States) > 0 && !slices.Contains(query.States, RunEnded)
	switch {
	case len(query.Tenants) == 1:
		from.Tenant = query.Tenants[0]
	case !query.inTenants(query.Token) && query.Token != "":
		return nil, "", unknownToken(query.Token)
	}
	for scanned := 0; scanned < maxScanned; {
		page, err := a.page(ctx, from)
		if tool.KindOf(err) == tool.KindNotFound {
			return nil, "", unknownToken(query.Token)
		}
		if err != nil {
			return nil, "", err
		}
		again := from
		found, err := a.journal.markInterrupted(ctx, page, func() ([]Run, error) { return a.page(ctx, again) })
		if err != nil {
			return nil, "", err
		}
		if len(page) > 0 {
			from.Before = page[len(page)-1].ID // if no run of the page exists any more
		}
		for i := range found {
			r := &found[i]
			from.Before = r.ID
			if query.matches(r) {
				if runs = append(runs, *r); len(runs) == size {
					return runs, r.ID, nil
				}
			}
		}
		if scanned += len(page); len(page) < from.PageSize() {
			return runs, "", nil
		}
	}
	return runs, from.Before, nil
}

// page returns the runs of a page of the store. One broken summary does not hide the other runs.
func (a *Agent) page(ctx context.Context, from runstore.Query) ([]Run, error) {
	page, err := a.store.List(ctx, from)
	if err != nil {
		return nil, storeError(err)
	}
	runs := make([]Run, len(page))
	for i := range page {
		if runs[i], err = summarize(&page[i]); err != nil {
			a.config().Log.With(loglevel.Key, loglevel.Storage).Error("the summary of a run is broken", "run", page[i].ID, "error", err)
			runs[i] = Run{ID: page[i].ID, StartTime: page[i].CreateTime, UpdateTime: page[i].UpdateTime, LastSeq: page[i].LastSeq, Unreadable: true}
		}
	}
	return runs, nil
}

// OwnerOf returns the key of the principal that a run belongs to, or NoSuchRun. The key is empty
// for a run of an earlier version, which belongs to the user of the agent.
func (a *Agent) OwnerOf(ctx context.Context, runID string) (string, error) {
	r, err := a.journal.summaryOf(ctx, runID)
	return r.Principal, err
}

// NoSuchRun returns the error for a run that does not exist, or that the caller may not see: the
// two must not differ.
func NoSuchRun(runID string) error { return storeError(runstore.NotFound(runID)) }
