//go:build more

package postgres_test

import (
	"encoding/json"
	"testing"
	"time"

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
			n, first, err := s.Unowned(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, n)
			if n > 0 {
				since = first
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
