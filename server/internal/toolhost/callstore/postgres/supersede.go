package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// closeCalls closes calls that a Begin of the same transaction supersedes. It locks their rows, so
// that none of them begins meanwhile. A closed call has no arguments, so no check settles it, and
// it is not free. It has another token, so no attempt of before that is repeated finds its row. One
// that is under way at another node may still end.
//
// closeCalls does not close a call that has an outcome of its tool, a call that is under way at
// this node, or a call whose tool said that it did not happen and that has begun again at a node
// that is not gone. A row may say that a call has begun at this node although the node does not
// have it under way. That call has reached no plugin: it was superseded before the node could undo
// its Begin.
const closeCalls = `INSERT INTO toolhost_calls AS c (hash, node, token, begun, state, ended, principal, tenant, session, id, sum, tool, plugin, error)
	SELECT g.hash, @node::bigint, @by::bytea || @token::bytea, @begun::bigint, 3, @begun::bigint, @principal::text, @tenant::text, @session::text, g.id, @sum::bytea, @tool::text, @plugin::text, @error::bytea
	FROM unnest(@hashes::bytea[], @ids::text[]) AS g (hash, id) ORDER BY g.hash
	ON CONFLICT (hash) DO UPDATE SET token = excluded.token, arguments = NULL,
		state = CASE WHEN ` + overHere + ` THEN 3 ELSE c.state END, error = CASE WHEN ` + overHere + ` THEN excluded.error ELSE c.error END,
		ended = CASE WHEN c.state = 0 AND c.node = @node THEN excluded.ended ELSE c.ended END
	WHERE c.state IN (3, 5) OR c.state = 0 AND CASE WHEN c.node = @node THEN c.hash <> ALL (@running::bytea[])
		ELSE c.verdict <> 2 OR EXISTS (SELECT FROM toolhost_nodes n WHERE n.node = c.node AND n.gone IS NOT NULL) END
	RETURNING c.xmax = 0`

// overHere is the condition that a call which may be closed is executed nowhere.
const overHere = "(c.state = 5 OR c.state = 0 AND c.node = @node)"

// lockAttempts is how often a Begin that supersedes calls waits for their rows, a tenth of a second
// each time. That is shorter than the time after which PostgreSQL looks for a deadlock.
const lockAttempts = 10

// supersede writes a Begin that supersedes calls, in a transaction of its own: all of it or none.
//
// It locks the rows in the order of their hashes, as all Begins do, so that two that supersede each
// other's calls do not wait for each other. An end or a forget of another node locks in another
// order, which could be a deadlock. So each attempt waits only briefly, and then releases its locks
// and begins again.
func (w *writer) supersede(ctx context.Context, o *op) (synced bool, err error) {
	for range lockAttempts {
		if synced, err = w.trySupersede(ctx, o); !errors.Is(err, postgres.ErrTimeout) || w.conn == nil {
			break
		}
	}
	return synced, err
}

func (w *writer) trySupersede(ctx context.Context, o *op) (synced bool, err error) {
	tx, err := w.conn.Begin(ctx)
	if err != nil {
		return false, w.broken(err)
	}
	var earlier bool // an earlier attempt, whose answer was lost, has written it; a late end may have replaced a closed call since
	var after []func()
	batch := &pgx.Batch{}
	batch.Queue("SET LOCAL lock_timeout = '100ms'")
	batch.Queue("SELECT EXISTS (SELECT FROM toolhost_calls WHERE hash = $1 AND token = $2)", o.hash[:], o.token).QueryRow(func(row pgx.Row) error { return row.Scan(&earlier) })
	closes := slices.SortedFunc(slices.Values(o.closings()), func(a, b closing) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	at, _ := slices.BinarySearchFunc(closes, o.hash, func(c closing, h callstore.Hash) int { return bytes.Compare(c.hash[:], h[:]) })
	var closed closed
	w.queueClosings(batch, o, closes[:at], &closed)
	begun := w.queueBegins(batch, []*op{o}, &after)
	w.queueClosings(batch, o, closes[at:], &closed)
	err = tx.SendBatch(ctx, batch).Close()
	begins := err == nil && begun[o.hash] != 0
	if !begins || !earlier && closed.rows < len(closes) {
		if undone := tx.Rollback(ctx); err == nil {
			err = undone
		}
		switch {
		case err != nil:
			return false, w.broken(err)
		case begins:
			o.refused = callstore.ErrSuperseding
		default:
			after[0]()
		}
		return false, nil
	}
	if err = tx.Commit(ctx); err == nil {
		err = postgres.Confirmed(w.conn)
	}
	if err != nil {
		return false, w.broken(err)
	}
	w.unsynced = nil
	after[0]()
	w.own(o.key.Principal, closed.added)
	w.store.beaten.Store(new(time.Now()))
	return true, nil
}

// closing is a call that a Begin supersedes.
type closing struct {
	hash callstore.Hash
	id   string
}

func (o *op) closings() []closing {
	closings := make([]closing, len(o.closes))
	for i, hash := range o.closes {
		closings[i] = closing{hash, o.entry.Supersedes[i]}
	}
	return closings
}

// closed counts the rows of closed calls, and those of them that were not there before.
type closed struct{ rows, added int }

func (w *writer) queueClosings(batch *pgx.Batch, o *op, closings []closing, done *closed) {
	if len(closings) == 0 {
		return
	}
	hashes, ids, running := make([][]byte, len(closings)), make([]string, len(closings)), [][]byte{}
	for i := range closings {
		hashes[i], ids[i] = closings[i].hash[:], closings[i].id
		if _, is := w.begun[closings[i].hash]; is {
			running = append(running, hashes[i])
		}
	}
	e := &o.entry
	batch.Queue(closeCalls, pgx.NamedArgs{
		"node": w.store.node, "by": o.hash[:], "token": o.token, "begun": e.Begun.UnixNano(), "principal": e.Principal, "tenant": identity.TenantOf(e.Principal),
		"session": e.Session, "sum": e.Sum[:], "tool": e.Tool, "plugin": e.Plugin, "error": callstore.Closing(e.ID).Short, "hashes": hashes, "ids": ids, "running": running,
	}).Query(func(rows pgx.Rows) error {
		var added bool
		_, err := pgx.ForEachRow(rows, []any{&added}, func() error {
			if done.rows++; added {
				done.added++
			}
			return nil
		})
		return err
	})
}
