package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// After a loss that a node has found, a second one may replace the database by a copy from before
// the first. The copy has the former id again, and nothing in it tells of the loss.
//
// A Former names the call whose loss ended an id. The ledger and the state folders keep it. A node
// compares it with the database when it starts, and when it connects and does not find its own id.
// If the database lacks the call, the node gives the ledger another id. If the database has the
// call, it is the complete server: it keeps its id, and only this node ends.

// Former is an id that a ledger had, and what a database with that id must contain: the id Next, or
// the call Newest. A database that has the id without that has lost commits. If both fields are
// zero, any database may have the id.
type Former struct {
	ID string `json:"id"`
	// Next is an id that the same ledger got without a loss, see Move. Empty: none.
	Next string `json:"next,omitempty"`
	// Newest is the number of a call that the node Node, or a node of the state folder Folder, has
	// begun. 0: none is known.
	Newest int64  `json:"newest,omitempty"`
	Node   int64  `json:"node,omitempty"`
	Folder string `json:"folder,omitempty"`
}

// undefinedColumn is an error of PostgreSQL.
const undefinedColumn = "42703"

// compareEarlier gives the ledger another id if it has the id of an earlier Former and its database
// lacks what that Former demands. ids are the ids of the ledger.
func (w *writer) compareEarlier(ctx context.Context, earlier []Former, ids []string) error {
	for _, f := range earlier {
		if !slices.Contains(ids, f.ID) {
			continue
		}
		has, err := w.has(ctx, f, ids)
		if err != nil {
			return err
		}
		if !has {
			w.store.log.Error("the database is a copy from before this toolhost knew it, and has lost calls; the ledger gets another id", "ledger", f.ID)
			return w.renew(ctx, f)
		}
	}
	return nil
}

// has reports whether the database contains what a Former demands. The calls of all nodes of the
// folder count, see checkHistory. If no row of the folder has a call, because the rows were removed
// or are new, the newest call of all removed rows counts.
func (w *writer) has(ctx context.Context, f Former, ids []string) (bool, error) {
	if f.Newest == 0 {
		return f.Next == "" || slices.Contains(ids, f.Next), nil
	}
	const query = "SELECT coalesce(nullif(max(newest), 0), " + pruned + ") FROM toolhost_beats JOIN toolhost_nodes USING (node) WHERE folder = $2 OR folder = (SELECT folder FROM toolhost_nodes WHERE node = $1)"
	var newest int64
	err := w.conn.QueryRow(ctx, query, f.Node, f.Folder).Scan(&newest)
	return newest >= f.Newest, postgres.Error(err)
}

// renew gives the ledger a new id, unless another node has done so and the ledger does not have the
// id of f any more. It removes the former ids, too, because calls under them may be lost as well.
// If the tables are those of an older version, which has no column for lost ids, renew does not
// keep the ids.
func (w *writer) renew(ctx context.Context, f Former) error {
	const rename = "id = replace(gen_random_uuid()::text, '-', ''), former = '{}' WHERE @id = id OR @id = ANY(former)"
	const keep = "lost = lost || (SELECT jsonb_agg(@lost::jsonb || jsonb_build_object('id', one)) FROM unnest(former || id) one), "
	arguments := pgx.NamedArgs{"id": f.ID, "lost": f}
	_, err := w.conn.Exec(ctx, "UPDATE toolhost_ledger SET "+keep+rename, arguments)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == undefinedColumn {
		_, err = w.conn.Exec(ctx, "UPDATE toolhost_ledger SET "+rename, arguments)
	}
	if err != nil {
		return postgres.Error(err)
	}
	return postgres.Confirmed(w.conn)
}
