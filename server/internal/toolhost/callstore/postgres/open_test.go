//go:build more

package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// To count the calls under way reads the calls once, and not once for each node that ever was: a
// ledger has millions of calls, and nodes stay in their table.
func TestCountingOpenCallsReadsThemOnce(t *testing.T) {
	server := postgrestest.Shared(t)
	name := server.Create(t)
	s, err := Open(t.Context(), Config{Database: postgres.Config{URL: server.URL(name)}, Node: Node{Name: "machine", Folder: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server.Do(t, name, "INSERT INTO toolhost_nodes (node, name, folder, boot, started, gone) SELECT n, 'machine', 'f' || n, 'b', n, CASE WHEN n > 1 THEN 1 END FROM generate_series(1, 300) n")
	server.Do(t, name, `INSERT INTO toolhost_calls (hash, node, token, begun, state, principal, tenant, session, id, sum, tool, plugin)
		SELECT decode(md5(n::text), 'hex'), 1, '', n, CASE WHEN n % 1000 = 0 THEN 0 ELSE 1 END, 'ada', 'default', '', n::text, '', 'write', 'fs' FROM generate_series(1, 5000) n`)
	server.Do(t, name, "VACUUM ANALYZE toolhost_calls")
	nodes, err := Nodes(t.Context(), postgres.Config{URL: server.URL(name)})
	if err != nil || len(nodes) != 301 {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	for _, l := range nodes {
		if want := map[bool]int{true: 5}[l.Folder == "f1"]; l.Calls != want {
			t.Errorf("the node of %s has %d calls, want %d", l.Folder, l.Calls, want)
		}
	}
	conn, err := pgx.Connect(t.Context(), server.URL(name))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF) "+listNodes())
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	plan := strings.Join(lines, "\n")
	if err != nil || strings.Count(plan, "on toolhost_calls") != 1 || !strings.Contains(plan[strings.Index(plan, "on toolhost_calls"):], "loops=1)") {
		t.Errorf("the plan is, with error %v:\n%s", err, plan)
	}
}
