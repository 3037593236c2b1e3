package sqlite

import (
	"context"
	"database/sql"
)

// Statements are prepared once, because parsing took a third of an append. database/sql prepares a
// statement again only on a new connection.

// writes are the statements of the write loop.
type writes struct {
	find, create, advance, record, cut, keep *sql.Stmt
}

func (w *writes) texts() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"SELECT number, last_seq FROM runs WHERE id = ?":                                                   &w.find,
		"INSERT INTO runs (id, created, updated, last_seq, unfinished, summary) VALUES (?, ?, ?, ?, ?, ?)": &w.create,
		"UPDATE runs SET updated = ?, last_seq = ?, unfinished = ?, summary = ? WHERE number = ?":          &w.advance,
		"INSERT INTO records (run, seq, time, type, version, data) VALUES (?, ?, ?, ?, ?, ?)":              &w.record,
		"DELETE FROM snapshots WHERE run = ? AND (part > ? OR part = 0)":                                   &w.cut,
		"INSERT INTO snapshots (run, part, data) VALUES (?, ?, ?)":                                         &w.keep,
	}
}

// in returns the statements for use in a transaction.
func (w *writes) in(ctx context.Context, tx *sql.Tx) *writes {
	return &writes{
		find: tx.StmtContext(ctx, w.find), create: tx.StmtContext(ctx, w.create), advance: tx.StmtContext(ctx, w.advance),
		record: tx.StmtContext(ctx, w.record), cut: tx.StmtContext(ctx, w.cut), keep: tx.StmtContext(ctx, w.keep),
	}
}

// reads are the statements of the readers.
type reads struct {
	number, page, snapshot, get, list, unfinished *sql.Stmt
}

const runColumns = "id, created, updated, last_seq, unfinished, summary"

func (r *reads) texts() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"SELECT number FROM runs WHERE id = ?": &r.number,
		"SELECT seq, time, type, version, data FROM records WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?":    &r.page,
		"SELECT part, data FROM runs LEFT JOIN snapshots ON run = number WHERE id = ? ORDER BY part":           &r.snapshot,
		"SELECT " + runColumns + " FROM runs WHERE id = ?":                                                     &r.get,
		"SELECT " + runColumns + " FROM runs WHERE number < ? ORDER BY number DESC LIMIT ?":                    &r.list,
		"SELECT " + runColumns + " FROM runs WHERE number < ? AND unfinished = 1 ORDER BY number DESC LIMIT ?": &r.unfinished,
	}
}

// prepareAll prepares statements. Closing db closes them.
func prepareAll(ctx context.Context, db *sql.DB, texts map[string]**sql.Stmt) error {
	for text, into := range texts {
		var err error
		if *into, err = db.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
