//go:build more

package postgres_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
)

// Runs that wait and have no owner are counted by one of the stores, since they began to wait.
func TestUnownedRuns(t *testing.T) {
	address := postgrestest.Database(t)
	stores := []*postgres.Store{open(t, address), open(t, address)}
	begin := time.Unix(1_900_000_000, 0)
	seq := map[string]uint64{}
	add := func(run string, at time.Time, waits bool) {
		t.Helper()
		epoch, err := uint64(0), error(nil)
		if seq[run] > 0 {
			if epoch, err = stores[0].Claim(run); err != nil {
				t.Fatal(err)
			}
		}
		head := runstore.Head{Unfinished: true, Owner: "user:ann"}
		if waits {
			head.Decisions = json.RawMessage(`{"seq":1,"list":[]}`)
		}
		batch := runstore.Batch{RunID: run, After: seq[run], Epoch: epoch, Head: head, Records: []runstore.Record{{Seq: seq[run] + 1, Time: at, Type: "t", Version: 1, Data: []byte("{}")}}}
		if err := stores[0].Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		seq[run]++
	}
	leave := func(run string) {
		t.Helper()
		epoch, err := stores[0].Claim(run)
		if err != nil || !stores[0].Leave([]runstore.Leaving{{RunID: run, Epoch: epoch}}) {
			t.Fatalf("run %s is not left: %v", run, err)
		}
	}
	counted := func() (runs []int, since time.Time) {
		t.Helper()
		for _, s := range stores {
			c, err := s.Census(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, c.Waiting)
			if c.Waiting > 0 {
				since = c.Since
			}
		}
		return runs, since
	}
	add("late", begin.Add(time.Hour), true)
	add("early", begin, true)
	add("early", begin.Add(2*time.Hour), true) // it has waited all the time
	add("works", begin.Add(-time.Hour), true)
	add("idle", begin.Add(-time.Hour), true)
	add("idle", begin.Add(-time.Minute), false)
	for _, run := range []string{"late", "early", "idle"} {
		leave(run)
	}
	if _, err := stores[0].Claim("works"); err != nil {
		t.Fatal(err)
	}
	if _, err := stores[1].ClaimAll(nil); err != nil { // it is a node
		t.Fatal(err)
	}
	eventually.Shows(t, "one store counts the two runs", func() (bool, any) {
		runs, since := counted()
		return runs[0]+runs[1] == 2 && runs[0]*runs[1] == 0 && since.Equal(begin), []any{runs, since}
	})
}

// One of the stores counts the families that are parked, and each one the stores: one that is not
// renewed is silent while it has runs or its session lasts, and lost afterwards.
func TestCensus(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	stores := []*postgres.Store{open(t, s.URL(name)), open(t, s.URL(name))}
	for _, store := range stores {
		if _, err := store.ClaimAll(nil); err != nil { // it is a node
			t.Fatal(err)
		}
	}
	s.Do(t, name, `INSERT INTO agentd_runs (id, created, updated, last_seq, last_append, unfinished, ended, owner, tenant, parent, stalled, claimer) VALUES
		('root', 0, 0, 1, '', true, false, '', '', '', 3, NULL), ('sub', 0, 0, 1, '', true, false, '', '', 'root', 3, NULL), ('alone', 0, 0, 1, '', true, false, '', '', 'ended', 4, NULL),
		('ended', 0, 0, 1, '', false, true, '', '', '', 3, NULL), ('tried', 0, 0, 1, '', true, false, '', '', '', 4, 2), ('fresh', 0, 0, 1, '', true, false, '', '', '', 2, NULL)`)
	s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) SELECT node, '2020-01-01', '2020-01-01' FROM generate_series(1, 3) AS node")
	holder, err := pgx.Connect(t.Context(), s.URL(name))
	if err == nil {
		_, err = holder.Exec(t.Context(), "SELECT pg_advisory_lock(3)")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(t.Context())
	eventually.Shows(t, "two families are parked, and the second and the third store are silent", func() (bool, any) {
		var all []runstore.Census
		for _, store := range stores {
			c, err := store.Census(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		want := runstore.Census{Live: 2, Silent: 2, Lost: 1}
		other := want
		other.Parked = 2
		return all[0] == want && all[1] == other || all[0] == other && all[1] == want, all
	})
}
