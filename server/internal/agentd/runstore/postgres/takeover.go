package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

var _ runstore.Sharing = (*Store)(nil)

// giveUp gives up the claim of a run.
const giveUp = "UPDATE agentd_runs SET claimer = NULL WHERE id = $1 AND claimer = $2 AND epoch = $3"

// notAlone is the condition that no other store has to claim a run together with its parent.
const notAlone = "NOT EXISTS (SELECT FROM agentd_runs AS mother WHERE mother.id = agentd_runs.parent AND mother.unfinished AND mother.claimer IS DISTINCT FROM $2)"

// Claim implements runstore.Claims.
func (s *Store) Claim(runID string) (epoch uint64, err error) {
	claimed, err := s.claim("UPDATE agentd_runs SET claimer = $2, epoch = epoch + 1 WHERE id = ANY($1) AND deleted IS NULL AND (claimer IS NULL OR claimer = $2 OR "+gone+") AND "+notAlone+" RETURNING id, epoch", []string{runID})
	if err != nil {
		return 0, s.failed("claiming run "+runID, err)
	}
	if epoch, ok := claimed[runID]; ok {
		return epoch, nil
	}
	if _, err := s.Get(context.Background(), runID); err != nil {
		return 0, fmt.Errorf("claiming run %s: %w", runID, err)
	}
	return 0, runstore.AlreadyClaimed(runID)
}

// ClaimAll implements runstore.Claims. It does not wait for a row that another session has locked,
// such as that of a process that vanished during an append: that run is claimed elsewhere.
func (s *Store) ClaimAll(runIDs []string) (map[string]uint64, error) {
	const query = "WITH free AS (SELECT number FROM agentd_runs WHERE id = ANY($1) AND deleted IS NULL AND (claimer IS NULL OR claimer = $2 OR " + gone + ") FOR UPDATE SKIP LOCKED) " +
		"UPDATE agentd_runs AS runs SET claimer = $2, epoch = epoch + 1 FROM free WHERE runs.number = free.number RETURNING id, epoch"
	claimed, err := s.claim(query, runIDs)
	if err != nil {
		return nil, s.failed("claiming runs", err)
	}
	return claimed, nil
}

// claim executes a statement that claims some of the runs.
func (s *Store) claim(query string, runIDs []string) (map[string]uint64, error) {
	if err := s.mayClaim(context.Background()); err != nil {
		return nil, err
	}
	claimed, err := s.those(context.Background(), query, runIDs)
	return claimed, s.claims.took(claimed, err)
}

// mayClaim returns an error unless this store can keep claims.
func (s *Store) mayClaim(ctx context.Context) error {
	if !s.claims.ready() {
		return errNoSession
	}
	return s.enter(ctx)
}

// top is the condition that no run that goes on has a run as its sub-run, free that no store works
// on the run, and live that the run goes on or has entries.
const (
	top  = "NOT EXISTS (SELECT FROM agentd_runs AS parent WHERE parent.id = runs.parent AND parent.unfinished)"
	free = "(claimer IS NULL OR claimer IN (SELECT claimer FROM vanished))"
	live = "(unfinished OR posted > 0)"
)

// stalls counts a takeover that may follow from the run: it was taken from an agentd that is gone,
// and it was not only waiting for a person. A run that was taken so runstore.MaxStalled times
// without a record between is left alone, because it may have ended these agentds.
const stalls = "stalled = stalled + (claimer IS NOT NULL AND (decisions IS NULL OR posted > 0))::int"

// takeFamilies claims the roots of runs that are due, with those below them. The parts of found
// have an index each.
var takeFamilies = `WITH RECURSIVE vanished AS MATERIALIZED (
	SELECT claimer FROM (SELECT node AS claimer FROM agentd_nodes WHERE node <> $2) AS others WHERE ` + gone + `), found AS (
	(SELECT id, parent FROM agentd_runs WHERE unfinished AND claimer IS NULL AND wake_at <= statement_timestamp() AND stalled < $3 ORDER BY wake_at LIMIT $1) UNION ALL
	(SELECT id, parent FROM agentd_runs WHERE posted > 0 AND stalled < $3 AND ` + free + ` ORDER BY number LIMIT $1) UNION ALL
	(SELECT id, parent FROM agentd_runs JOIN vanished USING (claimer) WHERE unfinished AND stalled < $3 LIMIT $1)), above AS (
	SELECT id, parent FROM found UNION
	SELECT mother.id, mother.parent FROM agentd_runs AS mother JOIN above ON mother.id = above.parent WHERE mother.unfinished), roots AS (
	SELECT number, id FROM agentd_runs AS runs WHERE id IN (SELECT id FROM above) AND ` + top + ` AND stalled < $3 AND ` + live + ` AND ` + free + ` ORDER BY number LIMIT $1 FOR UPDATE SKIP LOCKED), family AS (
	SELECT number, id FROM roots UNION
	SELECT below.number, below.id FROM agentd_runs AS below JOIN family ON below.parent = family.id WHERE stalled < $3 AND ` + live + ` AND ` + free + `)
UPDATE agentd_runs SET claimer = $2, epoch = epoch + 1, ` + stalls + ` WHERE number IN (SELECT number FROM family) AND ` + live + `
RETURNING epoch` + strings.TrimPrefix(runColumns, "number")

// TakeOver implements runstore.Sharing.
func (s *Store) TakeOver(ctx context.Context, limit int) ([]runstore.Taken, error) {
	if err := s.mayClaim(ctx); err != nil {
		return nil, s.failed("taking runs", err)
	}
	runs, epochs, err := s.runs(ctx, takeFamilies, limit, s.claims.key, runstore.MaxStalled)
	if err != nil {
		return nil, s.failed("taking runs", s.claims.took(nil, err))
	}
	taken, claimed := make([]runstore.Taken, len(runs)), make(map[string]uint64, len(runs))
	for i := range runs {
		taken[i] = runstore.Taken{Run: runs[i], Epoch: uint64(epochs[i])}
		claimed[runs[i].ID] = uint64(epochs[i])
	}
	return taken, s.claims.took(claimed, nil)
}

// Confirm implements runstore.Sharing.
func (s *Store) Confirm(runID string, epoch uint64) error {
	has, err := s.those(context.Background(), "SELECT id, epoch FROM agentd_runs WHERE id = ANY($1) AND claimer = $2", []string{runID})
	if err != nil {
		return s.failed("confirming the claim of run "+runID, err)
	}
	if now, ok := has[runID]; !ok || now != epoch {
		return runstore.AlreadyClaimed(runID)
	}
	return nil
}

// Release implements runstore.Claims. If the database is gone, tidy gives the claim up later.
func (s *Store) Release(runID string, epoch uint64) {
	if !storable(runID) {
		return
	}
	s.claims.left(runID, epoch)
	err := s.db.Do(context.Background(), func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, giveUp, runID, s.claims.key, int64(epoch))
		return err
	})
	if err != nil {
		s.claims.doubt()
	}
}

// Claimed implements runstore.Claims.
func (s *Store) Claimed(runIDs []string) (map[string]bool, error) {
	epochs, err := s.those(context.Background(), "SELECT id, epoch FROM agentd_runs WHERE id = ANY($1) AND claimer IS NOT NULL AND (claimer = $2 OR NOT "+gone+")", runIDs)
	if err != nil {
		return nil, s.failed("looking for the processes of runs", err)
	}
	claimed := make(map[string]bool, len(epochs))
	for id := range epochs {
		claimed[id] = true
	}
	return claimed, nil
}

// Positions implements runstore.Sharing. Like all sessions of the store, its session is at the
// server that accepts writes.
func (s *Store) Positions(ctx context.Context, runIDs []string) (map[string]uint64, error) {
	last, err := s.those(ctx, "SELECT id, last_seq FROM agentd_runs WHERE id = ANY($1) AND deleted IS NULL AND $2::bigint IS NOT NULL", runIDs)
	if err != nil {
		return nil, s.failed("looking for news of runs", err)
	}
	return last, nil
}

// those returns the ids and numbers that a query returns, which gets the runs and the key of this
// store.
func (s *Store) those(ctx context.Context, query string, runIDs []string) (map[string]uint64, error) {
	runIDs = slices.DeleteFunc(slices.Clone(runIDs), func(id string) bool { return !storable(id) })
	those := make(map[string]uint64, len(runIDs))
	if len(runIDs) == 0 {
		return those, nil
	}
	err := s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, runIDs, s.claims.key)
		if err != nil {
			return err
		}
		var id string
		var epoch int64
		_, err = pgx.ForEachRow(rows, []any{&id, &epoch}, func() error { those[id] = uint64(epoch); return nil })
		return err
	})
	return those, err
}
