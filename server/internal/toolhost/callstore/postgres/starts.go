package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// takeStarts takes a share of the scope @scope. Seconds are those when a share was taken, rounded
// down, so that it counts until more than @counted seconds have passed. The row is locked before
// the clock and what others have taken are read. If the clock was set back, shares of the future
// count from now on. The row has one element for each second, so its size has a bound.
const takeStarts = `
INSERT INTO toolhost_starts AS s (scope, seconds, starts, share, until)
SELECT @scope, ARRAY[now], ARRAY[share], share, now + @counted FROM ` + clock + `, (SELECT least(@most::bigint, greatest(@limit::bigint / 16, 1)) AS share) AS first
ON CONFLICT (scope) DO UPDATE SET (seconds, starts, share, until) = (
	WITH clock AS MATERIALIZED (SELECT now FROM ` + clock + `),
	taken AS (SELECT least(t.second, now) AS second, t.starts FROM clock, unnest(s.seconds, s.starts) AS t(second, starts) WHERE t.second >= now - @counted),
	remains AS (SELECT @limit - coalesce(sum(starts), 0)::bigint AS starts FROM taken),
	share AS (SELECT least(@most, greatest(starts / 16, 1), greatest(starts, 0)) AS starts FROM remains),
	every AS (SELECT second, sum(starts)::bigint AS starts FROM (SELECT * FROM taken UNION ALL SELECT now, share.starts FROM clock, share WHERE share.starts > 0) AS t GROUP BY second)
	SELECT array_agg(second ORDER BY second), array_agg(starts ORDER BY second), (SELECT starts FROM share), max(second) + @counted FROM every)
RETURNING share, seconds[1] + @counted + 1 - (SELECT now FROM ` + clock + `)`

// clock is the time of the database in seconds.
const clock = "(SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now) AS c"

// TakeStarts implements throttle.Leases.
func (s *Store) TakeStarts(ctx context.Context, scope string, limit, most int, counted time.Duration) (starts int, wait time.Duration, err error) {
	seconds := int64((counted + time.Second - 1) / time.Second)
	err = s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var left int64
		err := conn.QueryRow(ctx, takeStarts, pgx.NamedArgs{"scope": scope, "limit": limit, "most": most, "counted": seconds}).Scan(&starts, &left)
		wait = time.Duration(left) * time.Second
		if err != nil || s.shares.Add(1)%sweepStarts > 0 {
			return err
		}
		_, _ = conn.Exec(ctx, "DELETE FROM toolhost_starts WHERE until < (SELECT now FROM "+clock+")") // the next one does it again
		return nil
	})
	return starts, wait, err
}

// sweepStarts is how many questions a node asks until it removes the rows that are over.
const sweepStarts = 256
