//go:build more

package postgres_test

import (
	"errors"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

// pair is a server and its standby, with a database that stores reach at the one that accepts
// writes. Their role may not ask for anything that roles need not be able to, and some services do
// not answer.
type pair struct {
	primary, standby *postgrestest.Server
	database         string
}

func newPair(t *testing.T) *pair {
	p := &pair{primary: postgrestest.Start(t)}
	p.database = p.primary.Create(t)
	p.primary.Do(t, p.database, "CREATE ROLE ordinary LOGIN PASSWORD 'of-the-test'; GRANT ALL ON SCHEMA public TO ordinary")
	p.primary.Do(t, p.database, "REVOKE EXECUTE ON FUNCTION pg_control_system(), pg_current_wal_insert_lsn(), pg_current_wal_lsn(), pg_current_wal_flush_lsn(), pg_walfile_name(pg_lsn) FROM PUBLIC")
	t.Setenv("PGPASSWORD", "of-the-test")
	p.standby = p.primary.Standby(t)
	return p
}

func (p *pair) open(t *testing.T, folder string) *postgres.Store {
	cfg := config("postgres://ordinary@/"+p.database+"?host="+url.QueryEscape(p.primary.Folder()+","+p.standby.Folder()), folder)
	cfg.Patience = time.Minute // a failover takes a while
	return open(t, cfg)
}

// look waits until each store has read the newest calls of all: it was told of a call before.
func look(t *testing.T, stores ...*postgres.Store) {
	t.Helper()
	for _, s := range stores {
		for range 2 { // the first may have begun before
			last := s.Beaten()
			eventually.Holds(t, "a node beats", func() bool { return s.Beaten() != last })
		}
	}
}

// ledgerID returns the id of the ledger in the database of a server.
func (p *pair) ledgerID(t *testing.T, at *postgrestest.Server) string {
	t.Helper()
	return at.Do(t, p.database, "SELECT id FROM toolhost_ledger")[0][0]
}

// fail is a failover to the standby without what the primary has written since the standby was
// stopped.
func (p *pair) fail(t *testing.T) {
	t.Helper()
	p.primary.Kill()
	p.standby.Resume(t)
	p.standby.Promote(t)
}

// After a failover that loses nothing, the nodes continue. One that then meets the server from
// before ends itself before it begins a call: others may have begun calls that this server does not
// have.
func TestFailover(t *testing.T) {
	p := newPair(t)
	a, b := p.open(t, "a"), p.open(t, "b")
	storetest.Must(t, begin(t, a, "x"))
	p.primary.Stop() // the standby gets all of it
	p.standby.Promote(t)
	want(t, "repeating the call after a failover", begin(t, a, "x"), callstore.ErrTaken)
	storetest.Must(t, begin(t, a, "y"))
	look(t, a, b)
	if a.Why() != nil || b.Why() != nil {
		t.Errorf("after the failover, the nodes end: %v, %v", a.Why(), b.Why())
	}
	p.standby.Stop()
	p.primary.Resume(t)
	want(t, "a call at the server from before", begin(t, a, "z"), postgres.ErrLost)
	want(t, "the call that it does not have, at another node", begin(t, b, "y"), postgres.ErrLost)
}

// A standby that was promoted without the last calls is found by each node before its next begin,
// also by one that has lost nothing itself, and after others have written more to the standby than
// was lost. The ledger gets another id, so that a call that was first sent under the former one is
// not executed.
func TestAFailoverThatLosesCalls(t *testing.T) {
	p := newPair(t)
	a, b := p.open(t, "a"), p.open(t, "b")
	storetest.Must(t, begin(t, a, "x"))
	p.primary.AwaitStandby(t, p.standby)
	p.standby.Stop()
	storetest.Must(t, begin(t, a, "lost"))
	look(t, b)
	id := a.ID()
	p.fail(t)
	p.standby.Do(t, p.database, "CREATE TABLE more AS SELECT generate_series(1, 200000)")
	want(t, "repeating a lost call at another node", begin(t, b, "lost"), postgres.ErrLost)
	want(t, "repeating it at its node", begin(t, a, "lost"), postgres.ErrLost)
	if p.ledgerID(t, p.standby) == id {
		t.Error("the ledger has the id of before")
	}
}

// A failover that loses only beats has lost no call. The nodes go on, also those that know more
// beats.
func TestAFailoverThatLosesBeats(t *testing.T) {
	p := newPair(t)
	a, b := p.open(t, "a"), p.open(t, "b")
	storetest.Must(t, begin(t, a, "x"))
	p.primary.AwaitStandby(t, p.standby)
	p.standby.Stop()
	look(t, a, b)
	id := a.ID()
	p.fail(t)
	want(t, "repeating the call", begin(t, b, "x"), callstore.ErrTaken)
	storetest.Must(t, begin(t, a, "y"))
	look(t, a, b)
	if a.Why() != nil || b.Why() != nil || p.ledgerID(t, p.standby) != id {
		t.Errorf("the nodes end: %v, %v, and the ledger %s is %s", a.Why(), b.Why(), id, p.ledgerID(t, p.standby))
	}
}

// No node begins a call under the id of a ledger that another node has found to have lost calls,
// from the next statement on. A node that begins none ends with its next beat.
func TestALedgerThatWasRenewed(t *testing.T) {
	address := postgrestest.Database(t)
	begins, idle := open(t, config(address, "begins")), open(t, config(address, "idle"))
	look(t, begins, idle)
	conn, err := pgx.Connect(t.Context(), address)
	storetest.Must(t, err)
	defer conn.Close(t.Context())
	rename := func(set string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), "UPDATE toolhost_ledger SET "+set)
		storetest.Must(t, err)
	}
	rename("former = ARRAY[id], id = 'of a file that was moved'")
	storetest.Must(t, begin(t, begins, "x"))
	look(t, idle)
	if idle.Why() != nil {
		t.Errorf("after a move, a node ends: %v", idle.Why())
	}
	rename("id = 'renewed', former = '{}'")
	want(t, "a begin", begin(t, begins, "y"), postgres.ErrLost)
	look(t, idle)
	want(t, "why the other one ends", idle.Why(), postgres.ErrLost)
}

// A start with a state folder that has noted a call that the database does not have gives the
// ledger another id, once: whoever accepts the loss starts with that id. Other nodes begin no more.
func TestAStartFindsALoss(t *testing.T) {
	const older = "DELETE FROM toolhost_nodes WHERE gone IS NOT NULL; UPDATE toolhost_beats SET newest = 110" // others have gone on
	for name, test := range map[string]struct {
		loss  string
		noted string // the id that the folder had
		lost  bool
	}{
		"nothing":                      {"", "a", false},
		"a call":                       {"UPDATE toolhost_beats SET newest = 1 WHERE newest = 2", "a", true},
		"a call of an earlier build":   {"UPDATE toolhost_beats SET newest = 1 WHERE newest = 2", "", true},
		"the rows":                     {"DELETE FROM toolhost_nodes WHERE gone IS NOT NULL", "", true},
		"the rows, after others began": {older, "a", true},
		"it may be another folder":     {older, "", false},
		"the id of the folder":         {"UPDATE toolhost_nodes SET folder = 'before' WHERE gone IS NOT NULL", "before", false},
		"rows that are old":            {"DELETE FROM toolhost_nodes WHERE gone IS NOT NULL; UPDATE toolhost_ledger SET pruned = 2", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			address := postgrestest.Database(t)
			other := open(t, config(address, "other"))
			cfg := config(address, "a")
			store := open(t, cfg)
			storetest.Must(t, begin(t, store, "x"))
			storetest.Must(t, begin(t, store, "y"))
			storetest.Must(t, store.Close())
			cfg.Ledger, cfg.Newest, cfg.NotedBy = store.ID(), 2, test.noted
			execute(t, address, test.loss)
			refused := errors.New("refused")
			for i, accepts := range []bool{false, false, true} {
				before := cfg.Ledger
				cfg.Settle = func(s *postgres.Store) error {
					if renewed := s.ID() != before; renewed != test.lost || s.Lost() != (renewed && i == 0) || s.Is(before) == renewed {
						t.Errorf("at start %d, the ledger has another id: %v, and has lost calls: %v, want %v", i, renewed, s.Lost(), test.lost)
					}
					if lost := (postgres.Former{ID: before, Newest: 2, Folder: "a"}); i == 0 && slices.Contains(s.Earlier(), lost) != test.lost {
						t.Errorf("the ledger has noted %v", s.Earlier())
					}
					if !accepts {
						return refused
					}
					cfg.Ledger, cfg.Newest, cfg.NotedBy = s.ID(), s.Newest(), cfg.Node.Folder
					return nil
				}
				store, err := postgres.Open(t.Context(), cfg)
				switch {
				case err == nil:
					storetest.Must(t, store.Close())
				case accepts || !errors.Is(err, refused):
					t.Fatal(err)
				}
			}
			cfg.Settle = nil
			if again := open(t, cfg); again.ID() != cfg.Ledger || again.Lost() {
				t.Error("the ledger gets another id again after the loss was accepted")
			}
			var why error
			if test.lost {
				why = postgres.ErrLost
			}
			if err := begin(t, other, "z"); !errors.Is(err, why) {
				t.Errorf("a begin at another node: %v, want %v", err, why)
			}
		})
	}
}
