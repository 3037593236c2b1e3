package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// takeFamily is takeFamilies for the family of the run $1, if anything in it is due.
var takeFamily = `WITH RECURSIVE roots AS (
	SELECT number, id FROM agentd_runs AS runs WHERE id = $1 AND ` + takeRoots + live + ` AND EXISTS (SELECT FROM agentd_runs AS member
	WHERE member.number IN (SELECT number FROM family) AND (member.posted > 0 OR member.unfinished AND member.wake_at <= statement_timestamp()))` + takenColumns

// lookAtFamily returns why takeFamily has taken nothing: whether there is something to do at all,
// whether a store has the run, how often it stalled, and when the first of the family goes on that
// is not parked.
const lookAtFamily = `WITH RECURSIVE family AS (
	SELECT id, unfinished, wake_at, claimer, stalled FROM agentd_runs WHERE id = $1 AND deleted IS NULL UNION
	SELECT below.id, below.unfinished, below.wake_at, below.claimer, below.stalled FROM family, LATERAL (
		SELECT id, unfinished, wake_at, claimer, stalled FROM agentd_runs AS runs WHERE runs.parent = family.id AND runs.parent <> '' AND ` + live + ` OFFSET 0) AS below)
SELECT ` + live + `, claimer IS NOT NULL, stalled, posted > 0, (SELECT extract(epoch FROM min(wake_at) - clock_timestamp())::float8 FROM family WHERE family.unfinished AND (family.claimer IS NOT NULL OR family.stalled < $2))
FROM agentd_runs AS runs WHERE id = $1 AND deleted IS NULL`

// TakeFamily implements runstore.Sharing.
func (s *Store) TakeFamily(ctx context.Context, runID string) (due runstore.Due, err error) {
	if !storable(runID) {
		return due, runstore.NotFound(runID)
	}
	if err = s.mayClaim(ctx); err == nil {
		err = s.free(ctx)
	}
	if err != nil {
		return due, s.failed("taking run "+runID, err)
	}
	due.Taken, err = s.take(ctx, takeFamily, runID, s.claims.key, runstore.MaxStalled)
	if err != nil || len(due.Taken) > 0 {
		return due, err
	}
	var claimed, posted bool
	var stalled int
	var wait *float64
	if err = s.row(ctx, runID, lookAtFamily, []any{runID, runstore.MaxStalled}, &due.Live, &claimed, &stalled, &posted, &wait); err != nil {
		return due, s.reading(runID, err)
	}
	switch {
	case !due.Live:
	case !claimed && stalled >= runstore.MaxStalled:
		return due, fmt.Errorf("run %q: %w", runID, runstore.ErrParked)
	case claimed || posted || wait != nil && *wait <= 0: // another session takes or leaves it just now
		return due, runstore.AlreadyClaimed(runID)
	case wait != nil:
		due.Wait = max(time.Duration(*wait*float64(time.Second)), time.Microsecond)
	}
	return due, nil
}
