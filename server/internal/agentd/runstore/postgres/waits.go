package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Unowned returns how many runs wait for decisions and are at work at no store, and since when the
// first of them waits. Of several stores that live, one counts them, so that a sum has each run
// once; the others have none.
func (s *Store) Unowned(ctx context.Context) (runs int, since time.Time, err error) {
	const query = `SELECT count(*), min(asked) FROM agentd_runs WHERE decisions IS NOT NULL AND claimer IS NULL AND deleted IS NULL
		AND (SELECT min(node) FROM agentd_nodes WHERE renewed > clock_timestamp() - interval '5 seconds') = $1`
	var first *int64
	err = s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query, s.claims.key).Scan(&runs, &first)
	})
	if err != nil {
		return 0, since, s.failed("counting the runs that wait", err)
	}
	if first != nil {
		since = time.Unix(0, *first)
	}
	return runs, since, nil
}
