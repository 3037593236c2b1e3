//go:build more

package postgres_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

// A copy of the database from before a loss that was found has the id again that the loss has
// ended. A node that knows the later id ends, and that id does not come back. The copy may be so
// old that its tables cannot say what was lost. The server that has lost nothing keeps its id.
func TestADatabaseFromBeforeALoss(t *testing.T) {
	for name, test := range map[string]struct {
		restore []string
		renewed bool
	}{
		"a copy":          {[]string{"UPDATE toolhost_ledger SET lost = '[]'"}, true},
		"an older copy":   {[]string{"ALTER TABLE toolhost_ledger DROP COLUMN lost"}, true},
		"the true server": {[]string{"UPDATE toolhost_ledger SET lost = '[]'", "UPDATE toolhost_beats SET newest = 1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			address := postgrestest.Database(t)
			finds := open(t, config(address, "finds"))
			id := finds.ID()
			storetest.Must(t, begin(t, finds, "lost"))
			execute(t, address, "UPDATE toolhost_beats SET newest = 0")
			breakSessions(t, address)
			eventually.Holds(t, "the loss is found", func() bool { return finds.Why() != nil })
			eventually.Holds(t, "the ledger has another id", func() bool {
				return execute(t, address, "SELECT FROM toolhost_ledger WHERE id <> $1 AND lost->0->>'id' = $1", id) == 1
			})
			storetest.Must(t, finds.Close())
			a, b := open(t, config(address, "a")), open(t, config(address, "b"))
			if earlier := a.Earlier(); a.ID() == id || len(earlier) != 1 || earlier[0].ID != id || earlier[0].Newest != 1 {
				t.Fatalf("the ledger %s is %s, and was %v", id, a.ID(), earlier)
			}
			execute(t, address, "UPDATE toolhost_ledger SET former = '{}', id = $1", id)
			for _, sql := range test.restore {
				execute(t, address, sql)
			}
			breakSessions(t, address)
			want(t, "a begin", begin(t, a, "x"), postgres.ErrLost)
			want(t, "a begin at another node", begin(t, b, "x"), postgres.ErrLost)
			after := open(t, config(address, "after")).ID()
			if renewed := after != id; renewed != test.renewed || after == a.ID() {
				t.Errorf("the ledger %s that was %s is %s", a.ID(), id, after)
			}
		})
	}
}

// A start with a state folder that knows an id of the ledger gives the ledger another one, once, if
// the database does not have what belongs to that id.
func TestAStartFindsAnEarlierLedger(t *testing.T) {
	for name, test := range map[string]struct {
		earlier []postgres.Former // the ledger is "now", and was "moved"
		pruned  int
		renewed bool
	}{
		"a call of a folder is missing": {[]postgres.Former{{ID: "first"}, {ID: "now", Newest: 2, Folder: "other"}}, 0, true},
		"a call of a node is missing":   {[]postgres.Former{{ID: "moved", Newest: 2, Node: 7}}, 5, true},
		"a call of a lost node":         {[]postgres.Former{{ID: "now", Newest: 1, Node: 8}}, 0, true},
		"nothing is missing":            {[]postgres.Former{{ID: "now", Newest: 1, Folder: "other"}, {ID: "now", Newest: 1, Node: 7}, {ID: "now"}}, 0, false},
		"a node of the folder has it":   {[]postgres.Former{{ID: "now", Newest: 1, Node: 6}}, 0, false},
		"a row that was removed":        {[]postgres.Former{{ID: "now", Newest: 5, Node: 8}}, 5, false},
		"and the folder is back":        {[]postgres.Former{{ID: "now", Newest: 5, Folder: "first"}}, 5, false},
		"a move is missing":             {[]postgres.Former{{ID: "moved", Next: "later"}}, 0, true},
		"a move is there":               {[]postgres.Former{{ID: "moved", Next: "now"}}, 0, false},
		"another ledger":                {[]postgres.Former{{ID: "first", Newest: 2, Node: 7}}, 0, false},
		"an older build":                {nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			address := postgrestest.Database(t)
			storetest.Must(t, open(t, config(address, "first")).Close())
			execute(t, address, "UPDATE toolhost_ledger SET id = 'now', former = '{moved}', pruned = $1", test.pruned)
			cfg := config(address, "other")
			cfg.Node.Number = 6
			storetest.Must(t, open(t, cfg).Close())
			cfg.Node.Number = 7
			other := open(t, cfg)
			storetest.Must(t, begin(t, other, "x"))
			cfg = config(address, "a")
			cfg.Ledger, cfg.Earlier = "later", test.earlier
			var ids []string
			var earlier []postgres.Former
			refused := errors.New("refused")
			cfg.Settle = func(s *postgres.Store) error {
				if s.Lost() || s.Is("later") {
					t.Error("the database is said to have the ledger, or to have lost calls of the folder")
				}
				ids, earlier = append(ids, s.ID()), s.Earlier()
				return refused
			}
			for range 2 {
				_, err := postgres.Open(t.Context(), cfg)
				want(t, "the start", err, refused)
			}
			if renewed := ids[0] != "now"; renewed != test.renewed || ids[1] != ids[0] {
				t.Errorf("at two starts, the ledger is %q", ids)
			}
			for _, f := range test.earlier {
				if !slices.Contains(earlier, f) {
					t.Errorf("%v does not know %v any more", earlier, f)
				}
			}
			var why error
			if test.renewed {
				why = postgres.ErrLost
			}
			if err := begin(t, other, "y"); !errors.Is(err, why) {
				t.Errorf("a begin at another node: %v, want %v", err, why)
			}
		})
	}
}

// A node whose ledger got its id from a file that was moved knows the ids from before. So does a
// start whose folder belonged to another ledger.
func TestEarlier(t *testing.T) {
	address := postgrestest.Database(t)
	first := open(t, config(address, "a"))
	execute(t, address, "UPDATE toolhost_ledger SET former = ARRAY[id], id = 'moved'")
	cfg := config(address, "b")
	cfg.Ledger, cfg.Newest, cfg.NotedBy = "foreign", 5, "b"
	moved := open(t, cfg)
	want := []postgres.Former{{ID: "foreign", Newest: 5, Folder: "b"}, {ID: first.ID(), Next: "moved"}}
	if diff := cmp.Diff(want, moved.Earlier()); diff != "" {
		t.Errorf("earlier ids (want, got): %s", diff)
	}
	// A copy from before the move.
	execute(t, address, "UPDATE toolhost_ledger SET id = former[1], former = '{}'")
	breakSessions(t, address)
	if err := begin(t, moved, "x"); !errors.Is(err, postgres.ErrLost) {
		t.Errorf("a begin without the move: %v", err)
	}
	after := open(t, config(address, "c"))
	if diff := cmp.Diff([]postgres.Former{{ID: first.ID(), Next: "moved"}}, after.Earlier()); diff != "" {
		t.Errorf("earlier ids after a renewal (want, got): %s", diff)
	}
}

// Of the calls that the database does not have, the newest is noted: an older copy has the others.
// All ids that the ledger had are lost with it.
func TestTheNewestLostCallIsNoted(t *testing.T) {
	address := postgrestest.Database(t)
	var nodes []*postgres.Store
	for i, folder := range []string{"a", "b", "c", "d"} {
		cfg := config(address, folder)
		cfg.Node.Number = int64(i) + 1
		nodes = append(nodes, open(t, cfg))
		storetest.Must(t, begin(t, nodes[i], folder))
	}
	look(t, nodes...)
	id := nodes[0].ID()
	execute(t, address, "UPDATE toolhost_ledger SET former = '{moved}'")
	execute(t, address, "UPDATE toolhost_beats SET newest = 1 WHERE newest IN (2, 3)")
	breakSessions(t, address)
	for _, n := range nodes {
		<-n.Gone()
	}
	got := open(t, config(address, "after")).Earlier()
	if diff := cmp.Diff([]postgres.Former{{ID: "moved", Newest: 3, Node: 3}, {ID: id, Newest: 3, Node: 3}}, got); diff != "" {
		t.Errorf("what is missing (want, got): %s", diff)
	}
}

// breakSessions ends all sessions with a database.
func breakSessions(t testing.TB, address string) {
	t.Helper()
	execute(t, address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
}
