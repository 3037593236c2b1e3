package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/snapshot"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

const (
	// defaultSnapshotEvery is the default of Config.SnapshotEvery. Folding so many events takes
	// about a millisecond.
	defaultSnapshotEvery = 64
	// weighedAs is a number of bytes. Reading and folding that many bytes of a record takes as long
	// as one small record.
	weighedAs = 2 << 10
)

// tail describes what a run's journal has after the run's snapshot.
type tail struct {
	kept   snapshot.Kept
	weight int // of the records after the snapshot; see weigh
}

// weigh returns the cost of a record. The unit is the cost of one small record.
func weigh(rec *runstore.Record) int { return 1 + len(rec.Data)/weighedAs }

// fold folds a run's journal into a state. It starts from the run's snapshot if the snapshot can be
// read and belongs to this journal. Otherwise it starts from the first event.
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
	case err != nil && ctx.Err() != nil, errors.Is(err, runstore.ErrNotFound), errors.Is(err, runstore.ErrUnavailable):
		return tail{}, storeError(err)
	case err != nil:
		j.log.Warn("the snapshot of a run cannot be used; its whole journal is read", "run", runID, "error", err)
	}
	*s = loop.State{}
	weight, err := j.foldAfter(ctx, runID, s, nil)
	return tail{weight: weight}, err
}

// foldAfter folds the records after the state's last event and returns their weight. last is the
// fingerprint of the record of that event, or nil if the state is empty. It fails if the journal
// has another record there, because then the state belongs to another journal.
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

// addSnapshot adds a snapshot to a batch if one is due, and returns the tail after the batch is
// stored. A snapshot that cannot be made does not stop the run.
func (r *run) addSnapshot(batch *runstore.Batch) tail {
	next := r.tail
	for i := range batch.Records {
		next.weight += weigh(&batch.Records[i])
	}
	if next.weight < r.config.SnapshotEvery {
		return next
	}
	renewal, kept, err := snapshot.Make(&r.state, next.kept, &batch.Records[len(batch.Records)-1])
	switch {
	case err != nil:
		r.log.to(loglevel.Storage).Warn("a snapshot cannot be made", "error", err)
		next.weight = 0 // retry later
	case renewal != nil:
		batch.Snapshot = renewal
		return tail{kept: kept}
	}
	return next
}
