package callstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/toolhost/toolhost/internal/identity"
)

// statements are the statements of the writer, compiled once on its connection. Transactions are
// statements too, because database/sql would compile all statements again in each transaction.
type statements struct {
	conn                         *sql.Conn
	begin, commitIt, rollback    *sql.Stmt
	insert, end, keep, forget    *sql.Stmt
	free, dropFree, unsettled    *sql.Stmt
	note, setFree, happened      *sql.Stmt
	oldestCalls, dropCalls       *sql.Stmt
	oldestOutcomes, dropOutcomes *sql.Stmt
	tenantOutcomes, dropOutcome  *sql.Stmt
	setNewest                    *sql.Stmt
	standing, close, closed      *sql.Stmt
}

func newWriter(ctx context.Context, s *Store) (_ *writer, err error) {
	w := &writer{store: s, synced: true, passed: map[string]int64{}, arguments: map[int64]int64{}}
	// before the writer takes the only connection
	if w.owned, err = loadHoldings(ctx, s.db); err != nil {
		return nil, err
	}
	if err := w.loadKept(ctx, s.db); err != nil {
		return nil, err
	}
	if err := w.loadArguments(ctx, s.db); err != nil {
		return nil, err
	}
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
		`INSERT INTO calls (number, hash, principal, session, id, sum, tool, plugin, begun, state, arguments, verdict, reason, effect_key)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)`: &st.insert,
		`UPDATE calls SET state = ?, ended = ?, outcome = ?, plugin = CASE ? WHEN '' THEN plugin ELSE ? END, instance = ?, error = ?,
			arguments = CASE WHEN ? THEN arguments END WHERE number = ? AND state = 0`: &st.end,
		"SELECT sum, verdict, reason FROM calls WHERE number = ? AND state = 5": &st.free,
		"DELETE FROM calls WHERE number = ? AND state = 5":                      &st.dropFree,
		`SELECT ifnull(o.place, 0), ifnull(o.bytes, 0) FROM calls c LEFT JOIN outcomes o ON o.place = c.outcome AND o.call = c.number
			WHERE c.number = ? AND c.state IN (3, 4) AND c.arguments IS NOT NULL`: &st.unsettled,
		"UPDATE calls SET verdict = ?, reason = ? WHERE number = ?":                                                     &st.note,
		`UPDATE calls SET verdict = ?, reason = ?, state = 5, ended = ?, outcome = NULL, error = NULL WHERE number = ?`: &st.setFree,
		`UPDATE calls SET verdict = ?, reason = ?, state = ?, ended = ?, outcome = ?, plugin = CASE ? WHEN '' THEN plugin ELSE ? END, instance = ?,
			error = ?, arguments = NULL WHERE number = ?`: &st.happened,
		"INSERT INTO outcomes (place, call, ended, bytes, data) VALUES (?, ?, ?, ?, ?)": &st.keep,
		"DELETE FROM calls WHERE number = ? AND state = 0":                              &st.forget,
		`SELECT number, hash, begun, principal, ifnull((SELECT bytes FROM outcomes WHERE place = calls.outcome), 0)
			FROM calls ORDER BY number LIMIT ?`: &st.oldestCalls,
		"DELETE FROM calls WHERE number <= ?": &st.dropCalls,
		"SELECT o.place, o.bytes, o.ended, " + tenantOfOutcome + outcomesWithCalls + " ORDER BY o.place LIMIT ?":                                                   &st.oldestOutcomes,
		"SELECT o.place, o.bytes, o.ended, " + tenantOfOutcome + outcomesWithCalls + " WHERE o.place > ? AND " + tenantOfOutcome + " = ? ORDER BY o.place LIMIT ?": &st.tenantOutcomes,
		"DELETE FROM outcomes WHERE place <= ?":    &st.dropOutcomes,
		"DELETE FROM outcomes WHERE place = ?":     &st.dropOutcome,
		"UPDATE ledger SET newest = ?":             &st.setNewest,
		"SELECT state FROM calls WHERE number = ?": &st.standing,
		"UPDATE calls SET arguments = NULL, error = CASE state WHEN 5 THEN ? ELSE error END, state = CASE state WHEN 5 THEN 3 ELSE state END WHERE number = ?": &st.close,
		`INSERT INTO calls (number, hash, principal, session, id, sum, tool, plugin, begun, ended, state, error)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 3, ?)`: &st.closed,
	}
}

// The tenant of an outcome o is that of the principal of its call c: the text before the slash of
// its key, see identity.TenantOf. It is empty if the call was removed.
const (
	outcomesWithCalls = " FROM outcomes o LEFT JOIN calls c ON c.number = o.call"
	tenantOfOutcome   = "CASE WHEN c.principal IS NULL THEN '' WHEN instr(c.principal, '/') = 0 THEN '" + identity.DefaultTenant +
		"' ELSE substr(c.principal, 1, instr(c.principal, '/') - 1) END"
)

// loadKept counts the bytes of the outcomes in the file.
func (w *writer) loadKept(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SELECT "+tenantOfOutcome+" AS tenant, sum(o.bytes)"+outcomesWithCalls+" GROUP BY tenant")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var tenant string
		var bytes int64
		if err := rows.Scan(&tenant, &bytes); err != nil {
			return err
		}
		w.kept.Add(tenant, bytes)
	}
	return rows.Err()
}

// loadArguments counts the bytes of the arguments in the file.
func (w *writer) loadArguments(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SELECT number, length(arguments) FROM calls INDEXED BY calls_arguments WHERE arguments IS NOT NULL")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number, bytes int64
		if err := rows.Scan(&number, &bytes); err != nil {
			return err
		}
		w.arguments[number] = bytes
		w.argumentBytes += bytes
	}
	return rows.Err()
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
