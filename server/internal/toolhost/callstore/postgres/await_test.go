//go:build more

package postgres_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

// A begin is not acknowledged because its row is visible: if the server stops to wait for a
// synchronous standby, the store writes the begin again, and so waits for the standby again. Until
// then, a failover would lose the call, and its id would be executed twice.
func TestABeginWaitsForTheStandby(t *testing.T) {
	s := postgrestest.Start(t)
	name := s.Create(t)
	cfg := config(s.URL(name), "a")
	cfg.Patience = time.Hour
	store := open(t, cfg)
	storetest.Must(t, begin(t, store, "before"))
	s.Do(t, "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'absent'")
	s.Do(t, "postgres", "SELECT pg_reload_conf()")
	eventually.Holds(t, "a beat waits for the standby, so the server knows that it must", func() bool {
		return len(s.Do(t, "postgres", "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")) == 1
	})
	begun := make(chan error, 1)
	go func() { begun <- begin(t, store, "x") }() // ends at the latest with the server
	// stop waits until a statement waits for the standby, and makes the server stop to wait.
	stop := func(of string) (statement string) {
		t.Helper()
		for range time.Tick(10 * time.Millisecond) {
			select {
			case err := <-begun:
				t.Fatalf("the begin returned %v, and no standby has it", err)
			default:
			}
			rows := s.Do(t, "postgres", "SELECT pid, left(query, 13) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '"+of+"%'")
			if len(rows) == 1 {
				s.Do(t, "postgres", "SELECT pg_cancel_backend("+rows[0][0]+")")
				return rows[0][1]
			}
		}
		panic("unreachable: the ticker does not end")
	}
	const beginning = "WITH named AS"
	for stop("") != beginning { // beats come before
	}
	eventually.Holds(t, "the begin is visible", func() bool {
		_, found, err := store.Find(t.Context(), storetest.Key("x"))
		return err == nil && found
	})
	stop(beginning)
	s.Do(t, "postgres", "ALTER SYSTEM RESET synchronous_standby_names")
	s.Do(t, "postgres", "SELECT pg_reload_conf()")
	if err := <-begun; err != nil {
		t.Errorf("the begin: %v", err)
	}
}

// A begin that is refused leaves no row, also if an attempt has written it whose answer was lost.
func TestABeginThatIsRefusedTooLate(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	c := &postgrestest.Cutter{Mark: []byte("mark-77")}
	cfg := config("postgres://postgres@/"+database+"?host="+url.QueryEscape(c.Listen(t, server.Folder())), "a")
	cfg.Took = func(kind string, _ time.Duration) {
		if kind == "begin" && c.Made.Load() == 1 { // the first attempt has failed, and there was no other one
			declareGone(t, server.URL(database), "a")
			c.Made.Add(1)
		}
	}
	store := open(t, cfg)
	storetest.Must(t, begin(t, store, "warm"))
	c.Cuts.Store(1)
	want(t, "beginning", begin(t, store, "mark-77"), postgres.ErrGone)
	storetest.Must(t, store.Forget(t.Context(), storetest.Key("other"))) // what is owed comes first
	if _, found, err := store.Find(t.Context(), storetest.Key("mark-77")); err != nil || found {
		t.Errorf("the call is recorded: %v, %v", found, err)
	}
}

// End returns when the end is written, so whoever is told the outcome then, the ledger has it.
func TestAnEndIsAwaited(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, config(address, "a"))
	storetest.Must(t, begin(t, store, "x"))
	conn, err := pgx.Connect(t.Context(), address)
	storetest.Must(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	storetest.Must(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM toolhost_calls FOR UPDATE")
	storetest.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- store.End(t.Context(), storetest.Key("x"), storetest.Answer("yes")) }()
	eventually.Holds(t, "the end waits", func() bool {
		return execute(t, address, "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") > 0
	})
	select {
	case err := <-ended:
		t.Errorf("End returned %v before the end was written", err)
	default:
	}
	storetest.Must(t, tx.Commit(t.Context()), <-ended)
	storetest.WantState(t, store, "x", callstore.StateEnded)
}
