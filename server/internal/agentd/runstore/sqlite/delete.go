package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// delete deletes runs. It checks all of them before it writes.
func (w *writes) delete(ctx context.Context, d *runstore.Deletion) error {
	numbers := make(map[string]int64, len(d.Last))
	for id, known := range d.Last {
		var number int64
		var last uint64
		err := w.find.QueryRowContext(ctx, id).Scan(&number, &last)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return runstore.NotFound(id)
		case err != nil:
			return err
		case last != known:
			return runstore.Moved(id, known, last)
		}
		if err := w.checkSubRuns(ctx, id, d); err != nil {
			return err
		}
		numbers[id] = number
	}
	for id, number := range numbers {
		for _, statement := range []*sql.Stmt{w.clear, w.remove} {
			if _, err := statement.ExecContext(ctx, number); err != nil {
				return err
			}
		}
		if _, err := w.note.ExecContext(ctx, id, d.Time.UnixNano()); err != nil {
			return err
		}
	}
	return nil
}

// checkSubRuns returns an ErrConflict if a run has a sub-run that is not deleted with it.
func (w *writes) checkSubRuns(ctx context.Context, id string, d *runstore.Deletion) error {
	rows, err := w.child.QueryContext(ctx, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var child string
		if err := rows.Scan(&child); err != nil {
			return err
		}
		if _, also := d.Last[child]; !also {
			return runstore.HasSubRun(id, child)
		}
	}
	return rows.Err()
}
