package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// counts is the condition that this store, $1, counts the runs.
const counts = "(SELECT min(node) FROM agentd_nodes WHERE renewed > clock_timestamp() - interval '5 seconds') = $1"

// censusOf counts runs and stores. The number of parked runs is in the text, so that PostgreSQL
// knows that the index of these runs has them all.
var censusOf = fmt.Sprintf(`WITH waiting AS (
	SELECT count(*) AS runs, min(asked) AS since FROM agentd_runs WHERE decisions IS NOT NULL AND claimer IS NULL AND deleted IS NULL AND %[2]s), parked AS (
	SELECT count(*) AS runs FROM agentd_runs AS runs WHERE unfinished AND claimer IS NULL AND stalled >= %[1]d AND %[2]s
	AND NOT EXISTS (SELECT FROM agentd_runs AS mother WHERE mother.id = runs.parent AND mother.unfinished AND mother.stalled >= %[1]d)), nodes AS MATERIALIZED (
	SELECT CASE WHEN renewed > clock_timestamp() - interval '5 seconds' THEN 1
		WHEN EXISTS (SELECT FROM agentd_runs WHERE claimer = node) OR NOT pg_try_advisory_xact_lock_shared(node) THEN 2 ELSE 3 END AS state FROM agentd_nodes)
SELECT waiting.runs, waiting.since, parked.runs, (SELECT count(*) FROM nodes WHERE state = 1), (SELECT count(*) FROM nodes WHERE state = 2), (SELECT count(*) FROM nodes WHERE state = 3)
FROM waiting, parked`, runstore.MaxStalled, counts)

// Census returns what the stores of the database have. The shared locks that it takes to see which
// sessions have ended end with the statement.
func (s *Store) Census(ctx context.Context) (c runstore.Census, err error) {
	var first *int64
	err = s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, censusOf, s.claims.key).Scan(&c.Waiting, &first, &c.Parked, &c.Live, &c.Silent, &c.Lost)
	})
	if err != nil {
		return runstore.Census{}, s.failed("counting runs and agentds", err)
	}
	if first != nil {
		c.Since = time.Unix(0, *first)
	}
	return c, nil
}
