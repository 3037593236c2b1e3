package agent

import (
	"cmp"
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// noLedger is the id that no ledger has. A restored run sends its calls under it if its journal
// does not say which ledger has them.
const noLedger = "unknown"

// MarkRestored records in every unfinished run of a journal that the journal was restored from a
// backup; see loop.RunResumed. The ledger of a run is the one of its latest call that names one, or
// else of the newest run that names one. MarkRestored returns how many runs it marked. No other
// process may use the journal.
func MarkRestored(ctx context.Context, store runstore.Store, backup time.Time) (int, error) {
	runs, err := listAll(ctx, store)
	if err != nil {
		return 0, err
	}
	found := make([]outline, len(runs))
	newest := ""
	for i := range runs { // the newest run first
		if found[i], err = outlineOf(ctx, store, runs[i].ID); err != nil {
			return 0, err
		}
		newest = cmp.Or(newest, found[i].ledger)
	}
	marked := 0
	for i, run := range runs {
		if found[i].finished {
			continue
		}
		rec, err := encode(&loop.RunResumed{Backup: backup, Ledger: cmp.Or(found[i].ledger, newest, noLedger)}, time.Now())
		if err != nil {
			return marked, err
		}
		if err := store.Append(ctx, runstore.Batch{RunID: run.ID, After: run.LastSeq, Records: []runstore.Record{rec}, Head: run.Head}); err != nil {
			return marked, err
		}
		marked++
	}
	return marked, nil
}

// listAll returns all runs of a journal, the newest first.
func listAll(ctx context.Context, store runstore.Store) ([]runstore.Run, error) {
	var all []runstore.Run
	var query runstore.Query
	for {
		page, err := store.List(ctx, query)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
		query.Before = page[len(page)-1].ID
	}
}

// outline is what MarkRestored needs to know of a run.
type outline struct {
	ledger   string // of the latest call that names one; empty: none does
	finished bool
}

// outlineOf reads the journal of a run. The head of the run does not say whether the run has
// finished: a run of `agentd run` counts as finished there, because no other process continues it
// by itself.
func outlineOf(ctx context.Context, store runstore.Store, runID string) (o outline, err error) {
	for rec, err := range store.Read(ctx, runID, 0) {
		if err != nil {
			return o, err
		}
		switch loop.Type(rec.Type) {
		case loop.TypeRunFinished:
			o.finished = true
		case loop.TypeUserMessage:
			o.finished = false
		case loop.TypeCallStarted:
			event, err := decode(rec)
			if err != nil {
				return o, err
			}
			o.ledger = cmp.Or(event.Payload.(*loop.CallStarted).Ledger, o.ledger)
		}
	}
	return o, nil
}
