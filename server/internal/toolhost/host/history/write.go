package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The writer removes old rows after a number of entries, and after some time also without new
// entries.
const (
	pruneEvery    = 2000
	pruneInterval = 10 * time.Minute
)

// reportEvery bounds how often the writer logs that the disk fails.
const reportEvery = time.Minute

// run writes what is appended, many entries in one transaction, and removes old rows. It ends when
// the queue is closed and empty.
func (l *Log) run() {
	defer close(l.done)
	ctx := context.Background() // Close waits for the entries
	ticker := time.NewTicker(pruneInterval)
	defer ticker.Stop()
	written := 0
	for {
		select {
		case first, open := <-l.queue:
			if !open {
				return
			}
			batch, waiting := l.take(first)
			var err error
			if len(batch) > 0 {
				err = l.write(ctx, batch)
			}
			if written += len(batch); err == nil && written >= pruneEvery {
				written = 0
				err = prune(ctx, l.writer, l.cfg.Keep, time.Now())
			}
			l.report(err)
			for _, w := range waiting {
				close(w)
			}
		case <-ticker.C:
			l.report(prune(ctx, l.writer, l.cfg.Keep, time.Now()))
		}
	}
}

// report logs an error of the disk, at most once in reportEvery, and the entries that were lost.
func (l *Log) report(err error) {
	if err != nil && time.Since(l.reported) >= reportEvery {
		l.reported = time.Now()
		l.cfg.Logger.Warn("the history cannot be written; what happens now will be missing after a restart", "file", l.cfg.Path, "error", err)
	}
	l.reportDropped()
}

// take returns the entries that wait, and what waits for them to be written.
func (l *Log) take(first message) (batch []Entry, waiting []chan<- struct{}) {
	for m := first; ; {
		if m.written != nil {
			waiting = append(waiting, m.written)
		} else {
			batch = append(batch, m.entry)
		}
		if len(batch) == maxBatch {
			return batch, waiting
		}
		select {
		case next, open := <-l.queue:
			if !open {
				return batch, waiting
			}
			m = next
		default:
			return batch, waiting
		}
	}
}

func (l *Log) reportDropped() {
	l.mu.Lock()
	dropped := l.dropped
	l.dropped = 0
	l.mu.Unlock()
	if dropped > 0 {
		l.cfg.Logger.Warn("the disk is too slow for the history; entries are missing from it", "entries", dropped)
	}
}

func (l *Log) write(ctx context.Context, batch []Entry) error {
	tx, err := l.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i := range batch {
		if err := insert(ctx, tx, &batch[i]); errors.Is(err, errUnstorable) {
			l.cfg.Logger.Warn("the history leaves out an entry", "error", err)
		} else if err != nil {
			tx.Rollback() // SQLite may have done so already, such as when the disk is full
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for i := range batch {
		if h := batch[i].Hour; h != nil {
			l.noteChanged(h.Start.UTC().Truncate(time.Hour).UnixNano())
		}
	}
	return nil
}

// noteChanged notes for the copy in the database that an hour has changed.
func (l *Log) noteChanged(hour int64) {
	for {
		first := l.changed.Load()
		if first <= hour || l.changed.CompareAndSwap(first, hour) {
			return
		}
	}
}

func insert(ctx context.Context, tx *sql.Tx, e *Entry) error {
	switch {
	case e.Event != nil:
		return insertRow(ctx, tx, "events", e.Event.Time, e.Event)
	case e.Exit != nil:
		return insertRow(ctx, tx, "exits", e.Exit.Time, e.Exit)
	case e.Call != nil:
		return insertRow(ctx, tx, "calls", e.Call.StartTime, toStoredCall(e.Call))
	case e.Hour != nil:
		return addHour(ctx, tx, e.Hour)
	}
	return nil
}

// errUnstorable is the error for an entry that has no JSON form, or that cannot be added to what
// the file has. The other entries of the batch do not depend on it.
var errUnstorable = errors.New("it cannot be stored")

func insertRow(ctx context.Context, tx *sql.Tx, table string, at time.Time, row any) error {
	data, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnstorable, err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO "+table+" (time, data) VALUES (?, ?)", at.UnixNano(), data)
	return err
}

// addHour adds counts to those that the file has for the hour.
func addHour(ctx context.Context, tx *sql.Tx, h *Hour) error {
	at := h.Start.UTC().Truncate(time.Hour).UnixNano()
	var sum Counts
	var data []byte
	err := tx.QueryRowContext(ctx, "SELECT data FROM hours WHERE time = ? AND tenant = ? AND tool = ? AND plugin = ?", at, h.Tenant, h.Tool, h.Plugin).Scan(&data)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading the counts of an hour: %w", err)
	}
	if err == nil && json.Unmarshal(data, &sum) != nil {
		sum = Counts{} // another program changed the row; readers leave it out, too
	}
	sum.Add(&h.Counts)
	if data, err = json.Marshal(&sum); err != nil {
		return fmt.Errorf("%w: the counts of an hour: %w", errUnstorable, err)
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO hours (time, tenant, tool, plugin, data) VALUES (?, ?, ?, ?, ?)", at, h.Tenant, h.Tool, h.Plugin, data)
	return err
}

// prune removes the rows that are too old, and rows of a table that has too many rows or bytes. It
// gives the room to the file system.
func prune(ctx context.Context, db *sql.DB, keep time.Duration, now time.Time) error {
	oldest := now.Add(-keep).UnixNano()
	for _, table := range []string{"events", "exits", "calls", "hours"} {
		if _, err := db.ExecContext(ctx, "DELETE FROM "+table+" WHERE time < ?", oldest); err != nil {
			return err
		}
	}
	for _, t := range []struct {
		name, tenant string
		rows, bytes  int
	}{
		{"events", tenantOfEvent, maxEvents, maxEventBytes}, {"exits", tenantOfEvent, maxExits, maxExitBytes}, {"calls", tenantOfCall, maxCalls, maxCallBytes},
	} {
		if err := bound(ctx, db, t.name, t.tenant, t.rows, t.bytes); err != nil {
			return err
		}
	}
	if err := boundHours(ctx, db); err != nil {
		return err
	}
	return release(ctx, db)
}

// The tenant of a row, from its JSON. The key of a principal begins with its tenant, unless that is
// the default one. Rows that another program has damaged belong to no tenant.
const (
	text          = "CASE WHEN json_valid(CAST(data AS TEXT)) THEN CAST(data AS TEXT) ELSE '{}' END"
	tenantOfEvent = "coalesce(json_extract(" + text + ", '$.tenant'), '')"
	principal     = "coalesce(json_extract(" + text + ", '$.principal'), '')"
	tenantOfCall  = "substr(" + principal + ", 1, instr(" + principal + ", '/'))"
)

// bound removes rows of a table, so that it has at most a number of rows and bytes of data. The
// tenant with the most rows loses its oldest ones, so that a tenant with few rows keeps them
// whatever the others do.
//
// Each row counts as the part of the bounds that it takes. The statement adds up the newer rows of
// the same tenant, and keeps the rows with the smallest sums, as many as fit. So it keeps equal
// parts of all tenants that have too much, and everything of the others.
func bound(ctx context.Context, db *sql.DB, table, tenant string, rows, bytes int) error {
	var count, size int
	if err := db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(length(data)), 0) FROM "+table).Scan(&count, &size); err != nil || count <= rows && size <= bytes {
		return err
	}
	_, err := db.ExecContext(ctx, "DELETE FROM "+table+" WHERE number IN (SELECT number FROM (SELECT number"+
		", count(*) OVER smallest AS rows, sum(bytes) OVER smallest AS bytes FROM (SELECT number, length(data) AS bytes"+
		", sum(length(data) * 1.0 / ?2 + 1.0 / ?1) OVER (PARTITION BY "+tenant+" ORDER BY number DESC) AS newer FROM "+table+
		") WINDOW smallest AS (ORDER BY newer, number DESC)) WHERE rows > ?1 OR bytes > ?2)", rows, bytes)
	return err
}

// boundHours removes the oldest hours, so that their table has at most maxHours rows and
// maxHourBytes bytes of data. All rows of an hour go together.
func boundHours(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "DELETE FROM hours WHERE time <= (SELECT max(time) FROM (SELECT time"+
		", count(*) OVER newer AS rows, sum(length(data)) OVER newer AS bytes FROM hours"+
		" WINDOW newer AS (ORDER BY time DESC)) WHERE rows > ? OR bytes > ?)", maxHours, maxHourBytes)
	return err
}

// release gives the free pages of the file to the file system. Each step of the statement frees one
// page.
func release(ctx context.Context, db *sql.DB) error {
	steps, err := db.QueryContext(ctx, "PRAGMA incremental_vacuum")
	if err != nil {
		return err
	}
	defer steps.Close()
	for steps.Next() {
	}
	return steps.Err()
}
