package sqlite

import (
	"context"
	"database/sql"
)

// Statements are prepared once, because parsing took a third of an append. database/sql prepares a
// statement again only on a new connection.

// writes are the statements of the write loop.
type writes struct {
	find, create, advance, record, cut, keep, spend, content, decide *sql.Stmt
	wasDeleted, child, clear, remove, note                           *sql.Stmt
	tell, take, delay, told, expire, trim                            *sql.Stmt
}

func (w *writes) texts() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"SELECT number, last_seq FROM runs WHERE id = ?": &w.find,
		"INSERT INTO runs (id, created, updated, last_seq, unfinished, ended, summary, owner, tenant, parent, decisions, decide_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)": &w.create,
		"UPDATE runs SET updated = ?, last_seq = ?, unfinished = ?, ended = ?, summary = ?, decisions = ?, decide_by = ? WHERE number = ?":                                       &w.advance,
		"INSERT INTO records (run, seq, time, type, version, data) VALUES (?, ?, ?, ?, ?, ?)":                                                                                    &w.record,
		"DELETE FROM snapshots WHERE run = ? AND (part > ? OR part = 0)":                                                                                                         &w.cut,
		"INSERT INTO spending (day, owner, tenant, tokens, cost, attached) SELECT ?, owner, tenant, ?, ?, ? FROM runs WHERE number = ? " +
			"ON CONFLICT (day, owner) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost, attached = attached + excluded.attached": &w.spend,
		"INSERT INTO snapshots (run, part, data) VALUES (?, ?, ?)":                     &w.keep,
		"INSERT OR IGNORE INTO contents (run, digest, part, data) VALUES (?, ?, ?, ?)": &w.content,
		"INSERT INTO verdicts (principal, run, data) VALUES (?, ?, ?)":                 &w.decide,
		"SELECT 1 FROM deleted WHERE id = ?":                                           &w.wasDeleted,
		"SELECT id FROM runs WHERE parent = ?":                                         &w.child,
		"DELETE FROM records WHERE run = ?":                                            &w.clear,
		"DELETE FROM runs WHERE number = ?":                                            &w.remove, // triggers delete its snapshot, its contents and its verdicts
		"INSERT INTO deleted (id, deleted) VALUES (?, ?)":                              &w.note,
		"INSERT OR IGNORE INTO outbox (id, kind, run, seq, decision, target, created, due, until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)":                                                 &w.tell,
		"UPDATE outbox SET due = ?3, attempts = attempts + 1 WHERE id = (SELECT id FROM outbox WHERE target = ?1 AND due <= ?2 ORDER BY due, id LIMIT 1) RETURNING " + messageColumns: &w.take,
		"UPDATE outbox SET due = ? WHERE id = ?": &w.delay,
		"DELETE FROM outbox WHERE id = ?":        &w.told,
		"DELETE FROM outbox WHERE until <= ?":    &w.expire,
		"DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY until DESC, id DESC LIMIT -1 OFFSET ?)": &w.trim,
	}
}

// in returns the statements for use in a transaction.
func (w *writes) in(ctx context.Context, tx *sql.Tx) *writes {
	return &writes{
		find: tx.StmtContext(ctx, w.find), create: tx.StmtContext(ctx, w.create), advance: tx.StmtContext(ctx, w.advance),
		record: tx.StmtContext(ctx, w.record), cut: tx.StmtContext(ctx, w.cut), keep: tx.StmtContext(ctx, w.keep), spend: tx.StmtContext(ctx, w.spend), content: tx.StmtContext(ctx, w.content), decide: tx.StmtContext(ctx, w.decide),
		wasDeleted: tx.StmtContext(ctx, w.wasDeleted), child: tx.StmtContext(ctx, w.child), clear: tx.StmtContext(ctx, w.clear), remove: tx.StmtContext(ctx, w.remove), note: tx.StmtContext(ctx, w.note),
		tell: tx.StmtContext(ctx, w.tell), take: tx.StmtContext(ctx, w.take), delay: tx.StmtContext(ctx, w.delay), told: tx.StmtContext(ctx, w.told), expire: tx.StmtContext(ctx, w.expire), trim: tx.StmtContext(ctx, w.trim),
	}
}

// reads are the statements of the readers.
type reads struct {
	number, page, snapshot, get, list, unfinished, open, owned, tenant, parent, spent, content, waiting, changed, position, verdicts *sql.Stmt
}

const runColumns = "id, created, updated, last_seq, unfinished, ended, summary, owner, tenant, parent, decisions, decide_by"

const messageColumns = "id, kind, run, seq, decision, target, created, due, until, attempts"

// others are conditions of a query that uses the index of another one.
const others = " AND (?3 = '' OR parent = ?3) AND (?4 = '' OR owner = ?4) AND (?5 = '' OR tenant = ?5) AND (NOT ?6 OR unfinished = 1) AND (NOT ?7 OR ended = 0)"

func (r *reads) texts() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"SELECT number FROM runs WHERE id = ?": &r.number,
		"SELECT ifnull(sum(tokens), 0), ifnull(sum(cost), 0.0), ifnull(sum(attached), 0) FROM spending WHERE day = ?1 AND (?2 = '' OR owner = ?2) AND (?3 = '' OR tenant = ?3)":                                 &r.spent,
		"SELECT seq, time, type, version, data FROM records WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?":                                                                                                     &r.page,
		"SELECT part, data FROM runs LEFT JOIN snapshots ON run = number WHERE id = ? ORDER BY part":                                                                                                            &r.snapshot,
		"SELECT data FROM runs JOIN contents ON run = number WHERE id = ? AND digest = ? ORDER BY part":                                                                                                         &r.content,
		"SELECT " + runColumns + " FROM runs WHERE id = ?":                                                                                                                                                      &r.get,
		"SELECT " + runColumns + " FROM runs WHERE number < ? ORDER BY number DESC LIMIT ?":                                                                                                                     &r.list,
		"SELECT " + runColumns + " FROM runs WHERE number < ? AND unfinished = 1 ORDER BY number DESC LIMIT ?":                                                                                                  &r.unfinished,
		"SELECT " + runColumns + " FROM runs WHERE ended = 0 AND number < ?1" + others + " ORDER BY number DESC LIMIT ?2":                                                                                       &r.open,
		"SELECT " + runColumns + " FROM runs WHERE owner = ? AND number < ? ORDER BY number DESC LIMIT ?":                                                                                                       &r.owned,
		"SELECT " + runColumns + " FROM runs WHERE parent = ?3 AND number < ?1" + others + " ORDER BY number DESC LIMIT ?2":                                                                                     &r.parent,
		"SELECT " + runColumns + " FROM runs WHERE tenant = ? AND number < ? ORDER BY number DESC LIMIT ?":                                                                                                      &r.tenant,
		"SELECT " + runColumns + ", number FROM runs WHERE decisions IS NOT NULL AND (decide_by, number) > (?, ?) AND (?3 = '' OR owner = ?3) AND (?4 = '' OR tenant = ?4) ORDER BY decide_by, number LIMIT ?5": &r.waiting,
		"SELECT " + runColumns + ", changed FROM runs WHERE changed > 0 AND changed > ?1 AND changed <= ?2 AND (?3 = '' OR owner = ?3) AND (?4 = '' OR tenant = ?4) ORDER BY changed LIMIT ?5":                  &r.changed,
		"SELECT last FROM changes": &r.position,
		"SELECT principal, data, runs.id, runs.owner, verdicts.number FROM verdicts JOIN runs ON run = runs.number WHERE principal = ? AND verdicts.number < ? ORDER BY verdicts.number DESC LIMIT ?": &r.verdicts,
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
