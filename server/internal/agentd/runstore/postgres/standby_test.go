//go:build more

package postgres_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
)

// An append is not acknowledged because its records are visible: if the server stops to wait for a
// synchronous standby, Append waits for one again with a write.
func TestAppendWaitsForTheStandby(t *testing.T) {
	s := postgrestest.Start(t)
	name := s.Create(t)
	store, err := postgres.Open(t.Context(), database.Config{URL: s.URL(name)}) // creates the tables
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	s.Do(t, "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'absent'")
	s.Restart(t)
	if store, err = postgres.Open(t.Context(), database.Config{URL: s.URL(name)}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()

	ended := make(chan error, 1)
	batch := runstore.Batch{RunID: "r", Records: storetest.Records(1, 1), Head: runstore.Head{Unfinished: true}}
	go func() { ended <- store.Append(t.Context(), batch) }() // ends at the latest with the server
	waiting := func(statement string) string {
		t.Helper()
		for range time.Tick(10 * time.Millisecond) {
			select {
			case err := <-ended:
				t.Fatalf("Append returned %v, and no standby has the records", err)
			default:
			}
			if rows := s.Do(t, "postgres", "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '"+statement+"%'"); len(rows) == 1 {
				return rows[0][0]
			}
		}
		panic("unreachable: the ticker does not end")
	}
	s.Do(t, "postgres", "SELECT pg_cancel_backend("+waiting("WITH mother AS")+")")
	waiting("UPDATE agentd_runs SET last_append = last_append")
	if rows := s.Do(t, name, "SELECT last_seq FROM agentd_runs WHERE id = 'r'"); len(rows) != 1 || rows[0][0] != "1" {
		t.Errorf("the row of the run is %q", rows)
	}
	s.Do(t, "postgres", "ALTER SYSTEM RESET synchronous_standby_names")
	s.Do(t, "postgres", "SELECT pg_reload_conf()")
	if err := <-ended; err != nil {
		t.Errorf("the append: %v", err)
	}
}
