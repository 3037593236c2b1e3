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

// giveUp gives up the claim of a run. A store that gives up a parked run was not ended by it. So
// giveUp lowers the count to the one of a parked run that was not tried, and another store may try
// the run with its entries.
var giveUp = fmt.Sprintf("UPDATE agentd_runs SET claimer = NULL, stalled = least(stalled, %d) WHERE id = $1 AND claimer = $2 AND epoch = $3", runstore.MaxStalled)

// notAlone is the condition that no other store has to claim a run together with its parent.
const notAlone = "NOT EXISTS (SELECT FROM agentd_runs AS mother WHERE mother.id = runs.parent AND mother.unfinished AND mother.claimer IS DISTINCT FROM $2)"

// wanted is the condition that a run, or one below it, has entries.
const wanted = `(posted > 0 OR EXISTS (WITH RECURSIVE below AS (
	SELECT id, posted FROM agentd_runs AS sub WHERE sub.parent = runs.id AND sub.parent <> '' AND (sub.unfinished OR sub.posted > 0) UNION ALL
	SELECT sub.id, sub.posted FROM below, LATERAL (SELECT id, posted FROM agentd_runs WHERE parent = below.id AND parent <> '' AND (unfinished OR posted > 0) OFFSET 0) AS sub)
	SELECT FROM below WHERE posted > 0))`

// claimOne claims a run that no other store has claimed. If a parked run, or a run below it, has
// entries, this claim counts as the one try that takeFamilies allows. If there are no entries,
// takeFamilies may take the run once more. notParked excludes parked runs.
var (
	claimOne = fmt.Sprintf("UPDATE agentd_runs AS runs SET claimer = $2, epoch = epoch + 1, stalled = CASE WHEN stalled >= %[1]d AND "+wanted+" THEN greatest(stalled, %[1]d + 1) ELSE least(stalled, %[1]d - 1) END "+
		"WHERE id = ANY($1) AND deleted IS NULL AND (claimer IS NULL OR claimer = $2) AND "+notAlone, runstore.MaxStalled)
	notParked = fmt.Sprintf(" AND stalled < %d", runstore.MaxStalled)
)

// Claim implements runstore.Claims. If the first attempt claims nothing, Claim gives up the claims
// of all stores that are gone, which counts them, and tries again. If that has parked the run,
// Claim does not claim it, because its caller did not know that the run is parked.
func (s *Store) Claim(runID string) (epoch uint64, err error) {
	claimed, err := s.claim(claimOne+" RETURNING id, epoch", []string{runID})
	if err == nil && len(claimed) == 0 {
		if err = s.free(context.Background()); err == nil {
			claimed, err = s.claim(claimOne+notParked+" RETURNING id, epoch", []string{runID})
		}
	}
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

// Conditions on a run:
//   - top: the run is not the sub-run of an unfinished run.
//   - free: no store has claimed the run. It is not parked, or it is parked with entries and was
//     not tried with them.
//   - live: the run is unfinished or has entries.
//   - works: the run has something to do itself.
//   - due: the run continues now by itself.
//   - alone: no unfinished run above it, which would continue with it, is at work or parked. held
//     finds such a run.
//
// A scalar subquery in place of a value costs one step in an index for each row, however PostgreSQL
// estimates the rows.
const (
	top   = "(SELECT mother.unfinished FROM agentd_runs AS mother WHERE mother.id = runs.parent) IS NOT TRUE"
	free  = "runs.claimer IS NULL AND (runs.stalled < $3 OR runs.stalled = $3 AND runs.posted > 0)"
	live  = "(runs.unfinished OR runs.posted > 0)"
	works = "CASE abs(runs.works) WHEN runs.last_seq THEN runs.works > 0 ELSE runs.decisions IS NULL END"
	due   = "runs.unfinished AND " + free + " AND runs.wake_at <= statement_timestamp() AND " + alone
	alone = "(runs.parent = '' OR NOT EXISTS (" + held + "))"
	held  = `WITH RECURSIVE above AS (
		SELECT parent, claimer, stalled FROM agentd_runs AS mother WHERE mother.id = runs.parent AND mother.unfinished UNION ALL
		SELECT mother.parent, mother.claimer, mother.stalled FROM above, LATERAL (SELECT parent, claimer, stalled FROM agentd_runs WHERE id = above.parent AND unfinished LIMIT 1) AS mother)
	SELECT FROM above WHERE claimer IS NOT NULL OR stalled >= $3`
)

// The end of a statement that takes families: it locks the roots that a condition selects, claims
// them with those below them if a condition holds, and returns them.
var (
	takeRoots = top + ` AND ` + live + ` AND ` + free + ` ORDER BY number FOR UPDATE SKIP LOCKED), family AS (
	SELECT number, id FROM roots UNION
	SELECT below.number, below.id FROM family, LATERAL (SELECT number, id FROM agentd_runs AS runs WHERE runs.parent = family.id AND runs.parent <> '' AND ` + live + ` AND ` + free + ` OFFSET 0) AS below)
UPDATE agentd_runs AS runs SET claimer = $2, epoch = epoch + 1, stalled = stalled + (stalled = $3)::int WHERE number IN (SELECT number FROM family) AND claimer IS NULL AND `
	takenColumns = `
RETURNING epoch` + strings.TrimPrefix(runColumns, "number")
)

// reading is how long after its claim a run may still be read. Some runs end the agentd that reads
// them. The wake_at of a claimed run is the time of the claim. A run that only waits is claimed for
// longer than that if it waits with a sub-run that works, or for a question of toolhost.
const reading = "interval '1 minute'"

// freeVanished gives up the claims of stores that are gone. It counts that for each run that had
// something to do, because the run may have ended these agentds. A run that only waits counts as
// well for a while after it was claimed, because its agentd reads it then. A run that only waits
// for sub-runs of the same store, or for theirs, gets the highest count of these. It would continue
// the sub-run with that count, so both are parked together. A count of one is not passed on yet,
// because progress may reset it before the next one. freeVanished returns the runs that were given
// up in this way runstore.MaxStalled times without progress in between. takeFamilies leaves these
// runs alone. They are not due any more, so that a look does not step over them, and a claim makes
// them due again. The statement finds stores by their claims, with one step in the index for each
// claimer.
const freeVanished = `WITH RECURSIVE claimers AS (
	(SELECT claimer FROM agentd_runs WHERE claimer IS NOT NULL ORDER BY claimer LIMIT 1) UNION ALL
	SELECT next.claimer FROM claimers, LATERAL (SELECT claimer FROM agentd_runs AS runs WHERE runs.claimer > claimers.claimer ORDER BY runs.claimer LIMIT 1) AS next), vanished AS MATERIALIZED (
	SELECT claimer, (SELECT renewed FROM agentd_nodes WHERE node = claimer) AS seen FROM claimers WHERE claimer <> $2 AND ` + gone + `), held AS (
	SELECT number, id, parent, unfinished, busy, stalled + (` + live + ` AND (busy OR NOT EXISTS (
		SELECT FROM agentd_runs AS sub WHERE sub.parent = runs.id AND sub.parent <> '' AND sub.unfinished AND sub.claimer = runs.claimer) AND (decisions IS NULL OR coalesce(seen < wake_at + ` + reading + `, false))))::int AS times
	FROM agentd_runs AS runs JOIN vanished USING (claimer), LATERAL (SELECT posted > 0 OR ` + works + ` AS busy) AS state FOR UPDATE OF runs SKIP LOCKED), raised AS (
	SELECT number, parent, unfinished, times FROM held UNION
	SELECT held.number, held.parent, held.unfinished, raised.times FROM raised JOIN held ON held.id = raised.parent WHERE raised.times > 1 AND raised.unfinished AND NOT held.busy), counted AS (
	SELECT number, max(times) AS times FROM raised GROUP BY number), freed AS (
	UPDATE agentd_runs AS runs SET claimer = NULL, stalled = times, wake_at = CASE WHEN times < $1 THEN wake_at END FROM counted WHERE runs.number = counted.number RETURNING id, stalled)
SELECT id, stalled FROM freed WHERE stalled >= $1`

// takeFamilies claims the roots of runs that are due, with those below them.
//
// The problem: if more runs are due than fit, one tenant with ten thousand of them must not keep
// another one with ten from its turn, and neither number may decide what the query costs. The idea:
// the runs that have been due for longest are enough unless there are more of them than fit. Only
// then the index is asked for the first ones of each tenant, and the tenant goes first that has the
// fewest runs at work here. A tenant beyond mostTenants has its turn among those that are due for
// longest. Runs with entries always fit, because the request of a person is recorded at once and
// needs no slot. A parked run with entries is taken once, because the agent that has its caller may
// be gone: the count then exceeds runstore.MaxStalled until there is progress, or another entry.
var takeFamilies = `WITH RECURSIVE first AS MATERIALIZED (
	SELECT number, id, parent, tenant, wake_at FROM agentd_runs AS runs WHERE ` + due + ` ORDER BY wake_at, number LIMIT $1), tenants AS (
	(SELECT tenant, 1 AS place FROM agentd_runs WHERE unfinished AND claimer IS NULL AND wake_at IS NOT NULL AND $1 > 0 AND (SELECT count(*) FROM first) = $1 ORDER BY tenant LIMIT 1) UNION ALL
	SELECT next.tenant, place + 1 FROM tenants, LATERAL (
		SELECT tenant FROM agentd_runs AS runs WHERE unfinished AND claimer IS NULL AND wake_at IS NOT NULL AND runs.tenant > tenants.tenant ORDER BY runs.tenant LIMIT 1) AS next WHERE place < $5), candidates AS (
	SELECT * FROM first UNION
	SELECT early.* FROM tenants, LATERAL (
		SELECT number, id, parent, tenant, wake_at FROM agentd_runs AS runs WHERE ` + due + ` AND runs.tenant = tenants.tenant ORDER BY wake_at, number LIMIT least($1, 1 + 10 * $5 / (SELECT count(*) FROM tenants))) AS early), busy AS (
	SELECT tenant, count(*) AS runs FROM agentd_runs WHERE claimer = $2 AND unfinished GROUP BY tenant), found AS (
	(SELECT id, parent FROM candidates LEFT JOIN busy USING (tenant) ORDER BY coalesce(busy.runs, 0) + row_number() OVER (PARTITION BY tenant ORDER BY wake_at, number), wake_at, number LIMIT $1) UNION ALL
	(SELECT id, parent FROM agentd_runs AS runs WHERE posted > 0 AND ` + free + ` AND ` + alone + ` ORDER BY number LIMIT $4)), above AS (
	SELECT id, parent FROM found UNION
	SELECT mother.id, mother.parent FROM above, LATERAL (SELECT id, parent FROM agentd_runs WHERE id = above.parent AND unfinished LIMIT 1) AS mother), roots AS (
	SELECT number, id FROM agentd_runs AS runs WHERE id IN (SELECT id FROM above) AND ` + takeRoots + live + takenColumns

// mostTenants is the most tenants whose first runs a look compares. Each costs two steps in an
// index.
const mostTenants = 1000

// TakeOver implements runstore.Sharing.
func (s *Store) TakeOver(ctx context.Context, limit int) ([]runstore.Taken, error) {
	if err := s.mayClaim(ctx); err != nil {
		return nil, s.failed("taking runs", err)
	}
	if err := s.free(ctx); err != nil {
		return nil, s.failed("taking runs", err)
	}
	return s.take(ctx, takeFamilies, limit, s.claims.key, runstore.MaxStalled, runstore.MaxPage, mostTenants)
}

// take executes a statement that takes families.
func (s *Store) take(ctx context.Context, query string, arguments ...any) ([]runstore.Taken, error) {
	runs, epochs, err := s.runs(ctx, query, arguments...)
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

// free gives up the claims of stores that are gone, and logs which runs are parked from now on.
func (s *Store) free(ctx context.Context) error {
	return s.rows(ctx, freeVanished, []any{runstore.MaxStalled, s.claims.key}, func(row pgx.CollectableRow) error {
		var id string
		var times int
		err := row.Scan(&id, &times)
		if err == nil {
			s.claims.log.Warn("a run is parked: no agentd goes on with it by itself, because it may have ended those that worked on it", "run", id, "agentds", times)
		}
		return err
	})
}

// Confirm implements runstore.Sharing. Like confirm it writes, so that it waits for a claim that
// another store is taking, and for a standby that is behind.
func (s *Store) Confirm(runID string, epoch uint64) error {
	has, err := s.those(context.Background(), "UPDATE agentd_runs SET last_append = last_append WHERE id = ANY($1) AND claimer = $2 RETURNING id, epoch", []string{runID})
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

// positionsOf also returns the ids and addresses of other agentds that have claimed the runs.
const positionsOf = `SELECT id, last_seq, epoch, coalesce(node, 0), coalesce(address, '') FROM agentd_runs LEFT JOIN agentd_nodes ON node = claimer AND node <> $2
	WHERE id = ANY($1) AND deleted IS NULL`

// Positions implements runstore.Sharing. Like all sessions of the store, its session is at the
// server that accepts writes.
func (s *Store) Positions(ctx context.Context, runIDs []string) (map[string]runstore.Position, error) {
	runIDs = storables(runIDs)
	positions := make(map[string]runstore.Position, len(runIDs))
	if len(runIDs) == 0 {
		return positions, nil
	}
	err := s.rows(ctx, positionsOf, []any{runIDs, s.claims.key}, func(row pgx.CollectableRow) error {
		var id string
		var p runstore.Position
		var node int64
		var address string
		err := row.Scan(&id, &p.Seq, &p.Epoch, &node, &address)
		if address != "" {
			p.Owner = runstore.Owner{Node: idOf(node), Address: address}
		}
		positions[id] = p
		return err
	})
	if err != nil {
		return nil, s.failed("looking for news of runs", err)
	}
	return positions, nil
}

// storables returns those of the ids that a run can have.
func storables(runIDs []string) []string {
	return slices.DeleteFunc(slices.Clone(runIDs), func(id string) bool { return !storable(id) })
}

// those returns the ids and numbers that a query returns, which gets the runs and the key of this
// store.
func (s *Store) those(ctx context.Context, query string, runIDs []string) (map[string]uint64, error) {
	runIDs = storables(runIDs)
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
