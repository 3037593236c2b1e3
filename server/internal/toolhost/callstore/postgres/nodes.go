package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Listed is a node as the ledger knows it.
type Listed struct {
	ID      string    `json:"id"` // names the node for DeclareGone
	Name    string    `json:"name"`
	Folder  string    `json:"folder"`            // the id of the state folder
	State   string    `json:"state"`             // up, silent or gone
	Version string    `json:"version,omitempty"` // of its program; empty: an older one does not say it
	Address string    `json:"address,omitempty"` // where other toolhosts reach it; empty: nowhere
	Started time.Time `json:"start_time"`
	Gone    time.Time `json:"gone_time,omitzero"`
	Why     string    `json:"why,omitempty"` // it is gone
	// Audited is the end of its audit log some seconds ago, NUMBER:SHA256; empty: not known.
	Audited string `json:"audit_head,omitempty"`
	// Calls is how many of its calls have begun and not ended: they are under way, or unknown if the
	// node is gone.
	Calls int `json:"calls"`
	// Summary is what a node that is not gone says about itself; nil: nothing that can be read.
	Summary *Summary `json:"-"`
}

// Label names the node for people.
func (l *Listed) Label() string { return Peer{ID: l.ID, Name: l.Name}.Label() }

// The states of a node.
const (
	Up     = "up"
	Silent = "silent" // it has not written for a while, which proves nothing
	Gone   = "gone"
)

// lookAgain is how long a node that lives may take between two beats. DeclareGone looks longer,
// because a node that is declared gone by mistake ends itself.
const (
	lookAgain  = 3 * beatEvery
	lookLonger = 15 * beatEvery
)

// ErrAlive says that a node cannot be declared gone, because it lives.
var ErrAlive = errors.New("it lives: it has just written to the database; stop it first")

// Nodes returns the nodes of the ledger in a database, those that are not gone first, then the
// newest. It waits for some seconds if a node is silent. It does not create the tables.
func Nodes(ctx context.Context, cfg postgres.Config) ([]Listed, error) {
	cfg.StatementTimeout = max(cfg.StatementTimeout, listTime)
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("listing the nodes: %w", err)
	}
	defer db.Close()
	found, err := list(ctx, db, lookAgain)
	if err != nil {
		return nil, fmt.Errorf("listing the nodes in %s: %w", db.Name(), err)
	}
	return found, nil
}

// listTime bounds a statement that looks at all calls, for operators, who would rather wait than
// get no answer.
const listTime = time.Minute

// openCalls has the number of calls under way by node, in one reading of the calls, however many
// nodes there are. An index of such calls would make each end of a call write to all other indexes:
// measured, that is a quarter more log of the database for each call.
const openCalls = "(SELECT node, count(*) AS calls FROM toolhost_calls WHERE state = 0 GROUP BY node)"

// listNodes returns the query of the nodes. The tables may be those of an older version, without
// the newest columns.
func listNodes() string {
	return `SELECT n.node, n.name, n.folder, n.started, n.gone, n.why, left(to_jsonb(n)->>'version', 100), left(to_jsonb(n)->>'address', 300),
		CASE WHEN n.gone IS NULL AND length(to_jsonb(n)->>'summary') <= ` + fmt.Sprint(maxSummary) + ` THEN to_jsonb(n)->>'summary' END,
		(SELECT left(to_jsonb(b)->>'audited', 100) FROM toolhost_beats b WHERE b.node = n.node), coalesce(o.calls, 0)
		FROM toolhost_nodes n LEFT JOIN ` + openCalls + ` o USING (node) ORDER BY n.gone IS NOT NULL, n.started DESC, n.node`
}

func list(ctx context.Context, db *postgres.DB, look time.Duration) ([]Listed, error) {
	before, err := beats(ctx, db)
	if err != nil {
		return nil, err
	}
	var nodes []Listed
	err = db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, listNodes())
		if err != nil {
			return err
		}
		nodes, err = pgx.AppendRows(nodes, rows, func(row pgx.CollectableRow) (l Listed, err error) {
			var node, started int64
			var gone *int64
			var version, address, summary, audited *string
			err = row.Scan(&node, &l.Name, &l.Folder, &started, &gone, &l.Why, &version, &address, &summary, &audited, &l.Calls)
			for text, field := range map[*string]*string{version: &l.Version, address: &l.Address, audited: &l.Audited} {
				if text != nil {
					*field = *text
				}
			}
			if summary != nil {
				l.Summary = readSummary(*summary)
			}
			l.ID, l.Started, l.State = idOf(node), time.Unix(0, started).UTC(), Silent
			if gone != nil {
				l.Gone, l.State = time.Unix(0, *gone).UTC(), Gone
			}
			return l, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(look); ; {
		now, err := beats(ctx, db)
		if err != nil {
			return nil, err
		}
		silent := false
		for i := range nodes {
			if n := &nodes[i]; n.State == Silent && now[n.ID] != before[n.ID] {
				n.State = Up
			}
			silent = silent || nodes[i].State == Silent
		}
		if !silent || time.Now().After(deadline) {
			return nodes, nil
		}
		timer := time.NewTimer(beatEvery / 4)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// beats returns the counters of the nodes. A counter that grows shows that its node lives, without
// a comparison of clocks.
func beats(ctx context.Context, db *postgres.DB) (map[string]int64, error) {
	counts := map[string]int64{}
	err := db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT node, count FROM toolhost_beats")
		if err != nil {
			return err
		}
		var node, count int64
		_, err = pgx.ForEachRow(rows, []any{&node, &count}, func() error { counts[idOf(node)] = count; return nil })
		return err
	})
	return counts, err
}

func idOf(node int64) string { return fmt.Sprintf("%016x", node) }

// DeclareGone records that the toolhosts and plugins of all nodes for which which returns true are
// gone. who says why, for people. Calls of these nodes that have not ended become unknown. A node
// that continues nevertheless ends itself. DeclareGone waits for some seconds if a node is silent.
// If one of the nodes writes to the database meanwhile, DeclareGone changes nothing and fails with
// ErrAlive. It returns the nodes as they were before.
func DeclareGone(ctx context.Context, cfg postgres.Config, who string, which func(Listed) bool) ([]Listed, error) {
	cfg.StatementTimeout = max(cfg.StatementTimeout, listTime)
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("declaring a node gone: %w", err)
	}
	defer db.Close()
	nodes, err := list(ctx, db, lookLonger)
	nodes = slices.DeleteFunc(nodes, func(l Listed) bool { return !which(l) })
	for _, l := range nodes {
		if err == nil && l.State == Up {
			err = fmt.Errorf("the node %s: %w", l.ID, ErrAlive)
		}
	}
	if err == nil {
		err = db.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return declareGone(ctx, tx, nodes, who) })
	}
	if err != nil {
		return nil, fmt.Errorf("declaring a node gone in %s: %w", db.Name(), err)
	}
	return nodes, nil
}

func declareGone(ctx context.Context, tx pgx.Tx, nodes []Listed, who string) error {
	for _, l := range nodes {
		node, err := strconv.ParseUint(l.ID, 16, 64)
		if err != nil {
			return err
		}
		const update = "UPDATE toolhost_nodes SET gone = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000, why = $2 WHERE node = $1 AND gone IS NULL"
		if _, err := tx.Exec(ctx, update, int64(node), who); err != nil {
			return err
		}
	}
	return nil
}
