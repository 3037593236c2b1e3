package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The rows of nodes. Each start of a toolhost adds one, and nothing else removes them.
//
// A row is needed while its node may live, since a node ends itself once its row is missing; while
// the ledger has a call of the node, which the row proves to be lost or tells where to settle; and
// for people, who see it in `toolhost nodes`. The ledger has no call of a node once the lowest
// number in it is above that of the newest call of the node: numbers only grow, so that needs no
// clock. The last row of a state folder says what the next start with the folder must find, and
// where the sessions are that have their home there; it stays longer.
const (
	// keepNodes is how long the row of a node that is gone stays after another one has followed with
	// its state folder.
	keepNodes = 7 * 24 * time.Hour
	// keepFolders is how long the last row of a state folder stays. It is also how long the homes of
	// its sessions stay.
	keepFolders = keepHomes
	// pruneEvery is how often a node looks for such rows.
	pruneEvery = time.Hour
)

// pruneNodes removes rows of nodes. The last row of the folder gets what the others have counted,
// so that their sum never falls, see takeHome. Rows that another session locks stay until the next
// time.
const pruneNodes = `
WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000 AS now),
last AS (SELECT DISTINCT ON (folder) folder, node FROM toolhost_nodes ORDER BY folder, gone IS NOT NULL, started DESC, node),
old AS (
	SELECT n.node, n.folder, n.started, b.count, b.newest, b.audited, n.node = last.node AS is_last
	FROM clock, toolhost_nodes n JOIN toolhost_beats b USING (node) JOIN last USING (folder)
	WHERE n.gone < clock.now - CASE WHEN n.node = last.node THEN @folders::bigint ELSE @nodes::bigint END
	AND NOT EXISTS (SELECT FROM toolhost_calls c WHERE c.number <= b.newest)
	AND (n.node <> last.node OR NOT EXISTS (SELECT FROM toolhost_homes h WHERE h.folder = n.folder)
		AND NOT EXISTS (SELECT FROM toolhost_nodes o WHERE o.folder = n.folder AND o.node <> n.node))
	ORDER BY n.started LIMIT @most FOR UPDATE OF n SKIP LOCKED),
summed AS (
	SELECT folder, sum(count)::bigint AS count, max(newest) AS newest, (array_agg(audited ORDER BY started DESC) FILTER (WHERE audited <> ''))[1] AS audited
	FROM old WHERE NOT is_last GROUP BY folder),
given AS (
	UPDATE toolhost_beats b SET count = b.count + s.count, newest = greatest(b.newest, s.newest), audited = CASE b.audited WHEN '' THEN coalesce(s.audited, '') ELSE b.audited END
	FROM summed s JOIN last USING (folder) WHERE b.node = last.node),
noted AS (
	UPDATE toolhost_ledger SET pruned = greatest(pruned, (SELECT max(newest) FROM old)) WHERE EXISTS (SELECT FROM old))
DELETE FROM toolhost_nodes n USING old WHERE n.node = old.node`

// prune removes the rows of nodes that nothing needs any more, now and then. They can stay until
// the next time, so the ledger does not wait for a row that another session locks.
func (w *writer) prune(ctx context.Context) error {
	if time.Now().Before(w.pruneDue) {
		return nil
	}
	w.pruneDue = time.Now().Add(pruneEvery) // also after an error
	batch := &pgx.Batch{}
	batch.Queue("SELECT set_config('lock_timeout', '100ms', true)")
	batch.Queue(pruneNodes, pgx.NamedArgs{"nodes": keepNodes.Nanoseconds(), "folders": keepFolders.Nanoseconds(), "most": maxSweep})
	err := w.broken(w.conn.SendBatch(ctx, batch).Close())
	if err != nil && w.conn != nil {
		w.store.log.Debug("rows of earlier toolhosts were not removed", "error", err)
		return nil
	}
	return err
}
