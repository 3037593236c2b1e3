package callstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
)

const (
	// ResultShare defines two limits as a fraction of MaxBytes, one eighth: the space that eviction
	// keeps free, and the largest size of one result. So there is room for new results until
	// eviction has caught up.
	ResultShare = 8
	// maxEvict bounds the rows that one transaction removes, so that no call waits long. It is more
	// than a group of operations can add.
	maxEvict = 2 * maxGroup
)

// evict removes calls and outcomes that are too old or too many, a bounded number of rows per
// transaction.
func (w *writer) evict(ctx context.Context) {
	now := w.store.cfg.Now()
	err := errors.Join(w.evictOutcomes(ctx, now), w.evictCalls(ctx, now))
	if err == nil {
		return
	}
	w.behind = false // not again before the next operation or tick
	if !w.failing {
		w.failing = true
		w.store.cfg.Logger.Error("evicting from the ledger on disk failed", "path", w.store.cfg.Path, "error", explain(w.store.cfg.Path, err))
	}
}

type oldRow struct {
	at    int64 // the number of a call, or the place of an outcome
	bytes int64
	hash  Hash
	time  time.Time

	principal string // of a call
	kept      int64  // the bytes of the outcome of a call
	tenant    string // of an outcome; empty: its call was removed
}

// evictOutcomes removes outcomes that are too old or too many. The way in which the calls ended
// stays.
func (w *writer) evictOutcomes(ctx context.Context, now time.Time) error {
	if limit := w.store.cfg.MaxBytes - w.store.cfg.MaxBytes/ResultShare; w.bytes > limit {
		if err := w.evictLargest(ctx, limit); err != nil {
			return err
		}
	}
	if now.Before(w.dataDue) {
		return nil
	}
	rows, err := w.oldest(ctx, w.oldestOutcomes, scanOutcome, maxEvict)
	if err != nil {
		return err
	}
	gone := 0
	for gone < len(rows) && !now.Before(rows[gone].time.Add(w.store.cfg.KeepResults)) {
		gone++
	}
	return w.drop(ctx, rows, gone, w.store.cfg.KeepResults, &w.dataDue, w.dropOutcomes, func(c *change) {
		for i := range rows[:gone] {
			c.keep(rows[i].tenant, -rows[i].bytes)
		}
	})
}

// evictLargest removes the oldest outcomes of the tenant that has the most bytes of them, so that a
// tenant with few outcomes keeps them while another one makes many calls. Outcomes whose calls were
// removed go first, because no caller can get them.
//
// Places only grow, so the search begins where it ended the last time for this tenant. Otherwise it
// would read the outcomes of all other tenants again each time.
func (w *writer) evictLargest(ctx context.Context, limit int64) error {
	tenant := w.kept.Largest()
	if w.kept.Of("") > 0 {
		tenant = ""
		delete(w.passed, tenant) // a call can be removed at any place
	}
	rows, err := w.oldest(ctx, w.tenantOutcomes, scanOutcome, w.passed[tenant], tenant, maxEvict)
	if err != nil || len(rows) == 0 {
		return err
	}
	gone, left := 0, w.bytes
	for gone < len(rows) && left > limit {
		left -= rows[gone].bytes
		gone++
	}
	err = w.inTransaction(ctx, false, func(c *change) error {
		for i := range rows[:gone] {
			if _, err := w.dropOutcome.ExecContext(ctx, rows[i].at); err != nil {
				return err
			}
			c.keep(tenant, -rows[i].bytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.passed[tenant] = rows[gone-1].at
	w.behind = w.behind || left > limit
	return nil
}

func scanOutcome(r *sql.Rows, o *oldRow, nanos *int64) error {
	return r.Scan(&o.at, &o.bytes, nanos, &o.tenant)
}

// evictCalls removes calls that are too old. There are never too many, because Begin refuses them.
func (w *writer) evictCalls(ctx context.Context, now time.Time) error {
	if now.Before(w.callsDue) {
		return nil
	}
	rows, err := w.oldest(ctx, w.oldestCalls, scanCall, maxEvict)
	if err != nil {
		return err
	}
	gone := 0
	for gone < len(rows) && !now.Before(rows[gone].time.Add(w.store.cfg.KeepIDs)) {
		gone++
	}
	return w.drop(ctx, rows, gone, w.store.cfg.KeepIDs, &w.callsDue, w.dropCalls, func(c *change) {
		c.deleted = true
		for i := range rows[:gone] {
			w.keepArguments(c, rows[i].at, 0)
			c.numbers[rows[i].hash] = 0
			c.owned.Add(rows[i].principal, -1)
			c.keep(identity.TenantOf(rows[i].principal), -rows[i].kept)
			c.keep("", rows[i].kept)
		}
	})
}

func scanCall(r *sql.Rows, o *oldRow, nanos *int64) error {
	var raw sql.RawBytes
	err := r.Scan(&o.at, &raw, nanos, &o.principal, &o.kept)
	copy(o.hash[:], raw)
	return err
}

func (w *writer) oldest(ctx context.Context, statement *sql.Stmt, scan func(*sql.Rows, *oldRow, *int64) error, args ...any) ([]oldRow, error) {
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var old []oldRow
	for rows.Next() {
		var row oldRow
		var nanos int64
		if err := scan(rows, &row, &nanos); err != nil {
			return nil, err
		}
		row.time = time.Unix(0, nanos)
		old = append(old, row)
	}
	return old, rows.Err()
}

// drop deletes the first rows and records when the next row is due.
func (w *writer) drop(ctx context.Context, rows []oldRow, gone int, keep time.Duration, due *time.Time, statement *sql.Stmt, adopt func(*change)) error {
	if gone > 0 {
		err := w.inTransaction(ctx, false, func(c *change) error {
			_, err := statement.ExecContext(ctx, rows[gone-1].at)
			adopt(c)
			return err
		})
		if err != nil {
			return err
		}
	}
	*due = time.Time{}
	if gone < len(rows) {
		*due = rows[gone].time.Add(keep)
	}
	w.behind = w.behind || gone == maxEvict
	return nil
}

// room returns when the oldest call is forgotten.
func (w *writer) room(ctx context.Context) (time.Time, error) {
	rows, err := w.oldest(ctx, w.oldestCalls, scanCall, 1)
	if err != nil || len(rows) == 0 {
		return time.Unix(0, 0).Add(w.store.cfg.KeepIDs), err
	}
	return rows[0].time.Add(w.store.cfg.KeepIDs), nil
}
