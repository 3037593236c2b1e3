package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Node describes this toolhost to the others.
type Node struct {
	Name string // of the machine, for people
	// Folder is the id of the state folder, which a copy of the folder must not have. The caller holds
	// the lock of the folder. Required.
	Folder string
	// Boot is what identifies the start of the machine and where its processes can be seen. A tool is
	// asked about the calls of a node only at one with the same Folder and Boot.
	Boot string
	// Number is the number of this node, which no other one has; 0: a random one.
	Number int64
	// Ended are the numbers of earlier nodes of the folder whose processes are gone.
	Ended []int64
	// Left returns an error if processes of this node may be left when the store closes. Nil: none
	// are.
	Left    func() error
	Version string // of the program, for people
	// Address is where other toolhosts reach this one. Empty: nowhere.
	Address string
}

// enter connects and records this process as a node. Before that, it reads what the methods of
// Store return about the database as it was at Open.
func (w *writer) enter(ctx context.Context) error {
	s := w.store
	if s.node = s.cfg.Node.Number; s.node == 0 {
		s.node = rand.Int64()
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	if err := w.compareFolder(ctx); err != nil {
		return err
	}
	err := w.conn.QueryRow(ctx, "UPDATE toolhost_ledger SET keep_ids = greatest(keep_ids, $1) RETURNING id", int64(s.cfg.KeepIDs)).Scan(&s.id)
	if err != nil {
		return postgres.Error(err)
	}
	if err := w.readClock(ctx); err != nil { // again, with this id and keep_ids
		return err
	}
	if s.cfg.Newest > 0 && s.cfg.NotedBy != "" && !s.Is(s.cfg.Ledger) {
		// If Settle accepts that the ledger is another one, that of before may come back.
		s.cfg.Earlier = append(slices.Clip(s.cfg.Earlier), Former{ID: s.cfg.Ledger, Newest: s.cfg.Newest, Folder: s.cfg.NotedBy})
	}
	if s.cfg.Settle != nil {
		if err := s.cfg.Settle(s); err != nil {
			return err
		}
	}
	arguments := s.arguments()
	arguments["name"], arguments["now"], arguments["address"] = s.cfg.Node.Name, s.Now().UnixNano(), s.cfg.Node.Address
	arguments["ended"], arguments["version"] = s.cfg.Node.Ended, s.cfg.Node.Version
	// Three statements, because one would not see what the others change.
	batch := &pgx.Batch{}
	batch.Queue("INSERT INTO toolhost_nodes (node, name, folder, boot, started, address, version) VALUES (@node, @name, @folder, @boot, @now, @address, @version)", arguments)
	batch.Queue("INSERT INTO toolhost_beats (node) VALUES (@node)", arguments)
	batch.Queue("UPDATE toolhost_nodes SET gone = @now, why = 'a later toolhost has its state folder' WHERE folder = @folder AND node = ANY(@ended::bigint[]) AND gone IS NULL", arguments)
	if err := w.conn.SendBatch(ctx, batch).Close(); err != nil {
		return postgres.Error(err)
	}
	s.beaten.Store(new(time.Now()))
	if err := w.warn(ctx); err != nil {
		return err
	}
	return w.count(ctx)
}

// warn says which earlier nodes of the state folder are not proven to be gone, such as after a new
// start of the machine or of a container.
func (w *writer) warn(ctx context.Context) error {
	const query = "SELECT node, coalesce(o.calls, 0) FROM toolhost_nodes n LEFT JOIN " + openCalls + " o USING (node) WHERE folder = @folder AND node <> @node AND gone IS NULL"
	rows, err := w.conn.Query(ctx, query, w.store.arguments())
	if err != nil {
		return postgres.Error(err)
	}
	var node int64
	var calls int
	_, err = pgx.ForEachRow(rows, []any{&node, &calls}, func() error {
		w.store.log.Warn("an earlier toolhost of this state folder is not proven to be gone, because its processes cannot be seen from here; its calls stay under way; "+
			"if nothing of it can run any more, say so with `toolhost nodes gone`", "node", idOf(node), "calls", calls)
		return nil
	})
	return postgres.Error(err)
}

// errFolder says that another session has the lock of the state folder.
var errFolder = errors.New("another toolhost has a copy of this state folder and uses the database; give each toolhost a state folder of its own")

// connect makes the session, which holds the advisory lock of the state folder. So a second
// toolhost with a copy of the folder cannot connect, and cannot declare the nodes of the first one
// gone.
func (w *writer) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sessionTime)
	defer cancel()
	conn, err := w.store.db.Session(ctx)
	if err != nil {
		return err
	}
	w.conn = conn
	key := fnv.New64a()
	_, _ = key.Write([]byte("toolhost folder " + w.store.cfg.Node.Folder)) // never fails
	// The server may not have noticed the end of an earlier session, which still holds the lock.
	// lock_timeout bounds the wait for it.
	_, err = conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(key.Sum64()))
	if err = postgres.Error(err); errors.Is(err, postgres.ErrTimeout) {
		err = fmt.Errorf("%w: %w", errFolder, err)
	}
	if err == nil {
		err = w.readClock(ctx)
	}
	if err == nil {
		err = w.checkHistory(ctx)
	}
	if err != nil {
		w.disconnect()
	}
	return err
}

// pruned is the number of the newest call of all nodes whose rows were removed. The tables of the
// version before lack the column. That version removes no rows, so the number is 0.
const pruned = "(SELECT coalesce((to_jsonb(l)->>'pruned')::bigint, 0) FROM toolhost_ledger l)"

// lostIDs is the list of Former of the ledger. Tables of the version before have none.
const lostIDs = "(SELECT coalesce(to_jsonb(l)->'lost', '[]') FROM toolhost_ledger l)"

// readClock reads the clock of the database, the ids of the ledger, and how long the ledger
// remembers ids. The clock is wrong by at most half the time that the query takes. If the ledger
// does not have the id that this node knows, readClock ends this node.
func (w *writer) readClock(ctx context.Context) error {
	asked := time.Now()
	var there time.Time
	var keep, forgotten int64
	var ids []string
	var lost []Former
	if err := w.conn.QueryRow(ctx, "SELECT clock_timestamp(), former || id, "+lostIDs+", keep_ids, forgotten FROM toolhost_ledger").Scan(&there, &ids, &lost, &keep, &forgotten); err != nil {
		return postgres.Error(err)
	}
	w.store.clock.Store(&reading{there.UTC(), asked.Add(time.Since(asked) / 2)})
	if w.store.id != "" && !slices.Contains(ids, w.store.id) { // a node has found a loss, see renew, or the database is an older copy
		w.end(ErrLost)
		return w.compareEarlier(ctx, w.store.Earlier(), ids)
	}
	w.store.memory.Store(&memory{ids, lost, time.Duration(keep), time.Unix(0, forgotten)})
	return nil
}

// disconnect ends the session. The ends that are not on the disk of the database, as far as this
// node knows, are owed again: the database may have crashed.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionTime)
	defer cancel()
	_ = w.conn.Close(ctx) // the server ends the session in any case
	select {
	case <-w.conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
	w.conn, w.counts, w.described = nil, nil, nil
	w.owed = append(w.unsynced, w.owed...)
	w.unsynced = nil
}

// leave records that this node is gone: it says so itself, after all of its plugins have ended.
func (w *writer) leave() {
	if left := w.store.cfg.Node.Left; left != nil && w.known[w.store.node] != 0 { // otherwise no plugin got a call
		if err := left(); err != nil {
			w.store.log.Warn("processes of plugins may be left; this toolhost is not known to be gone", "error", err)
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionTime)
	defer cancel()
	_ = w.noteAudit(ctx) // what is missing is compared with an earlier end
	_, _ = w.conn.Exec(ctx, "UPDATE toolhost_nodes SET gone = $2, why = 'it was stopped' WHERE node = $1 AND gone IS NULL", w.store.node, w.store.Now().UnixNano())
}
