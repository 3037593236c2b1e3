package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Delete implements runstore.Store. The row of a deleted run stays, so that its id cannot be used
// again. Like Append, Delete fails with ErrConflict if another store has claimed one of the runs,
// and tries again for some seconds while the database is gone.
func (s *Store) Delete(ctx context.Context, deletion runstore.Deletion) error {
	for id := range deletion.Last {
		if !storable(id) {
			return runstore.NotFound(id)
		}
	}
	token := []byte(rand.Text()) // the same in all attempts
	deadline := time.Now().Add(s.patience)
	for {
		err := s.db.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.delete(ctx, tx, &deletion, token) })
		switch {
		case err == nil, errors.Is(err, runstore.ErrConflict), errors.Is(err, runstore.ErrNotFound):
			return err
		case !errors.Is(err, postgres.ErrUnavailable), ctx.Err() != nil, time.Now().After(deadline):
			return s.failed(fmt.Sprintf("deleting %d runs", len(deletion.Last)), err)
		}
		timer := time.NewTimer(retryPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// delete deletes the runs, or finds that an earlier attempt has deleted them.
func (s *Store) delete(ctx context.Context, tx pgx.Tx, d *runstore.Deletion, token []byte) error {
	ids := slices.Sorted(maps.Keys(d.Last))
	done, err := s.lockForDeletion(ctx, tx, d, ids, token)
	if err != nil || done {
		return err
	}
	if err := checkSubRuns(ctx, tx, ids); err != nil {
		return err
	}
	for _, table := range []string{"agentd_records", "agentd_snapshots", "agentd_contents", "agentd_verdicts", "agentd_inbox"} {
		if _, err := tx.Exec(ctx, "DELETE FROM "+table+" USING agentd_runs WHERE run = agentd_runs.number AND agentd_runs.id = ANY ($1)", ids); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, "UPDATE agentd_runs SET deleted = $2, last_append = $3, unfinished = false, summary = NULL WHERE id = ANY ($1)", ids, d.Time.UnixNano(), token)
	return err
}

// lockForDeletion locks the rows of the runs, and checks that they are as the caller knows them.
// done says that an earlier attempt with the token has deleted them.
func (s *Store) lockForDeletion(ctx context.Context, tx pgx.Tx, d *runstore.Deletion, ids []string, token []byte) (done bool, err error) {
	// in the order of their ids, so that two deletions do not wait for each other
	rows, err := tx.Query(ctx, "SELECT id, last_seq, last_append, claimer, deleted, posted FROM agentd_runs WHERE id = ANY ($1) ORDER BY id FOR UPDATE", ids)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	found := make(map[string]bool, len(ids))
	for rows.Next() {
		var id string
		var last, posted int64
		var by []byte
		var claimer, deleted *int64
		if err := rows.Scan(&id, &last, &by, &claimer, &deleted, &posted); err != nil {
			return false, err
		}
		switch known := d.Last[id]; {
		case deleted != nil && string(by) == string(token):
			return true, nil
		case deleted != nil:
			return false, runstore.NotFound(id)
		case uint64(last) != known:
			return false, runstore.Moved(id, known, uint64(last))
		case claimer != nil && *claimer != s.claims.key:
			return false, fmt.Errorf("deleting run %s: %w: another process has claimed the run", id, runstore.ErrConflict)
		case posted > 0:
			return false, fmt.Errorf("deleting run %s: %w: a request for the run waits", id, runstore.ErrConflict)
		}
		found[id] = true
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	for _, id := range ids {
		if !found[id] {
			return false, runstore.NotFound(id)
		}
	}
	return false, nil
}

// checkSubRuns returns an ErrConflict if a run has a sub-run that is not deleted with it.
func checkSubRuns(ctx context.Context, tx pgx.Tx, ids []string) error {
	var parent, child string
	err := tx.QueryRow(ctx, "SELECT parent, id FROM agentd_runs WHERE parent = ANY ($1) AND deleted IS NULL AND id <> ALL ($1) LIMIT 1", ids).Scan(&parent, &child)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return runstore.HasSubRun(parent, child)
}
