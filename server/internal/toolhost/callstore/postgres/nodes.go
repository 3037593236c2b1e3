package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Listed is a node as the ledger knows it.
type Listed struct {
	ID      string    `json:"id"` // names the node for DeclareGone
	Name    string    `json:"name"`
	State   string    `json:"state"` // up, silent or gone
	Started time.Time `json:"start_time"`
	Gone    time.Time `json:"gone_time,omitzero"`
	Why     string    `json:"why,omitempty"` // it is gone
	// Calls is how many of its calls have begun and not ended: they are under way, or unknown if the
	// node is gone.
	Calls int `json:"calls"`
}

// The states of a node.
const (
	Up     = "up"
	Silent = "silent" // it has not written for a while, which proves nothing
	Gone   = "gone"
)

// lookAgain is how long a node that lives may take between two beats.
const lookAgain = 3 * beatEvery

// ErrAlive says that a node cannot be declared gone, because it lives.
var ErrAlive = errors.New("it lives: it has just written to the database; stop it first")

// Nodes returns the nodes of the ledger in a database, those that are not gone first, then the
// newest. It waits for some seconds if a node is silent. It does not create the tables.
func Nodes(ctx context.Context, cfg postgres.Config) ([]Listed, error) {
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("listing the nodes: %w", err)
	}
	defer db.Close()
	found, err := list(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("listing the nodes in %s: %w", db.Name(), err)
	}
	return found, nil
}

func list(ctx context.Context, db *postgres.DB) ([]Listed, error) {
	before, err := beats(ctx, db)
	if err != nil {
		return nil, err
	}
	const query = `SELECT n.node, n.name, n.started, n.gone, n.why, (SELECT count(*) FROM toolhost_calls c WHERE c.node = n.node AND c.state = 0)
		FROM toolhost_nodes n ORDER BY n.gone IS NOT NULL, n.started DESC, n.node`
	var nodes []Listed
	err = db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return err
		}
		nodes, err = pgx.AppendRows(nodes, rows, func(row pgx.CollectableRow) (l Listed, err error) {
			var node, started int64
			var gone *int64
			err = row.Scan(&node, &l.Name, &started, &gone, &l.Why, &l.Calls)
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
	for deadline := time.Now().Add(lookAgain); ; {
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

// beats returns the counters of the nodes. They show who lives, without anybody's clock.
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

// DeclareGone records that the processes of a node, toolhost and its plugins, are gone, and who says
// so. Its calls that have not ended become unknown. If the node continues nevertheless, it ends
// itself. It fails with ErrAlive if the node writes to the database. It returns the node as it was.
func DeclareGone(ctx context.Context, cfg postgres.Config, id, who string) (Listed, error) {
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return Listed{}, fmt.Errorf("declaring the node %s gone: %w", id, err)
	}
	defer db.Close()
	l, err := declareGone(ctx, db, id, who)
	if err != nil {
		return Listed{}, fmt.Errorf("declaring the node %s gone in %s: %w", id, db.Name(), err)
	}
	return l, nil
}

func declareGone(ctx context.Context, db *postgres.DB, id, who string) (Listed, error) {
	nodes, err := list(ctx, db)
	if err != nil {
		return Listed{}, err
	}
	for _, l := range nodes {
		switch {
		case l.ID != id:
			continue
		case l.State == Up:
			return l, ErrAlive
		case l.State == Gone:
			return l, nil
		}
		node, err := strconv.ParseUint(id, 16, 64)
		if err != nil {
			return l, err
		}
		return l, db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "UPDATE toolhost_nodes SET gone = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000, why = $2 WHERE node = $1 AND gone IS NULL", int64(node), who)
			return err
		})
	}
	return Listed{}, errors.New("there is no such node; `toolhost nodes` lists them")
}
