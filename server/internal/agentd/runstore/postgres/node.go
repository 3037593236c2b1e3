package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

const (
	// settings are those of the session. With idle_session_timeout, which PostgreSQL 13 does not have,
	// the server ends the session if this process is stopped or its machine vanishes. The commits of
	// renewals do not wait for the disk, because a renewal that a crash loses does no harm.
	settings = "SELECT set_config('synchronous_commit', 'off', false), CASE WHEN current_setting('server_version_num')::int >= 140000 THEN set_config('idle_session_timeout', '15s', false) END"

	enterNode = "INSERT INTO agentd_nodes (node, name, version, address, engine) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (node) DO UPDATE SET since = clock_timestamp(), renewed = clock_timestamp()"

	// gone is the condition that the claimer of a run is gone: its lock is free, and it has not
	// renewed its row for 5 seconds, which is several renewals. The store $2, which asks, must have
	// had its session for these 5 seconds. Its session still lasts, because its own lock is not free.
	// A claimer may have no row. The shared locks that the condition takes end with the transaction of
	// the statement.
	gone = `CASE WHEN pg_try_advisory_xact_lock_shared($2) OR greatest((SELECT other.renewed FROM agentd_nodes AS other WHERE other.node = claimer),
		(SELECT me.since FROM agentd_nodes AS me WHERE me.node = $2)) > clock_timestamp() - interval '5 seconds'
	THEN false ELSE pg_try_advisory_xact_lock_shared(claimer) END`

	// dropNodes forgets stores that are gone. One that continues after a day makes its row again.
	dropNodes = `DELETE FROM agentd_nodes WHERE renewed < clock_timestamp() - interval '1 day' AND node <> $1
	AND NOT EXISTS (SELECT FROM agentd_runs WHERE claimer = node) AND pg_try_advisory_xact_lock_shared(node)`
)

// enter makes the row of this store, unless it exists. A store that claims nothing has none.
func (s *Store) enter(ctx context.Context) error {
	if _, node := s.claims.roles(); node {
		return nil
	}
	err := s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		batch := &pgx.Batch{}
		batch.Queue("SELECT set_config('synchronous_commit', 'off', true)")
		batch.Queue(enterNode, s.claims.key, s.claims.name, version.Number, s.claims.address(), s.claims.engineNow())
		batch.Queue(dropNodes, s.claims.key)
		return conn.SendBatch(ctx, batch).Close()
	})
	if err == nil {
		s.claims.mu.Lock()
		defer s.claims.mu.Unlock()
		s.claims.node = true
	}
	return err
}

// renew shows the other stores that this one lives, if it has a row. Otherwise it only checks the
// session.
func (c *claims) renew(ctx context.Context, session *pgx.Conn) error {
	if _, node := c.roles(); !node {
		return session.Ping(ctx)
	}
	tag, err := session.Exec(ctx, "UPDATE agentd_nodes SET renewed = clock_timestamp(), engine = $2 WHERE node = $1", c.key, c.engineNow())
	if err == nil && tag.RowsAffected() == 0 {
		err = errors.New("the row of this store is gone") // connect makes it again
	}
	return err
}

// SetEngine sets what Nodes says of the engine of this store, from the next renewal on.
func (s *Store) SetEngine(engine string) {
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	s.claims.engine = engine
}

func (c *claims) engineNow() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.engine
}

// leave gives up the claims and the locks, so that they end with Close. If a claim stays, such as
// one that is being taken, so does the row.
func (c *claims) leave(session *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	if _, node := c.roles(); node {
		_, _ = session.Exec(ctx, "UPDATE agentd_runs SET claimer = NULL, stalled = least(stalled, $2::int) WHERE claimer = $1", c.key, runstore.MaxStalled) // as giveUp does
		_, _ = session.Exec(ctx, "DELETE FROM agentd_nodes WHERE node = $1 AND NOT EXISTS (SELECT FROM agentd_runs WHERE claimer = $1)", c.key)
	}
	_, _ = session.Exec(ctx, "SELECT pg_advisory_unlock_all()") // the server notices the end of the session only later
}

// took notes claims and returns the error of the statement that took them.
func (c *claims) took(epochs map[string]uint64, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, epoch := range epochs {
		c.epochs[id] = epoch
	}
	if err != nil && postgres.MayHaveRun(err) {
		c.tidyUntil = time.Now().Add(tidyTime)
	}
	return err
}

// left notes that a claim is given up.
func (c *claims) left(runID string, epoch uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epochs[runID] == epoch {
		delete(c.epochs, runID)
	}
}

// doubt notes that the answer of a statement was lost, so that a claim may have been taken, or may
// not have been given up.
func (c *claims) doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tidyUntil = time.Now().Add(tidyTime)
}

// tidy gives up claims that the rows have and this store does not know, because an answer was lost.
// Without tidy, no store would work on these runs. A claim that was just taken is not known yet, so
// tidy gives up only claims that it finds twice. A claim that tidy gives up by mistake does no
// harm, because the store refuses appends under it.
func (c *claims) tidy(ctx context.Context, session *pgx.Conn) error {
	c.mu.Lock()
	doubtful := time.Now().Before(c.tidyUntil)
	c.mu.Unlock()
	if !doubtful {
		c.strays = nil
		return nil
	}
	rows, err := session.Query(ctx, "SELECT id, epoch FROM agentd_runs WHERE claimer = $1", c.key)
	if err != nil {
		return err
	}
	found := make(map[string]uint64)
	var id string
	var epoch int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &epoch}, func() error { found[id] = uint64(epoch); return nil }); err != nil {
		return err
	}
	c.forgetKnown(found)
	for id, epoch := range found {
		if before, seen := c.strays[id]; !seen || before != epoch {
			continue
		}
		if _, err := session.Exec(ctx, giveUp, id, c.key, int64(epoch)); err != nil {
			return err
		}
	}
	c.strays = found
	return nil
}

// forgetKnown removes the claims that this store knows.
func (c *claims) forgetKnown(found map[string]uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, epoch := range found {
		if known, ok := c.epochs[id]; ok && known == epoch {
			delete(found, id)
		}
	}
}

// maxName bounds the name of a machine, in bytes.
const maxName = 255

// machine returns the name of this machine as the database accepts it, or "".
func machine() string {
	name, _ := os.Hostname() // only people read it
	return strings.ToValidUTF8(strings.ReplaceAll(name[:min(len(name), maxName)], "\x00", ""), "")
}

// Node is a store that has claimed runs, of one start of an agentd.
type Node struct {
	ID      string        // its advisory lock in hexadecimal
	Name    string        // of the machine; empty for a version of before. Whoever can write to the database chooses it
	Version string        // of agentd, like Name
	Address string        // at which other agentds reach it, like Name
	Since   time.Time     // when its session began
	Silence time.Duration // the time since it renewed its row
	Runs    int           // that it has claimed
	Engine  string        // as SetEngine set it, like Name
	// Silent means that Silence is so long that other stores may take the claims, once PostgreSQL has
	// ended the session.
	Silent bool
}

// idOf returns the id of the store with a lock.
func idOf(key int64) string { return fmt.Sprintf("%016x", key) }

// NodeID returns the id of this store; see Node.
func (s *Store) NodeID() string { return idOf(s.claims.key) }

// Nodes returns the stores that have a row, the oldest session first. All times are the database's.
// A store that ended without Close has its row until another one has taken its claims, and a day.
func (s *Store) Nodes(ctx context.Context) (nodes []Node, err error) {
	const query = `SELECT node, name, version, address, since, extract(epoch FROM clock_timestamp() - renewed)::float8,
		(SELECT count(*) FROM agentd_runs WHERE claimer = node AND deleted IS NULL), renewed < clock_timestamp() - interval '5 seconds', engine
		FROM agentd_nodes ORDER BY since, node`
	err = s.rows(ctx, query, nil, func(row pgx.CollectableRow) error {
		var n Node
		var key int64
		var silence float64
		err := row.Scan(&key, &n.Name, &n.Version, &n.Address, &n.Since, &silence, &n.Runs, &n.Silent, &n.Engine)
		n.ID, n.Silence = idOf(key), time.Duration(max(silence, 0)*float64(time.Second))
		nodes = append(nodes, n)
		return err
	})
	if err != nil {
		return nil, s.failed("listing the agentds", err)
	}
	return nodes, nil
}
