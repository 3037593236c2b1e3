package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/internal/agent/snapshot"
	"github.com/toolhost/toolhost/tool"
)

const (
	// defaultSnapshotEvery is how many events are folded anew at most when a run goes on, beside those of its last turn: about a
	// millisecond's.
	defaultSnapshotEvery = 64
	// weighedAs is how many bytes of a record take as long to read and fold as a small record.
	weighedAs = 2 << 10
)

// beside is what a run's journal has beside the run's snapshot.
type tail struct {
	kept   snapshot.Kept
	weight int // of the records that came after it, as weigh counts
}

// weigh returns how many small records a record is worth.
func weigh(rec *runstore.Record) int { return 1 + len(rec.Data)/weighedAs }

// fold folds a run's journal into a state: from the run's snapshot on if that is of this journal and can be read, else from the
// beginning.
func (j *journal) fold(ctx context.Context, runID string, s *loop.State) (tail, error) {
	stored, err := j.store.Snapshot(ctx, runID)
	if err == nil && len(stored.State) > 0 {
		var from snapshot.Kept
		if *s, from, err = snapshot.Read(&stored); err == nil {
			var weight int
			if weight, err = j.foldAfter(ctx, runID, s, from.Last()); err == nil {
				return tail{from, weight}, nil
			}
		}
	}
	switch {
	case err != nil && ctx.Err() != nil, errors.Is(err, runstore.ErrNotFound):
		return tail{}, storeError(err)
	case err != nil:
		j.log.Warn("the snapshot of a run is of no use; all of its journal is read", "run", runID, "error", err)
	}
	*s = loop.State{}
	weight, err := j.foldAfter(ctx, runID, s, nil)
	return tail{weight: weight}, err
}

// foldAfter folds the records that a state does not have, and returns what they weigh. last is the fingerprint of the record that the
// state has last; nil if it has none. A journal that has another record there is not what the state was made from.
func (j *journal) foldAfter(ctx context.Context, runID string, s *loop.State, last *loop.Fingerprint) (weight int, err error) {
	after := s.Seq()
	if last != nil {
		after--
	}
	for rec, err := range j.store.Read(ctx, runID, after) {
		if err != nil {
			return 0, storeError(err)
		}
		if last != nil {
			if rec.Seq != s.Seq() || snapshot.FingerprintOf(&rec) != *last {
				break
			}
			last = nil
			continue
		}
		e, err := decode(rec)
		if err == nil {
			err = s.Apply(e)
		}
		if err != nil {
			return 0, tool.Errorf(tool.KindInternal, "the journal of run %s cannot be read: %w", runID, err)
		}
		weight += weigh(&rec)
	}
	if last != nil {
		return 0, fmt.Errorf("the journal has another event %d than the one that the snapshot was made after", s.Seq())
	}
	return weight, nil
}

// renew adds a snapshot to a batch, if there is one to be made by now, and returns what the run has beside its snapshot once the batch is in the
// journal. That none can be made is no reason not to go on.
func (r *run) addSnapshot(batch *runstore.Batch) tail {
	next := r.tail
	for i := range batch.Records {
		next.weight += weigh(&batch.Records[i])
	}
	if next.weight < r.agent.config.SnapshotEvery {
		return next
	}
	renewal, kept, err := snapshot.Make(&r.state, next.kept, &batch.Records[len(batch.Records)-1])
	switch {
	case err != nil:
		r.agent.config.Log.Warn("making a snapshot", "run", r.id, "error", err)
		next.weight = 0 // not again at once
	case renewal != nil:
		batch.Snapshot = renewal
		return tail{kept: kept}
	}
	return next
}
