package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// A database may lose commits: by a failover to a standby that does not have them, by an older copy
// of its files, or because the server from before a failover is back. A call that it has lost would
// be executed a second time, if its id is repeated.
//
// Each node remembers the newest call of each node, and compares it when it connects, before its
// next begin. A later start compares what the state folder has noted, see Config.Newest. The
// position in the log of the database does not show a loss, and the numbers of calls do. Other
// clients write to a promoted standby, so its position passes the lost one although calls are
// missing. After a failover that loses only beats, the position is behind although no call is
// missing. Only the node itself begins the calls that its row counts, and it compares before it
// begins another one. So a later call does not hide the loss.
//
// A node that finds a loss gives the ledger another id, see renew. No node begins a call under an
// id that the ledger does not have, see beginCalls. So a call that was first sent under the former
// id is executed by no node, also after an operator has accepted the loss: see
// docs/adr/0029-restored-ledgers.md.

// queueKnown reads the newest calls of nodes, in a transaction that then waits for its commit: a
// standby that counts has these calls once it has the commit. A database loses the newest calls
// first, so each beat reads few of them. Now and then it reads those of all nodes.
func (w *writer) queueKnown(batch *pgx.Batch, after *[]func()) {
	const few = 8
	var most *int // nil: all
	if time.Now().Before(w.censusDue) {
		most = new(few)
	}
	found := map[int64]int64{}
	batch.Queue("SELECT node, newest FROM toolhost_beats WHERE newest > 0 ORDER BY newest DESC LIMIT $1", most).Query(func(rows pgx.Rows) error {
		return collectNewest(rows, found)
	})
	*after = append(*after, func() {
		if most == nil {
			clear(w.known) // also of rows that were removed
		}
		for node, number := range found {
			w.known[node] = number
		}
	})
}

func collectNewest(rows pgx.Rows, newest map[int64]int64) error {
	var node, number int64
	_, err := pgx.ForEachRow(rows, []any{&node, &number}, func() error { newest[node] = number; return nil })
	return err
}

// checkHistory ends this node if the database lacks a call that the node knows. For a node whose
// row was removed, the newest call of all removed rows counts. For a node with a row, the calls of
// earlier nodes of its folder count as well. Their rows leave their newest call to the last row of
// the folder when prune removes them. If the database has lost only that removal, they are back,
// and the last row lacks their calls.
func (w *writer) checkHistory(ctx context.Context) error {
	if len(w.known) == 0 {
		return nil
	}
	const removed = 0 // the number of no node
	newest := map[int64]int64{}
	rows, err := w.conn.Query(ctx, "SELECT 0::bigint, "+pruned+" UNION ALL SELECT node, max(newest) OVER (PARTITION BY folder ORDER BY started) FROM toolhost_beats JOIN toolhost_nodes USING (node)")
	if err == nil {
		err = collectNewest(rows, newest)
	}
	if err != nil {
		return postgres.Error(err)
	}
	missing := Former{ID: w.store.id} // the newest: an older copy may have others
	for node, known := range w.known {
		now, there := newest[node]
		if !there {
			now = newest[removed]
		}
		if now < known && known > missing.Newest {
			missing.Newest, missing.Node = known, node
		}
	}
	if missing.Newest == 0 {
		return nil
	}
	w.store.log.Error("the database has lost calls of a toolhost", "node", idOf(missing.Node), "newest", newest[missing.Node], "known", missing.Newest)
	w.end(ErrLost) // calls that are under way still end
	return w.renew(ctx, missing)
}

// compareFolder gives the ledger another id if the database lacks the call that the state folder
// has noted. Once an operator has accepted the loss, the state folder notes the new id. A folder
// without rows may have got another id after it noted the call, such as by a restore. Then the row
// of any node may have the call, so a loss is proven only if no node has reached its number.
func (w *writer) compareFolder(ctx context.Context) error {
	const query = "SELECT coalesce(max(newest) FILTER (WHERE folder = $1), 0), CASE count(*) FILTER (WHERE folder = $1) WHEN 0 THEN " + pruned + " ELSE 0 END, " +
		"CASE count(*) FILTER (WHERE folder = $1) WHEN 0 THEN coalesce(max(newest), 0) ELSE 0 END FROM toolhost_beats JOIN toolhost_nodes USING (node)"
	s := w.store
	if err := w.compareEarlier(ctx, s.cfg.Earlier, s.memory.Load().ids); err != nil {
		return err
	}
	var begun int64
	if err := w.conn.QueryRow(ctx, query, s.cfg.Node.Folder).Scan(&s.newest, &s.pruned, &begun); err != nil {
		return postgres.Error(err)
	}
	proves := s.cfg.NotedBy == s.cfg.Node.Folder || s.cfg.Newest > begun
	s.lost = slices.Contains(s.memory.Load().ids, s.cfg.Ledger) && !s.Has(s.cfg.Newest) && proves
	if !s.lost {
		return nil
	}
	s.log.Error("the database has lost calls of this toolhost; the ledger gets another id", "newest", s.newest, "known", s.cfg.Newest)
	return w.renew(ctx, Former{ID: s.cfg.Ledger, Newest: s.cfg.Newest, Folder: cmp.Or(s.cfg.NotedBy, s.cfg.Node.Folder)})
}
