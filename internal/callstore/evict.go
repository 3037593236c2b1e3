package callstore

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	// resultShare is the part of MaxBytes that eviction keeps free, and the most that one result
	// may have: one eighth. So there is room for the next results while eviction is behind.
	resultShare = 8
	// maxEvict bounds the rows that one transaction removes, so that no call waits long. It is more
	// than a group of operations can add.
	maxEvict = 2 * maxGroup
)

// evict removes calls and outcomes that are too old or too many, the oldest first, a bounded number
// of rows per transaction.
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
	hash  hash
	time  time.Time
}

// evictOutcomes removes outcomes that are too old or too many. The way in which the calls ended
// stays.
func (w *writer) evictOutcomes(ctx context.Context, now time.Time) error {
	limit := w.store.cfg.MaxBytes - w.store.cfg.MaxBytes/resultShare
	if w.bytes <= limit && now.Before(w.dataDue) {
		return nil
	}
	rows, err := w.oldest(ctx, w.oldestOutcomes, func(r *sql.Rows, o *oldRow, nanos *int64) error {
		return r.Scan(&o.at, &o.bytes, nanos)
	})
	if err != nil {
		return err
	}
	gone, left := 0, w.bytes
	for gone < len(rows) && (left > limit || !now.Before(rows[gone].time.Add(w.store.cfg.KeepResults))) {
		left -= rows[gone].bytes
		gone++
	}
	return w.drop(ctx, rows, gone, w.store.cfg.KeepResults, &w.dataDue, w.dropOutcomes, func(c *change) { c.bytes = left })
}

// evictCalls removes calls that are too old. There are never too many, because Begin refuses them.
func (w *writer) evictCalls(ctx context.Context, now time.Time) error {
	if now.Before(w.callsDue) {
		return nil
	}
	rows, err := w.oldest(ctx, w.oldestCalls, func(r *sql.Rows, o *oldRow, nanos *int64) error {
		var raw sql.RawBytes
		err := r.Scan(&o.at, &raw, nanos)
		copy(o.hash[:], raw)
		return err
	})
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
			c.numbers[rows[i].hash] = 0
		}
	})
}

func (w *writer) oldest(ctx context.Context, statement *sql.Stmt, scan func(*sql.Rows, *oldRow, *int64) error) ([]oldRow, error) {
	rows, err := statement.QueryContext(ctx, maxEvict)
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
	rows, err := w.oldestCalls.QueryContext(ctx, 1)
	if err != nil {
		return time.Time{}, err
	}
	defer rows.Close()
	var number, nanos int64
	var raw sql.RawBytes
	if rows.Next() {
		if err := rows.Scan(&number, &raw, &nanos); err != nil {
			return time.Time{}, err
		}
	}
	return time.Unix(0, nanos).Add(w.store.cfg.KeepIDs), rows.Err()
}
