package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// readPage is the number of records that one query reads. It makes the cost of the query small, and
// fits into memory.
const readPage = 128

// Read implements runstore.Store.
func (s *Store) Read(ctx context.Context, runID string, after uint64) iter.Seq2[runstore.Record, error] {
	return func(yield func(runstore.Record, error) bool) {
		var number int64
		err := s.row(ctx, runID, "SELECT number FROM agentd_runs WHERE id = $1 AND deleted IS NULL", []any{runID}, &number)
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
			if err = ctx.Err(); err == nil {
				after = page[len(page)-1].Seq
			}
		}
		if err != nil {
			yield(runstore.Record{}, s.reading(runID, err))
		}
	}
}

// page reads some records completely and returns the connection before the consumer sees them.
func (s *Store) page(ctx context.Context, number int64, after uint64) (page []runstore.Record, err error) {
	const query = "SELECT seq, time, type, version, data FROM agentd_records WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3"
	err = s.rows(ctx, query, []any{number, int64(min(after, math.MaxInt64)), readPage}, func(row pgx.CollectableRow) error {
		var rec runstore.Record
		var seq, nanos int64
		var data []byte
		if err := row.Scan(&seq, &nanos, &rec.Type, &rec.Version, &data); err != nil {
			return err
		}
		rec.Seq, rec.Time, rec.Data = uint64(seq), time.Unix(0, nanos).UTC(), data
		page = append(page, rec)
		return nil
	})
	return page, err
}

// Snapshot implements runstore.Store. It reads all parts with one statement, so that they belong to
// one append.
func (s *Store) Snapshot(ctx context.Context, runID string) (kept runstore.Snapshot, err error) {
	const query = "SELECT part, data FROM agentd_runs LEFT JOIN agentd_snapshots ON run = number WHERE id = $1 AND deleted IS NULL ORDER BY part"
	known := false
	if !storable(runID) {
		return kept, runstore.NotFound(runID)
	}
	err = s.rows(ctx, query, []any{runID}, func(row pgx.CollectableRow) error {
		var part *int64
		var data []byte
		if err := row.Scan(&part, &data); err != nil {
			return err
		}
		switch known = true; {
		case part == nil: // the run has none
		case *part == 0:
			kept.State = data
		default:
			kept.Parts = append(kept.Parts, data)
		}
		return nil
	})
	if err == nil && !known {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return runstore.Snapshot{}, s.reading(runID, err)
	}
	return kept, nil
}

// Content implements runstore.Store.
func (s *Store) Content(ctx context.Context, runID, sha256 string) (data []byte, err error) {
	const query = "SELECT data FROM agentd_runs JOIN agentd_contents ON run = number WHERE id = $1 AND digest = $2"
	err = s.row(ctx, runID+sha256, query, []any{runID, sha256}, &data)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, runstore.NoContent(runID, sha256)
	case err != nil:
		return nil, s.reading(runID, err)
	}
	return data, nil
}

const runColumns = "number, id, created, updated, last_seq, unfinished, ended, summary, owner, tenant, parent, decisions, decide_by, stalled"

// Get implements runstore.Store.
func (s *Store) Get(ctx context.Context, runID string) (runstore.Run, error) {
	run, _, err := s.get(ctx, runID)
	return run, err
}

// get also returns the run's place in the order of creation.
func (s *Store) get(ctx context.Context, runID string) (run runstore.Run, number int64, err error) {
	err = pgx.ErrNoRows
	if storable(runID) {
		var runs []runstore.Run
		var numbers []int64
		runs, numbers, err = s.runs(ctx, "SELECT "+runColumns+" FROM agentd_runs WHERE id = $1 AND deleted IS NULL", runID)
		if err == nil && len(runs) == 0 {
			err = pgx.ErrNoRows
		}
		if err == nil {
			return runs[0], numbers[0], nil
		}
	}
	return runstore.Run{}, 0, s.reading(runID, err)
}

// List implements runstore.Store.
func (s *Store) List(ctx context.Context, query runstore.Query) ([]runstore.Run, error) {
	before := int64(math.MaxInt64)
	if query.Before != "" {
		at, number, err := s.get(ctx, query.Before)
		if err != nil {
			return nil, err
		}
		if !query.Selects(&at.Head) {
			return nil, runstore.NotFound(query.Before)
		}
		before = number
	}
	// Each combination is a text of its own, so that PostgreSQL plans it with the index that fits.
	conditions, arguments := []string{"number < $1", "deleted IS NULL"}, []any{before, query.PageSize()}
	if query.UnfinishedOnly {
		conditions = append(conditions, "unfinished")
	}
	if query.OpenOnly {
		conditions = append(conditions, "(unfinished OR NOT ended)")
	}
	for _, only := range [][2]string{{"owner", query.Owner}, {"tenant", query.Tenant}, {"parent", query.Parent}} {
		if only[1] != "" {
			arguments = append(arguments, only[1])
			conditions = append(conditions, fmt.Sprintf("%s = $%d", only[0], len(arguments)))
		}
	}
	runs, _, err := s.runs(ctx, "SELECT "+runColumns+" FROM agentd_runs WHERE "+strings.Join(conditions, " AND ")+" ORDER BY number DESC LIMIT $2", arguments...)
	if err != nil {
		return nil, s.failed("listing the runs", err)
	}
	return runs, nil
}

// Waiting implements runstore.Store.
func (s *Store) Waiting(ctx context.Context, query runstore.WaitingQuery) ([]runstore.Run, runstore.Place, error) {
	conditions, arguments := "", []any{query.After.DecideBy, query.After.Number, query.PageSize()}
	for _, only := range [][2]string{{"owner", query.Owner}, {"tenant", query.Tenant}} {
		if only[1] != "" {
			arguments = append(arguments, only[1])
			conditions += fmt.Sprintf(" AND %s = $%d", only[0], len(arguments))
		}
	}
	runs, numbers, err := s.runs(ctx, "SELECT "+runColumns+" FROM agentd_runs WHERE decisions IS NOT NULL AND (decide_by, number) > ($1, $2) AND deleted IS NULL"+conditions+
		" ORDER BY decide_by, number LIMIT $3", arguments...)
	if err != nil {
		return nil, query.After, s.failed("listing the runs that wait", err)
	}
	last := query.After
	if len(runs) > 0 {
		last = runstore.Place{DecideBy: runs[len(runs)-1].Head.DecideByNanos(), Number: numbers[len(numbers)-1]}
	}
	return runs, last, nil
}

// Changed implements runstore.Store. A position is the number of a transaction. Transactions do not
// become visible in the order of their numbers. So Changed returns only what those have written
// that precede every open one: nothing can become visible there any more. What changes between the
// two queries has a higher number, and comes with it.
func (s *Store) Changed(ctx context.Context, query runstore.ChangedQuery) ([]runstore.Run, int64, error) {
	var open, next int64
	const snapshot = "SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint FROM pg_current_snapshot() AS s"
	if err := s.row(ctx, "", snapshot, nil, &open, &next); err != nil {
		return nil, query.After, s.failed("reading the position of changes", err)
	}
	switch {
	case query.After == runstore.Now:
		return nil, open - 1, nil
	case query.After >= next:
		return nil, query.After, runstore.NotReached(query.After)
	case query.After >= open-1:
		return nil, query.After, nil
	}
	columns := "changed" + strings.TrimPrefix(runColumns, "number")
	runs, changes, err := s.runs(ctx, "SELECT "+columns+" FROM agentd_runs WHERE changed > 0 AND changed > $1 AND changed < $2 AND deleted IS NULL"+
		" AND ($3 = '' OR owner = $3) AND ($4 = '' OR tenant = $4) ORDER BY changed LIMIT $5", query.After, open, query.Owner, query.Tenant, query.PageSize())
	if err != nil {
		return nil, query.After, s.failed("listing the runs whose decisions changed", err)
	}
	if len(runs) == query.PageSize() {
		return runs, changes[len(changes)-1], nil
	}
	return runs, open - 1, nil
}

// Verdicts implements runstore.Store.
func (s *Store) Verdicts(ctx context.Context, query runstore.VerdictQuery) (page []runstore.Verdict, err error) {
	if !storable(query.Principal) {
		return nil, nil
	}
	const statement = "SELECT principal, data, id, owner, v.number FROM agentd_verdicts AS v JOIN agentd_runs ON run = agentd_runs.number WHERE principal = $1 AND v.number < $2 AND deleted IS NULL ORDER BY v.number DESC LIMIT $3"
	err = s.rows(ctx, statement, []any{query.Principal, query.Newest(), query.PageSize()}, func(row pgx.CollectableRow) error {
		var v runstore.Verdict
		if err := row.Scan(&v.Principal, (*[]byte)(&v.Data), &v.RunID, &v.Owner, &v.Number); err != nil {
			return err
		}
		page = append(page, v)
		return nil
	})
	if err != nil {
		return nil, s.failed("listing the verdicts", err)
	}
	return page, nil
}

// Spent implements runstore.Spending.
func (s *Store) Spent(ctx context.Context, day int64, of runstore.Query) (runstore.Spent, error) {
	sum := runstore.Spent{Day: day}
	const query = "SELECT coalesce(sum(tokens), 0)::bigint, coalesce(sum(cost), 0), coalesce(sum(attached), 0)::bigint FROM agentd_spending " +
		"WHERE day = $1 AND ($2 = '' OR owner = $2) AND ($3 = '' OR tenant = $3)"
	if err := s.row(ctx, of.Owner+of.Tenant, query, []any{day, of.Owner, of.Tenant}, &sum.Tokens, &sum.Cost, &sum.Attached); err != nil {
		return runstore.Spent{Day: day}, s.failed("reading what was spent", err)
	}
	return sum, nil
}

func (s *Store) runs(ctx context.Context, query string, arguments ...any) (runs []runstore.Run, numbers []int64, err error) {
	err = s.rows(ctx, query, arguments, func(row pgx.CollectableRow) error {
		var run runstore.Run
		var number, created, updated, last, by int64
		var summary, decisions []byte
		if err := row.Scan(&number, &run.ID, &created, &updated, &last, &run.Head.Unfinished, &run.Head.Ended, &summary, &run.Head.Owner, &run.Head.Tenant, &run.Head.Parent, &decisions, &by, &run.Stalled); err != nil {
			return err
		}
		run.CreateTime, run.UpdateTime, run.LastSeq = time.Unix(0, created).UTC(), time.Unix(0, updated).UTC(), uint64(last)
		run.Head.SetDecisions(decisions, by)
		if len(summary) > 0 {
			run.Head.Summary = summary
		}
		runs, numbers = append(runs, run), append(numbers, number)
		return nil
	})
	return runs, numbers, err
}

// row reads one row, or returns pgx.ErrNoRows, also if no row can have the text.
func (s *Store) row(ctx context.Context, text, query string, arguments []any, into ...any) error {
	if !storable(text) {
		return pgx.ErrNoRows
	}
	return s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query, arguments...).Scan(into...)
	})
}

// rows calls see for each row. The connection belongs to the query until the last row.
func (s *Store) rows(ctx context.Context, query string, arguments []any, see func(pgx.CollectableRow) error) error {
	return s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, arguments...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := see(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

func (s *Store) reading(runID string, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return runstore.NotFound(runID)
	}
	return s.failed("reading run "+runID, err)
}
