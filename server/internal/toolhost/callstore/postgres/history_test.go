//go:build more

package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

var (
	historiesFor  = flag.Duration("histories.for", 0, "how long histories are made; 0: a few of them")
	historiesSeed = flag.Uint64("histories.seed", 0, "what clients and faults do; 0: anything, by a seed that is printed")
)

// fewHistories is how many histories the short form makes.
const fewHistories = 5

// The answers of many nodes are those of one ledger that executes one operation after the other,
// also if connections are cut, sessions end, nodes are declared gone or stop, and callers leave.
// `make histories` runs the long form.
//
// The other runs of all tests leave it out until some hundred short forms have passed: the model
// did not explain what a Settle answers whose first attempt has lost its answer. See
// storetest.TestExplain.
func TestHistories(t *testing.T) {
	if *historiesFor == 0 && *historiesSeed == 0 && os.Getenv("HISTORIES") == "" {
		return
	}
	seed := *historiesSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	server := postgrestest.Shared(t)
	cutter := &postgrestest.Cutter{Mark: []byte(storetest.HistoryMark)}
	behind := "?host=" + url.QueryEscape(cutter.Listen(t, server.Folder()))
	begun := time.Now()
	n := 0
	for ; (n < fewHistories || time.Since(begun) < *historiesFor) && !t.Failed(); n++ {
		name := server.Create(t)
		conn, err := pgx.Connect(t.Context(), server.URL(name))
		storetest.Must(t, err)
		c := &cluster{address: "postgres://postgres@/" + name + behind, conn: conn, cutter: cutter}
		for range 3 {
			c.add(t)
		}
		storetest.Histories(t, fmt.Sprint("h", n), seed+uint64(n), c)
		for _, m := range c.members {
			storetest.Must(t, m.store.Close())
		}
		storetest.Must(t, conn.Close(context.Background()))
	}
	t.Logf("seed %d: %d histories, %d connections cut", seed, n, cutter.Made.Load())
}

// cluster has some nodes of one database, also such as are gone.
type cluster struct {
	address string // through the cutter
	conn    *pgx.Conn
	cutter  *postgrestest.Cutter

	mu      sync.Mutex
	members []*member // their places are the numbers of the nodes
}

type member struct {
	store *postgres.Store
	left  bool // it is gone
}

func folderOf(node int) string { return fmt.Sprint("node-", node) }

func (c *cluster) add(t testing.TB) {
	cfg := config(c.address, folderOf(len(c.members)))
	for {
		store, err := postgres.Open(t.Context(), cfg)
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.members = append(c.members, &member{store: store})
			return
		}
		if !errors.Is(err, database.ErrUnavailable) { // otherwise the connection was cut
			t.Fatal(err)
		}
	}
}

// Node implements storetest.Cluster. A node that is gone still tells how its calls ended.
func (c *cluster) Node(random *rand.Rand) (callstore.Calls, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	node := random.IntN(len(c.members))
	for c.members[node].left && random.IntN(8) > 0 {
		node = random.IntN(len(c.members))
	}
	return c.members[node].store, node
}

// leaves returns a node that is not gone, and replaces it.
func (c *cluster) leaves(t testing.TB, random *rand.Rand) (node int, m *member) {
	c.add(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	var alive []int
	for node, m := range c.members {
		if !m.left {
			alive = append(alive, node)
		}
	}
	node = alive[random.IntN(len(alive))]
	m = c.members[node]
	m.left = true
	return node, m
}

// Fault implements storetest.Cluster.
func (c *cluster) Fault(t testing.TB, random *rand.Rand, gone func(node int, do func() (certain bool))) {
	switch random.IntN(5) {
	case 0, 1:
		c.cutter.Cuts.Store(int32(1 + random.IntN(3)))
	case 2:
		c.execute(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	case 3:
		node, _ := c.leaves(t, random)
		gone(node, func() bool {
			c.execute(t, "UPDATE toolhost_nodes SET gone = 1700000000000000000, why = 'said so' WHERE folder = $1", folderOf(node))
			return true
		})
	case 4:
		node, m := c.leaves(t, random)
		gone(node, func() bool {
			storetest.Must(t, m.store.Close())
			var certain bool // otherwise its last words may still be on their way
			storetest.Must(t, c.conn.QueryRow(t.Context(), "SELECT gone IS NOT NULL FROM toolhost_nodes WHERE folder = $1", folderOf(node)).Scan(&certain))
			return certain
		})
	}
}

func (c *cluster) execute(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	_, err := c.conn.Exec(t.Context(), sql, arguments...)
	storetest.Must(t, err)
}

// Gone implements storetest.Cluster.
func (c *cluster) Gone() error { return postgres.ErrGone }
