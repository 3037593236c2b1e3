package callstore

import (
	"context"
	"database/sql"
	"errors"
)

// statements are the statements of the writer, compiled once on its connection. Transactions are
// statements too, because database/sql would compile all statements again in each transaction.
type statements struct {
	conn                         *sql.Conn
	begin, commitIt, rollback    *sql.Stmt
	insert, end, keep, forget    *sql.Stmt
	oldestCalls, dropCalls       *sql.Stmt
	oldestOutcomes, dropOutcomes *sql.Stmt
	setNewest                    *sql.Stmt
}

func newWriter(ctx context.Context, s *Store) (_ *writer, err error) {
	w := &writer{store: s, synced: true}
	if w.conn, err = s.db.Conn(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.release())
		}
	}()
	for text, into := range w.statements.texts() {
		if *into, err = w.conn.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
	}
	err = w.conn.QueryRowContext(ctx, `SELECT max((SELECT newest FROM ledger), ifnull((SELECT max(number) FROM calls), 0)),
		ifnull((SELECT max(place) FROM outcomes), 0), ifnull((SELECT sum(bytes) FROM outcomes), 0)`).Scan(&w.number, &w.place, &w.bytes)
	return w, err
}

func (st *statements) texts() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"BEGIN IMMEDIATE": &st.begin,
		"COMMIT":          &st.commitIt,
		"ROLLBACK":        &st.rollback,
		`INSERT INTO calls (number, hash, principal, session, id, sum, tool, plugin, begun, state)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`: &st.insert,
		`UPDATE calls SET state = ?, ended = ?, outcome = ?, plugin = CASE ? WHEN '' THEN plugin ELSE ? END, instance = ?, error = ?
			WHERE number = ? AND state = 0`: &st.end,
		"INSERT INTO outcomes (place, call, ended, bytes, data) VALUES (?, ?, ?, ?, ?)": &st.keep,
		"DELETE FROM calls WHERE number = ? AND state = 0":                              &st.forget,
		"SELECT number, hash, begun FROM calls ORDER BY number LIMIT ?":                 &st.oldestCalls,
		"DELETE FROM calls WHERE number <= ?":                                           &st.dropCalls,
		"SELECT place, bytes, ended FROM outcomes ORDER BY place LIMIT ?":               &st.oldestOutcomes,
		"DELETE FROM outcomes WHERE place <= ?":                                         &st.dropOutcomes,
		"UPDATE ledger SET newest = ?":                                                  &st.setNewest,
	}
}

// release closes the statements and returns their connection to its pool.
func (st *statements) release() error {
	var errs []error
	for _, stmt := range st.texts() {
		if *stmt != nil {
			errs = append(errs, (*stmt).Close())
		}
	}
	return errors.Join(append(errs, st.conn.Close())...)
}

func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
