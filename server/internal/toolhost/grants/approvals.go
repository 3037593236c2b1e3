package grants

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
)

// Approvals returns the standing approvals, for one standing.Store.
func (s *Store) Approvals() standing.Shared { return approvals{s} }

type approvals struct{ *Store }

// Follow implements standing.Shared.
func (a approvals) Follow(ctx context.Context, f func(rows []standing.Row, all bool) error) error {
	a.reading <- struct{}{}
	a.follow, a.Store.approvals = f, -1
	<-a.reading
	return a.Refresh(ctx)
}

// Close implements standing.Rows. The store is still open.
func (a approvals) Close() error { return nil }

// Insert implements standing.Rows.
func (a approvals) Insert(ctx context.Context, r standing.Row) (number int64, err error) {
	err = a.change(ctx, "approvals", func(ctx context.Context, tx pgx.Tx, change int64) error {
		return tx.QueryRow(ctx, "INSERT INTO toolhost_approvals (changed, id, principal, request, digest, expires, ended, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING number",
			change, r.ID, r.Principal, r.Request, r.Digest, r.Expires, r.Ended, string(r.Data)).Scan(&number)
	})
	return number, err
}

// Update implements standing.Rows. What a toolhost writes may be older than what is in the table.
// So the first end wins, nothing puts an approval into force again, and none gets a later expiry.
func (a approvals) Update(ctx context.Context, rows []standing.Row) error {
	const update = `UPDATE toolhost_approvals SET changed = $1, expires = $3, ended = $4, data = $5 WHERE number = $2
		AND CASE WHEN $4::bigint = 0 THEN ended = 0 AND expires >= $3::bigint ELSE ended IN (0, $4::bigint) END`
	return a.change(ctx, "approvals", func(ctx context.Context, tx pgx.Tx, change int64) error {
		batch := &pgx.Batch{}
		for _, r := range rows {
			batch.Queue(update, change, r.Number, r.Expires, r.Ended, string(r.Data))
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

// Remove implements standing.Rows.
func (a approvals) Remove(ctx context.Context, numbers []int64) error {
	return a.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DELETE FROM toolhost_approvals WHERE number = ANY($1)", numbers)
		return postgres.Error(err)
	})
}

// readApprovals returns the approvals that have changed after a change, the oldest first.
func readApprovals(ctx context.Context, q querier, after int64) ([]standing.Row, error) {
	rows, err := q.Query(ctx, "SELECT number, id, principal, request, digest, expires, ended, data FROM toolhost_approvals WHERE changed > $1 ORDER BY number", after)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r standing.Row, err error) {
		var data string
		err = row.Scan(&r.Number, &r.ID, &r.Principal, &r.Request, &r.Digest, &r.Expires, &r.Ended, &data)
		r.Data = []byte(data)
		return r, err
	})
}
