package agent

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Notifier says which messages follow from the events of runs. Its methods must not block, and must
// be safe for concurrent use.
type Notifier interface {
	// Messages returns the messages that events of a run cause. s is the state after them; it must not
	// be changed or kept. The messages are written with the events, or not at all.
	Messages(s *loop.State, events []loop.Event) []runstore.Message
	// Written reports that there are new messages in the outbox.
	Written()
}

// Event returns an event of a run with the first event of that run, or a KindNotFound.
func (a *Agent) Event(ctx context.Context, runID string, seq uint64) (*loop.RunStarted, loop.Event, error) {
	first, err := a.event(ctx, runID, 1)
	if err != nil {
		return nil, loop.Event{}, err
	}
	started, ok := first.Payload.(*loop.RunStarted)
	if !ok {
		return nil, loop.Event{}, tool.Errorf(tool.KindInternal, "the first event of run %s is %s", runID, first.Payload.Type())
	}
	e, err := a.event(ctx, runID, seq)
	return started, e, err
}

func (a *Agent) event(ctx context.Context, runID string, seq uint64) (loop.Event, error) {
	for rec, err := range a.store.Read(ctx, runID, seq-1) {
		if err != nil {
			return loop.Event{}, storeError(err)
		}
		e, err := decode(rec)
		if err != nil {
			return loop.Event{}, tool.Errorf(tool.KindInternal, "the journal of run %s cannot be read: %w", runID, err)
		}
		return e, nil
	}
	return loop.Event{}, tool.Errorf(tool.KindNotFound, "run %s has no event %d", runID, seq)
}
