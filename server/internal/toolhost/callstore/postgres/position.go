package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Position is a place in the history of a database: the server, its timeline, which changes with
// each failover and each restore to a point in time, and how many bytes of log it has written.
// Within one history, positions only grow.
type Position struct {
	System   string // the same for a server and its standbys
	Timeline uint32
	Bytes    int64
}

// String returns the form SYSTEM/TIMELINE/BYTES.
func (p Position) String() string { return fmt.Sprintf("%s/%d/%d", p.System, p.Timeline, p.Bytes) }

// ParsePosition parses the form of String. The empty text is the zero value, which is before all
// others.
func ParsePosition(text string) (Position, error) {
	if text == "" {
		return Position{}, nil
	}
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] == "" {
		return Position{}, fmt.Errorf("%.60q is no position of a database", text)
	}
	timeline, err := strconv.ParseUint(parts[1], 10, 32)
	bytes, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return Position{}, fmt.Errorf("%.60q is no position of a database: %w", text, err)
	}
	return Position{parts[0], uint32(timeline), bytes}, nil
}

// Follows reports whether a database at p may have all that one at before had. It has not if it is
// a server from before a failover, a standby that was promoted without the last commits, an older
// copy of the files, or another server.
func (p Position) Follows(before Position) bool {
	return before == Position{} || p.System == before.System && p.Timeline >= before.Timeline && p.Bytes >= before.Bytes
}

const (
	// mayLocate reports whether the role may ask for the position. Any role may, unless the functions
	// were taken from it.
	mayLocate = `SELECT bool_and(coalesce(has_function_privilege(to_regprocedure(name)::oid, 'EXECUTE'), false))
	FROM unnest(ARRAY['pg_control_system()', 'pg_current_wal_insert_lsn()', 'pg_walfile_name(pg_lsn)']) AS name`
	systemOf = "SELECT system_identifier::text FROM pg_control_system()"
	// position returns the first eight hexadecimal digits of the name of the present file of the log,
	// which are the timeline, and the position. A control file, too, has the timeline, but that of the
	// last checkpoint.
	position = "SELECT left(pg_walfile_name(at), 8), (at - '0/0')::bigint FROM pg_current_wal_insert_lsn() AS at"
)

// Position returns the newest position that the database is known to have reached, as of the last
// second: all that this node was told before that was written before it. It is zero in the first
// second, and if the role of this program may not ask.
func (s *Store) Position() Position {
	if p := s.reached.Load(); p != nil {
		return *p
	}
	return Position{}
}

// checkHistory ends this node if the database is not the continuation of the one that it knows: to
// execute an id that was lost would be a second time. It compares the position, and the newest call
// of each node at the last census: the position of a standby that was promoted without the last
// commits passes the known one soon, as it writes.
func (w *writer) checkHistory(ctx context.Context) error {
	p, err := w.locate(ctx)
	if err != nil {
		return err
	}
	known := w.store.Position()
	w.located = p
	if p != (Position{}) && !p.Follows(known) {
		w.store.log.Error("the database is not the one of before, or an older one", "position", p.String(), "known", known.String())
		return w.lose(ctx, p.System == known.System)
	}
	if w.newest == 0 && len(w.seen) == 0 {
		return nil
	}
	newest, err := w.readNewest(ctx)
	if err != nil {
		return err
	}
	own, here := newest[w.store.node]
	if !here && w.newest > 0 {
		var removed int64
		if err := w.conn.QueryRow(ctx, "SELECT "+pruned).Scan(&removed); err != nil {
			return postgres.Error(err)
		}
		if removed >= w.newest { // it was gone for so long that its row was removed
			w.end(ErrGone)
			return nil
		}
	}
	lost := own < w.newest
	for node, was := range w.seen {
		now, there := newest[node]
		lost = lost || there && now < was // a row that is not there may have been removed
	}
	if lost {
		return w.lose(ctx, true)
	}
	return nil
}

// readNewest returns the number of the newest call of each node.
func (w *writer) readNewest(ctx context.Context) (map[int64]int64, error) {
	rows, err := w.conn.Query(ctx, "SELECT node, newest FROM toolhost_beats")
	if err != nil {
		return nil, postgres.Error(err)
	}
	newest := map[int64]int64{}
	var node, number int64
	_, err = pgx.ForEachRow(rows, []any{&node, &number}, func() error { newest[node] = number; return nil })
	return newest, postgres.Error(err)
}

// lose ends this node, whose calls that are under way still end. It gives the ledger another id, if
// the database is to have one, so that a call that was first sent under the former one is not
// executed under this one: see docs/adr/0029-restored-ledgers.md. The other nodes
// end when they see the id. Former ids go, too: calls under them may be lost as well.
func (w *writer) lose(ctx context.Context, renew bool) error {
	w.end(ErrLost)
	if !renew {
		return nil
	}
	_, err := w.conn.Exec(ctx, "UPDATE toolhost_ledger SET id = replace(gen_random_uuid()::text, '-', ''), former = '{}' WHERE id = $1", w.store.id)
	return postgres.Error(err)
}

// queuePosition reads the position in a transaction that then waits for its commit.
func (w *writer) queuePosition(batch *pgx.Batch, after *[]func()) {
	if w.system == "" {
		return
	}
	p := Position{System: w.system}
	batch.Queue(position).QueryRow(func(row pgx.Row) error {
		var timeline string
		err := row.Scan(&timeline, &p.Bytes)
		if err == nil {
			p.Timeline, err = timelineOf(timeline)
		}
		return err
	})
	*after = append(*after, func() { w.reach(p) })
}

// locate reads the position of the database after a connect.
func (w *writer) locate(ctx context.Context) (p Position, err error) {
	var may bool
	if err := w.conn.QueryRow(ctx, mayLocate).Scan(&may); err != nil {
		return p, postgres.Error(err)
	}
	w.system = ""
	if !may {
		return p, nil
	}
	var timeline string
	err = w.conn.QueryRow(ctx, systemOf).Scan(&w.system)
	if err == nil {
		err = w.conn.QueryRow(ctx, position).Scan(&timeline, &p.Bytes)
	}
	if err != nil {
		return Position{}, postgres.Error(err)
	}
	p.System = w.system
	p.Timeline, err = timelineOf(timeline)
	return p, err
}

func timelineOf(digits string) (uint32, error) {
	n, err := strconv.ParseUint(digits, 16, 32)
	return uint32(n), err
}

// reach notes a position that a commit which waited has passed: so a standby that counts has it.
func (w *writer) reach(p Position) {
	if p == (Position{}) || !p.Follows(w.store.Position()) {
		return
	}
	w.store.reached.Store(&p)
	if w.store.cfg.Reached != nil {
		w.store.cfg.Reached(p)
	}
}
