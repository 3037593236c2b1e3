//go:build more

package postgres_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
	"github.com/toolhost/toolhost/tool"
)

var notHappened = tool.Settlement{Verdict: tool.VerdictDidNotHappen}

// repeat begins a call that supersedes others.
func repeat(t testing.TB, store *postgres.Store, id string, of ...string) error {
	t.Helper()
	e := storetest.Entry(id)
	e.Supersedes = of
	return store.BeginWithin(t.Context(), e, callstore.Quota{})
}

// A call that is under way at another node is closed, too: its id is never free, also if its node
// forgets it or is gone. How it ended still counts.
func TestSupersedingACallOfAnotherNode(t *testing.T) {
	address := postgrestest.Database(t)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	for _, id := range []string{"ends", "forgotten", "lost"} {
		e := storetest.Entry(id)
		e.Arguments, e.EffectKey, e.Seals = []byte("{}"), id, true
		storetest.Must(t, a.BeginWithin(t.Context(), e, callstore.Quota{}))
	}
	storetest.Must(t, repeat(t, b, "again", "ends", "forgotten", "lost"))
	want(t, "forgetting", a.Forget(t.Context(), storetest.Key("forgotten")), callstore.ErrNotBegun)
	storetest.Must(t, a.End(t.Context(), storetest.Key("ends"), storetest.Answer("late")))
	if e := find(t, b, "ends"); e.Outcome == nil || e.Outcome.Result.Text() != "late" {
		t.Errorf("the late end: %+v", e)
	}
	want(t, "repeating what has ended", repeat(t, b, "once more", "ends"), callstore.ErrSuperseding)
	for range 2 {
		for _, id := range []string{"forgotten", "lost"} {
			e := find(t, b, id)
			if e.Arguments != nil || e.Unsettled() || e.Sealable() {
				t.Errorf("%s: %+v", id, e)
			}
			want(t, "settling "+id, b.Settle(t.Context(), e.Key, e.Number, notHappened, tool.Outcome{}), callstore.ErrNotUnknown)
			want(t, "beginning "+id, begin(t, b, id), callstore.ErrTaken)
		}
		if find(t, b, "lost").State != callstore.StateUnknown {
			declareGone(t, address, "a")
		}
	}
}

// A call does not begin that repeats one which another node executes after it did not happen.
func TestSupersedingACallThatBeganAgain(t *testing.T) {
	address := postgrestest.Database(t)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	storetest.Must(t, begin(t, a, "x"), a.End(t.Context(), storetest.Key("x"), tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "lost")}))
	e := find(t, a, "x")
	storetest.Must(t, a.Settle(t.Context(), e.Key, e.Number, notHappened, tool.Outcome{}), begin(t, a, "x"))
	want(t, "repeating it", repeat(t, b, "again", "x"), callstore.ErrSuperseding)
	if again := find(t, b, "again"); again.Number != 0 {
		t.Errorf("it has begun: %+v", again)
	}
	// It has an unknown outcome again once its node is gone, and may be repeated.
	declareGone(t, address, "a")
	storetest.Must(t, repeat(t, b, "again", "x"))
	if x := find(t, b, "x"); x.State != callstore.StateUnknown {
		t.Errorf("what it repeats: %+v", x)
	}
	want(t, "beginning it", begin(t, b, "x"), callstore.ErrTaken)
	storetest.Must(t, a.End(t.Context(), e.Key, storetest.Answer("sent")))
	if x := find(t, b, "x"); x.Outcome == nil || x.Outcome.Result.Text() != "sent" {
		t.Errorf("the late end: %+v", x)
	}
}

// A node can repeat a call of its own that reached no plugin, and that another node's call has
// superseded before it could be forgotten.
func TestSupersedingACallThatWasNotForgotten(t *testing.T) {
	address := postgrestest.Database(t)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	storetest.Must(t, begin(t, a, "x"), begin(t, a, "running"), repeat(t, b, "x.a2", "x"))
	want(t, "forgetting", a.Forget(t.Context(), storetest.Key("x")), callstore.ErrNotBegun)
	want(t, "repeating what runs", repeat(t, a, "x.a3", "x", "x.a2", "running"), callstore.ErrSuperseding)
	storetest.Must(t, repeat(t, a, "x.a3", "x", "x.a2"))
	if e := find(t, b, "x"); e.State != callstore.StateEnded || tool.KindOf(e.Err) != tool.KindOutcomeUnknown || e.Ended.IsZero() || e.Elsewhere != "" {
		t.Errorf("the first call: %+v", e)
	}
	storetest.Must(t, a.End(t.Context(), storetest.Key("x.a3"), storetest.Answer("sent")), a.End(t.Context(), storetest.Key("running"), storetest.Answer("")))
}

// inOrder returns ids in the order of their hashes.
func inOrder(ids ...string) []string {
	slices.SortFunc(ids, func(x, y string) int {
		a, b := storetest.Key(x).Hash(), storetest.Key(y).Hash()
		return bytes.Compare(a[:], b[:])
	})
	return ids
}

// locking returns a transaction that has the lock of a call, and a function that takes the lock of
// another one.
func locking(t *testing.T, address, id string) (tx pgx.Tx, lock func(id string) error) {
	conn, err := pgx.Connect(t.Context(), address)
	storetest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	tx, err = conn.Begin(t.Context())
	storetest.Must(t, err)
	lock = func(id string) error {
		hash := storetest.Key(id).Hash()
		_, err := tx.Exec(t.Context(), "SELECT FROM toolhost_calls WHERE hash = $1 FOR UPDATE", hash[:])
		return err
	}
	_, err = tx.Exec(t.Context(), "SET LOCAL lock_timeout = '3s'")
	storetest.Must(t, err, lock(id))
	return tx, lock
}

// waits returns once the other session waits for a lock of the transaction.
func waits(t *testing.T, address string) {
	eventually.Holds(t, "the begin waits for a lock", func() bool {
		return execute(t, address, "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") > 0
	})
}

// A call and those that it supersedes are locked in one order. Otherwise two that supersede each
// other would wait for each other.
func TestSupersedingLocksInOrder(t *testing.T) {
	address := postgrestest.Database(t)
	a := open(t, config(address, "a"))
	ids := inOrder("p", "q", "r")
	for _, id := range ids {
		storetest.Must(t, begin(t, a, id), a.End(t.Context(), storetest.Key(id), tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "lost")}))
	}
	free := func() {
		execute(t, address, "DELETE FROM toolhost_outcomes")
		execute(t, address, "UPDATE toolhost_calls SET state = 5")
	}
	free()
	for i, id := range ids {
		others := slices.Delete(slices.Clone(ids), i, i+1)
		tx, lock := locking(t, address, ids[0])
		_, err := tx.Exec(t.Context(), "SET LOCAL lock_timeout = '1ms'")
		storetest.Must(t, err)
		done := make(chan error, 1)
		go func() { done <- repeat(t, a, id, others...) }() // ends with the test
		waits(t, address)
		storetest.Must(t, lock(ids[1]), lock(ids[2]), tx.Rollback(t.Context()), <-done, a.End(t.Context(), storetest.Key(id), storetest.Answer("")))
		free()
	}
}

// A call that supersedes others gives way if another session has their locks in another order, as a
// statement that ends calls can.
func TestSupersedingGivesWay(t *testing.T) {
	address := postgrestest.Database(t)
	execute(t, address, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''1h''', current_database()); END $$") // the server would end one of them
	a := open(t, config(address, "a"))
	ids := inOrder("p", "q")
	for _, id := range ids {
		storetest.Must(t, begin(t, a, id), a.End(t.Context(), storetest.Key(id), tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "lost")}))
	}
	tx, lock := locking(t, address, ids[1])
	done := make(chan error, 1)
	go func() { done <- repeat(t, a, "again", ids...) }() // ends with the test
	waits(t, address)
	storetest.Must(t, lock(ids[0]), tx.Rollback(t.Context()), <-done)
}

// What a node knows of a call does not count for a later one with its id, also not if the later one
// is its own.
func TestAnotherCallWithTheID(t *testing.T) {
	address := postgrestest.Database(t)
	a := open(t, config(address, "a"))
	storetest.Must(t, begin(t, a, "ended"), begin(t, a, "forgotten"))
	execute(t, address, "UPDATE toolhost_calls SET number = number + 1000, token = 'another'")
	want(t, "ending it", a.End(t.Context(), storetest.Key("ended"), storetest.Answer("of the first")), callstore.ErrNotBegun)
	want(t, "forgetting it", a.Forget(t.Context(), storetest.Key("forgotten")), callstore.ErrNotBegun)
	for _, id := range []string{"ended", "forgotten"} {
		if e := find(t, a, id); e.State != callstore.StateBegun {
			t.Errorf("%s: %+v", id, e)
		}
	}
}
