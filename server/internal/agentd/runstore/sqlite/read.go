package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// readPage is the number of records that one query reads. It makes the cost of the query small, and
// fits into memory.
const readPage = 128

// Read implements runstore.Store.
func (s *Store) Read(ctx context.Context, runID string, after uint64) iter.Seq2[runstore.Record, error] {
	return func(yield func(runstore.Record, error) bool) {
		number, err := s.number(ctx, runID)
		for err == nil {
			var page []runstore.Record
			if page, err = s.page(ctx, number, after); err != nil || len(page) == 0 {
				break
			}
			for _, rec := range page {
				if !yield(rec, nil) {
					return
				}
			}
			after = page[len(page)-1].Seq
		}
		if err != nil {
			yield(runstore.Record{}, s.reading(runID, err))
		}
	}
}

func (s *Store) number(ctx context.Context, runID string) (int64, error) {
	var number int64
	err := s.reads.number.QueryRowContext(ctx, runID).Scan(&number)
	return number, err
}

// page reads some records completely and returns the connection before the consumer sees them. A
// reader that stays in a transaction would keep SQLite from truncating the write-ahead log.
func (s *Store) page(ctx context.Context, number int64, after uint64) ([]runstore.Record, error) {
	rows, err := s.reads.page.QueryContext(ctx, number, int64(min(after, 1<<62)), readPage)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []runstore.Record
	for rows.Next() {
		var rec runstore.Record
		var nanos int64
		var data []byte
		if err := rows.Scan(&rec.Seq, &nanos, &rec.Type, &rec.Version, &data); err != nil {
			return nil, err
		}
		rec.Time, rec.Data = time.Unix(0, nanos).UTC(), data
		page = append(page, rec)
	}
	return page, rows.Err()
}

// Snapshot implements runstore.Store.
func (s *Store) Snapshot(ctx context.Context, runID string) (runstore.Snapshot, error) {
	kept, err := s.snapshot(ctx, runID)
	if err != nil {
		return runstore.Snapshot{}, s.reading(runID, err)
	}
	return kept, nil
}

// snapshot reads all parts with one statement, so that they belong to one append.
func (s *Store) snapshot(ctx context.Context, runID string) (kept runstore.Snapshot, err error) {
	rows, err := s.reads.snapshot.QueryContext(ctx, runID)
	if err != nil {
		return kept, err
	}
	defer rows.Close()
	known := false
	for rows.Next() {
		var part sql.NullInt64
		var data []byte
		if err := rows.Scan(&part, &data); err != nil {
			return kept, err
		}
		switch known = true; {
		case !part.Valid: // the run has none
		case part.Int64 == 0:
			kept.State = data
		default:
			kept.Parts = append(kept.Parts, data)
		}
	}
	if err := rows.Err(); err != nil || known {
		return kept, err
	}
	return kept, sql.ErrNoRows
}

// Content implements runstore.Store.
func (s *Store) Content(ctx context.Context, runID, sha256 string) ([]byte, error) {
	data, err := s.content(ctx, runID, sha256)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, runstore.NoContent(runID, sha256)
	}
	if err != nil {
		return nil, s.reading(runID, err)
	}
	return data, nil
}

func (s *Store) content(ctx context.Context, runID, sha256 string) ([]byte, error) {
	rows, err := s.reads.content.QueryContext(ctx, runID, sha256)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var data []byte
	for rows.Next() {
		var part sql.RawBytes
		if err := rows.Scan(&part); err != nil {
			return nil, err
		}
		data = append(data, part...)
	}
	if err := rows.Err(); err != nil || len(data) > 0 {
		return data, err
	}
	return nil, sql.ErrNoRows
}

// Get implements runstore.Store.
func (s *Store) Get(ctx context.Context, runID string) (runstore.Run, error) {
	run, err := scanRun(s.reads.get.QueryRowContext(ctx, runID))
	if err != nil {
		return runstore.Run{}, s.reading(runID, err)
	}
	return run, nil
}

// List implements runstore.Store.
func (s *Store) List(ctx context.Context, query runstore.Query) ([]runstore.Run, error) {
	before := int64(1<<63 - 1)
	if query.Before != "" {
		var err error
		if before, err = s.number(ctx, query.Before); err != nil {
			return nil, s.reading(query.Before, err)
		}
		at, err := s.Get(ctx, query.Before)
		if err != nil {
			return nil, err
		}
		if !query.Selects(&at.Head) {
			return nil, runstore.NotFound(query.Before)
		}
	}
	statement, arguments := s.reads.list, []any{before, query.PageSize()}
	others := append(arguments[:2:2], query.Parent, query.Owner, query.Tenant, query.UnfinishedOnly, query.OpenOnly)
	switch {
	case query.Parent != "":
		statement, arguments = s.reads.parent, others
	case query.OpenOnly:
		statement, arguments = s.reads.open, others
	case query.UnfinishedOnly:
		statement = s.reads.unfinished
	case query.Owner != "":
		statement, arguments = s.reads.owned, append([]any{query.Owner}, arguments...)
	case query.Tenant != "":
		statement, arguments = s.reads.tenant, append([]any{query.Tenant}, arguments...)
	}
	return s.runs(ctx, statement, arguments)
}

// Waiting implements runstore.Store.
func (s *Store) Waiting(ctx context.Context, query runstore.WaitingQuery) ([]runstore.Run, runstore.Place, error) {
	last := query.After
	runs, err := s.runs(ctx, s.reads.waiting, []any{last.DecideBy, last.Number, query.Owner, query.Tenant, query.PageSize()}, &last.Number)
	if len(runs) > 0 {
		last.DecideBy = runs[len(runs)-1].Head.DecideByNanos()
	}
	return runs, last, err
}

// Changed implements runstore.Store. It reads the position first: what changes meanwhile comes
// again.
func (s *Store) Changed(ctx context.Context, query runstore.ChangedQuery) ([]runstore.Run, int64, error) {
	var now int64
	if err := s.reads.position.QueryRowContext(ctx).Scan(&now); err != nil {
		return nil, query.After, fmt.Errorf("reading the position in %s: %w", s.path, err)
	}
	switch {
	case query.After == runstore.Now:
		return nil, now, nil
	case query.After > now:
		return nil, query.After, runstore.NotReached(query.After)
	}
	last := query.After
	runs, err := s.runs(ctx, s.reads.changed, []any{query.After, now, query.Owner, query.Tenant, query.PageSize()}, &last)
	if err == nil && len(runs) < query.PageSize() {
		last = now
	}
	return runs, last, err
}

// Verdicts implements runstore.Store.
func (s *Store) Verdicts(ctx context.Context, query runstore.VerdictQuery) ([]runstore.Verdict, error) {
	rows, err := s.reads.verdicts.QueryContext(ctx, query.Principal, query.Newest(), query.PageSize())
	if err != nil {
		return nil, fmt.Errorf("listing the verdicts in %s: %w", s.path, err)
	}
	defer rows.Close()
	var page []runstore.Verdict
	for rows.Next() {
		var v runstore.Verdict
		if err := rows.Scan(&v.Principal, (*[]byte)(&v.Data), &v.RunID, &v.Owner, &v.Number); err != nil {
			return nil, fmt.Errorf("listing the verdicts in %s: %w", s.path, err)
		}
		page = append(page, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing the verdicts in %s: %w", s.path, err)
	}
	return page, nil
}

// runs returns the runs of a statement. more get its last columns, those of the last run in the
// end.
func (s *Store) runs(ctx context.Context, statement *sql.Stmt, arguments []any, more ...any) ([]runstore.Run, error) {
	rows, err := statement.QueryContext(ctx, arguments...)
	if err != nil {
		return nil, fmt.Errorf("listing the runs in %s: %w", s.path, err)
	}
	defer rows.Close()
	var runs []runstore.Run
	for rows.Next() {
		run, err := scanRun(rows, more...)
		if err != nil {
			return nil, fmt.Errorf("listing the runs in %s: %w", s.path, err)
		}
		runs = append(runs, run)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing the runs in %s: %w", s.path, err)
	}
	return runs, nil
}

// Spent implements runstore.Spending.
func (s *Store) Spent(ctx context.Context, day int64, of runstore.Query) (runstore.Spent, error) {
	sum := runstore.Spent{Day: day}
	if err := s.reads.spent.QueryRowContext(ctx, day, of.Owner, of.Tenant).Scan(&sum.Tokens, &sum.Cost, &sum.Attached); err != nil {
		return sum, fmt.Errorf("reading what was spent in %s: %w", s.path, err)
	}
	return sum, nil
}

func scanRun(row interface{ Scan(...any) error }, more ...any) (runstore.Run, error) {
	var run runstore.Run
	var created, updated, by int64
	var summary, decisions []byte
	columns := []any{&run.ID, &created, &updated, &run.LastSeq, &run.Head.Unfinished, &run.Head.Ended, &summary, &run.Head.Owner, &run.Head.Tenant, &run.Head.Parent, &decisions, &by}
	if err := row.Scan(append(columns, more...)...); err != nil {
		return runstore.Run{}, err
	}
	run.Head.SetDecisions(decisions, by)
	run.CreateTime, run.UpdateTime = time.Unix(0, created).UTC(), time.Unix(0, updated).UTC()
	if len(summary) > 0 {
		run.Head.Summary = summary
	}
	return run, nil
}

func (s *Store) reading(runID string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return runstore.NotFound(runID)
	}
	return fmt.Errorf("reading run %s in %s: %w", runID, s.path, err)
}
