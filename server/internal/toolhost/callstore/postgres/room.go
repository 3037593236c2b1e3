package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/shares"
)

// The writer bounds what the ledger keeps. It counts what it adds itself, and what other nodes have
// added now and then. So the bounds are exact for one node, and for several nodes up to what they
// add in the meantime.

// evictEvery is the shortest time between two removals of rows that are too old.
const evictEvery = time.Second

// maxEvict bounds the rows that one statement removes, so that no call waits long.
const maxEvict = 2 * maxGroup

// errLeft is why the writer skips a Begin. No caller gets it.
var errLeft = errors.New("its caller has left")

// count counts what the ledger has. A large ledger is counted rarely.
func (w *writer) count(ctx context.Context) error {
	begun := time.Now()
	w.countDue = begun.Add(countEvery) // also after an error
	owned, ids := callstore.NewHoldings(), 0
	rows, err := w.conn.Query(ctx, "SELECT principal, count(*) FROM toolhost_calls GROUP BY principal")
	if err != nil {
		return postgres.Error(err)
	}
	var principal string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&principal, &n}, func() error { owned.Add(principal, n); ids += n; return nil }); err != nil {
		return postgres.Error(err)
	}
	if err := w.conn.QueryRow(ctx, "SELECT coalesce(sum(octet_length(data)), 0) FROM toolhost_outcomes").Scan(&w.outcomes); err != nil {
		return postgres.Error(err)
	}
	w.owned = owned
	w.store.ids.Store(int64(ids))
	w.countDue = time.Now().Add(max(countEvery, 100*time.Since(begun)))
	return w.countArguments(ctx)
}

func (w *writer) countArguments(ctx context.Context) error {
	return postgres.Error(w.conn.QueryRow(ctx, "SELECT coalesce(sum(octet_length(arguments)), 0) FROM toolhost_calls WHERE arguments IS NOT NULL").Scan(&w.argumentBytes))
}

// admit returns the Begins for which the ledger has room. It sets op.refused of the others, and
// removes arguments for which there is no room.
func (w *writer) admit(ctx context.Context, ops []*op) (admitted []*op, err error) {
	changes, growth := callstore.NewHoldings(), 0
	var there *present // nil: not read yet
	bytesLeft, counted := w.store.cfg.ArgumentBytes()-w.argumentBytes, false
	for _, o := range ops {
		if why := w.store.Why(); why != nil {
			o.refused = why
			continue
		}
		if o.over.Load() {
			o.refused = errLeft
			continue
		}
		ids := 1 + len(o.closes) // that it adds, at most
		if w.full(o, ids, growth, changes) != nil {
			if there == nil {
				if there, err = w.look(ctx, ops); err != nil {
					return nil, err
				}
			}
			if ids, o.refused = there.lacks(o); o.refused == nil && ids > 0 {
				if full := w.full(o, ids, growth, changes); full != nil {
					full.Room = there.room
					o.refused = full
				}
			}
			if o.refused != nil {
				continue
			}
		}
		if len(o.entry.Arguments) > callstore.MaxArguments {
			o.entry.Arguments = nil
		}
		if int64(len(o.entry.Arguments)) > bytesLeft && !counted {
			if err := w.countArguments(ctx); err != nil {
				return nil, err
			}
			bytesLeft, counted = w.store.cfg.ArgumentBytes()-w.argumentBytes, true
			for _, earlier := range admitted {
				bytesLeft -= int64(len(earlier.entry.Arguments))
			}
		}
		if int64(len(o.entry.Arguments)) > bytesLeft {
			o.entry.Arguments = nil
		}
		bytesLeft -= int64(len(o.entry.Arguments))
		changes.Add(o.key.Principal, ids)
		growth += ids
		admitted = append(admitted, o)
	}
	return admitted, nil
}

// full returns why a Begin cannot add so many ids, without Room; nil: it can. growth and changes
// are what Begins before it add.
func (w *writer) full(o *op, ids, growth int, changes callstore.Holdings) *callstore.FullError {
	if all := int(w.store.ids.Load()) + growth; all+ids > w.store.cfg.MaxIDs {
		return &callstore.FullError{IDs: all}
	}
	if owner, has := w.owned.Full(o.key.Principal, ids, o.quota, changes); owner != "" {
		return &callstore.FullError{Owner: owner, IDs: has}
	}
	return nil
}

// present is what Begins need to know of a ledger that is full.
type present struct {
	calls map[callstore.Hash]held // that have the keys of the Begins and of what these supersede
	room  time.Time               // when the ledger forgets its oldest call
}

type held struct {
	state      callstore.Standing
	sum, token []byte
}

func (w *writer) look(ctx context.Context, ops []*op) (*present, error) {
	p := &present{calls: map[callstore.Hash]held{}}
	batch := &pgx.Batch{}
	var hashes [][]byte
	for _, o := range ops {
		for _, h := range append(slices.Clip(o.closes), o.hash) {
			hashes = append(hashes, h[:])
		}
	}
	batch.Queue("SELECT hash, state, sum, token FROM toolhost_calls WHERE hash = ANY($1)", hashes).Query(func(rows pgx.Rows) error {
		var hash []byte
		var h held
		_, err := pgx.ForEachRow(rows, []any{&hash, &h.state, &h.sum, &h.token}, func() error {
			p.calls[callstore.Hash(hash)] = held{h.state, bytes.Clone(h.sum), bytes.Clone(h.token)}
			return nil
		})
		return err
	})
	batch.Queue("SELECT coalesce(min(begun), 0) FROM toolhost_calls").QueryRow(func(row pgx.Row) error {
		var oldest int64
		err := row.Scan(&oldest)
		p.room = time.Unix(0, oldest).Add(w.store.memory.Load().keep)
		return err
	})
	return p, w.conn.SendBatch(ctx, batch).Close()
}

// lacks returns how many ids a Begin adds, and whether it is refused because its own id is taken.
func (p *present) lacks(o *op) (ids int, refused error) {
	for _, closed := range o.closes {
		if _, there := p.calls[closed]; !there {
			ids++
		}
	}
	switch h, taken := p.calls[o.hash]; {
	case !taken:
		return ids + 1, nil
	case h.state == callstore.StandsFree && bytes.Equal(h.sum, o.entry.Sum[:]) || bytes.Equal(h.token, o.token):
		return ids, nil
	}
	return 0, callstore.ErrTaken
}

// evict removes calls and outcomes that are too old or too many.
func (w *writer) evict(ctx context.Context) error {
	most, now := w.store.cfg.MaxBytes, w.store.Now()
	if w.outcomes > most-most/callstore.ResultShare {
		if err := w.evictLargest(ctx, most-most/callstore.ResultShare*3/2); err != nil {
			return w.broken(err)
		}
	}
	err := w.evictOld(ctx, now, &w.outcomesDue, w.store.cfg.KeepResults,
		"DELETE FROM toolhost_outcomes WHERE number IN (SELECT number FROM toolhost_outcomes WHERE ended <= $1 AND $3::bigint > 0 ORDER BY ended LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING ''",
		"SELECT min(ended) FROM toolhost_outcomes")
	if err == nil {
		// The statement uses keep_ids of the ledger, which all nodes share. A node with a shorter
		// keep_ids must not forget what other nodes promise to keep.
		err = w.evictOld(ctx, now, &w.callsDue, w.store.memory.Load().keep,
			`WITH old AS (
				SELECT number, begun FROM toolhost_calls WHERE begun <= (SELECT least($1::bigint, $3::bigint - keep_ids) FROM toolhost_ledger)
				ORDER BY begun LIMIT $2 FOR UPDATE SKIP LOCKED),
			noted AS (
				UPDATE toolhost_ledger SET forgotten = greatest(forgotten, (SELECT max(begun) FROM old)) WHERE EXISTS (SELECT FROM old))
			DELETE FROM toolhost_calls c USING old WHERE c.number = old.number RETURNING c.principal`,
			"SELECT min(begun) FROM toolhost_calls")
	}
	return w.broken(err)
}

// evictOld removes rows that are too old, and finds when the oldest of the others is. By the clock
// of the database, it does so once in evictEvery at most.
func (w *writer) evictOld(ctx context.Context, now time.Time, due *time.Time, keep time.Duration, remove, next string) error {
	if now.Before(*due) {
		return nil
	}
	var principals []string
	var oldest *int64
	batch := &pgx.Batch{}
	batch.Queue("SELECT set_config('synchronous_commit', 'off', true)")
	batch.Queue(remove, now.Add(-keep).UnixNano(), maxEvict, now.UnixNano()).Query(func(rows pgx.Rows) (err error) {
		principals, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	batch.Queue(next).QueryRow(func(row pgx.Row) error { return row.Scan(&oldest) })
	if err := w.conn.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	for _, principal := range principals {
		if principal != "" {
			w.own(principal, -1)
		}
	}
	switch {
	case len(principals) == maxEvict:
		*due = time.Time{}
	case oldest == nil:
		*due = now.Add(keep / 2) // what another node adds may be older than now
	default:
		*due = time.Unix(0, *oldest).Add(keep)
	}
	if w.store.cfg.Now == nil && due.Before(now.Add(evictEvery)) {
		*due = now.Add(evictEvery)
	}
	return nil
}

// evictLargest removes the oldest outcomes of the tenant that has the most bytes of them, until the
// ledger has at most so many bytes of outcomes. So a tenant with few outcomes keeps them while
// another one makes many calls.
func (w *writer) evictLargest(ctx context.Context, most int64) error {
	var kept shares.Shares
	w.outcomes = 0
	rows, err := w.conn.Query(ctx, "SELECT tenant, sum(octet_length(data)) FROM toolhost_outcomes GROUP BY tenant")
	if err != nil {
		return err
	}
	var tenant string
	var bytes int64
	if _, err := pgx.ForEachRow(rows, []any{&tenant, &bytes}, func() error { kept.Add(tenant, bytes); w.outcomes += bytes; return nil }); err != nil {
		return err
	}
	for w.outcomes > most {
		tenant := kept.Largest()
		rows, err := w.conn.Query(ctx, `DELETE FROM toolhost_outcomes WHERE number IN (
			SELECT number FROM (SELECT number, sum(octet_length(data)) OVER (ORDER BY place) - octet_length(data) AS before FROM toolhost_outcomes WHERE tenant = $1 ORDER BY place LIMIT $2) oldest
			WHERE before < $3) RETURNING octet_length(data)`, tenant, maxEvict, w.outcomes-most)
		if err != nil {
			return err
		}
		gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(gone) == 0 { // another node has removed them
			return err
		}
		for _, bytes := range gone {
			kept.Add(tenant, -bytes)
			w.outcomes -= bytes
		}
	}
	return nil
}
