package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// journal reads the journals of runs and knows which runs other processes work on.
type journal struct {
	store  runstore.Store
	claims runstore.Claims  // of store; nil: it has none
	shared runstore.Sharing // of store; nil: one server works on the runs
	log    *slog.Logger
}

func newJournal(store runstore.Store, log *slog.Logger) *journal {
	claims, _ := store.(runstore.Claims)
	shared, _ := store.(runstore.Sharing)
	return &journal{store, claims, shared, log}
}

// summaryOf returns a run's summary without reading its journal.
func (j *journal) summaryOf(ctx context.Context, runID string) (Run, error) {
	kept, err := j.store.Get(ctx, runID)
	if err != nil {
		return Run{}, storeError(err)
	}
	return summarize(&kept)
}

// startOf returns the first event of a run.
func (j *journal) startOf(ctx context.Context, runID string) (*loop.RunStarted, error) {
	for rec, err := range j.store.Read(ctx, runID, 0) {
		if err != nil {
			return nil, storeError(err)
		}
		e, err := decode(rec)
		if err != nil {
			return nil, storeError(err)
		}
		if started, ok := e.Payload.(*loop.RunStarted); ok {
			return started, nil
		}
		break
	}
	return nil, tool.Errorf(tool.KindInternal, "the journal of run %s does not begin with %s", runID, loop.TypeRunStarted)
}

// storeError returns an error of the store as a *tool.Error.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runstore.ErrNotFound):
		return tool.Errorf(tool.KindNotFound, "%w", err)
	case errors.Is(err, runstore.ErrDeleted):
		return tool.Errorf(tool.KindConflict, "%w; choose another id", err)
	case errors.Is(err, runstore.ErrConflict):
		return tool.Errorf(tool.KindConflict, "another agentd works on the run: %w", err)
	case errors.Is(err, runstore.ErrUnavailable):
		return tool.Errorf(tool.KindUnavailable, "%w; try again later", err)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return tool.AsError(err)
	}
	return tool.Errorf(tool.KindInternal, "%w", fmt.Errorf("the journal: %w", err))
}
