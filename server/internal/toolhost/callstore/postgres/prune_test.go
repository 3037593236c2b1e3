//go:build more

package postgres_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

// The row of a node goes once nothing needs it: a later node has its folder, the ledger has no call
// of it, and people had a week to see it. The last one of a folder stays longer, and while a
// session has its home there. What the rows counted stays.
func TestRowsOfNodesAreRemoved(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	address := server.URL(database)
	store := open(t, config(address, "live"))
	server.Do(t, database, "ALTER TABLE toolhost_calls ALTER COLUMN number RESTART WITH 100")
	storetest.Must(t, begin(t, store, "x"))
	var rows strings.Builder // written at once, because the live toolhost removes rows, too
	for _, n := range []struct{ node, folder, days, newest string }{
		{"1", "followed", "8", "3"},
		{"2", "followed", "6", "4"},
		{"3", "followed", "", "0"},
		{"4", "last", "8", "5"},
		{"5", "long ago", "91", "50"},
		{"6", "a home", "91", "6"},
		{"7", "a call", "8", "100"},
		{"8", "a call", "7.5", "7"},
		{"9", "a call", "1", "8"},
		{"10", "an older one", "93", "100"},
		{"11", "an older one", "92", "9"},
	} {
		gone := "NULL"
		if n.days != "" {
			gone = "(extract(epoch FROM now() - interval '" + n.days + " days') * 1000000)::bigint * 1000"
		}
		rows.WriteString("INSERT INTO toolhost_nodes (node, name, folder, boot, started, gone) VALUES (" + n.node + ", 'm', '" + n.folder + "', 'b', " + n.node + ", " + gone + ");" +
			"INSERT INTO toolhost_beats (node, count, newest, audited) VALUES (" + n.node + ", 10, " + n.newest + ", 'end of " + n.node + "');")
	}
	rows.WriteString("UPDATE toolhost_beats SET audited = '' WHERE node = 3; INSERT INTO toolhost_homes VALUES ('\\x00', 'a home', 6, 'm', 1)")
	server.Do(t, database, rows.String())
	query := func(sql string) string {
		t.Helper()
		return server.Do(t, database, sql)[0][0]
	}
	open(t, config(address, "prunes"))
	eventually.Holds(t, "rows are removed", func() bool { return query("SELECT count(*) FROM toolhost_nodes WHERE node IN (1, 5, 8)") == "0" })
	if left := query("SELECT string_agg(node::text, ' ' ORDER BY node) FROM toolhost_nodes WHERE node < 12 AND node > 0"); left != "2 3 4 6 7 9 10 11" {
		t.Errorf("the nodes %s are left", left)
	}
	if got := query("SELECT count || ' ' || newest || ' ' || audited FROM toolhost_beats WHERE node = 3"); got != "20 3 end of 1" {
		t.Errorf("the last node of the folder has %s", got)
	}
	for folder, newest := range map[string]int64{"long ago": 50, "a home": 6, "live": 100} {
		if folder == "live" {
			storetest.Must(t, store.Close())
		}
		if again := open(t, config(address, folder)); !again.Has(newest) || again.Has(newest+1) {
			t.Errorf("a start with the folder %q finds another newest call than %d", folder, newest)
		}
	}
	if first := open(t, config(address, "another")); first.Newest() != 0 {
		t.Errorf("a new folder has the newest call %d", first.Newest())
	}
}

// A failover that loses only the removal of rows has lost no call: the row that got what the others
// had counted has less again.
func TestARemovalThatIsLost(t *testing.T) {
	address := postgrestest.Database(t)
	storetest.Must(t, open(t, config(address, "creates the tables")).Close())
	const old = "INSERT INTO toolhost_nodes (node, name, folder, boot, started, gone) VALUES (1, 'm', 'b', 'b', 1, 1); INSERT INTO toolhost_beats (node, newest) VALUES (1, 5);"
	execute(t, address, old+"INSERT INTO toolhost_nodes (node, name, folder, boot, started) VALUES (2, 'm', 'b', 'b', 2); INSERT INTO toolhost_beats (node) VALUES (2)")
	open(t, config(address, "prunes"))
	eventually.Holds(t, "a row is removed", func() bool { return execute(t, address, "SELECT FROM toolhost_nodes WHERE node = 1") == 0 })
	store := open(t, config(address, "a"))
	look(t, store)
	execute(t, address, old+"UPDATE toolhost_beats SET newest = 0 WHERE node = 2; UPDATE toolhost_ledger SET pruned = 0")
	breakSessions(t, address)
	storetest.Must(t, begin(t, store, "x"))
	execute(t, address, "UPDATE toolhost_beats SET newest = 4 WHERE node = 1")
	breakSessions(t, address)
	want(t, "a begin without a call of the rows", begin(t, store, "y"), postgres.ErrLost)
}

// A row that another session locks delays nothing: the rows that were to be removed stay, and the
// ledger does not count as one that cannot be written.
func TestRowsOfNodesThatAreLocked(t *testing.T) {
	address := postgrestest.Database(t)
	cfg := config(address, "a")
	for range 2 {
		storetest.Must(t, open(t, cfg).Close())
	}
	execute(t, address, "UPDATE toolhost_nodes SET gone = 1")
	conn, err := pgx.Connect(t.Context(), address)
	storetest.Must(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	storetest.Must(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM toolhost_beats FOR UPDATE")
	storetest.Must(t, err)
	var log syncbuf.Buffer
	cfg = config(address, "prunes")
	cfg.Database.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	store := open(t, cfg)
	eventually.Holds(t, "the rows are not removed", func() bool { return strings.Contains(log.String(), "were not removed") })
	storetest.Must(t, begin(t, store, "x"))
	if strings.Contains(log.String(), "cannot be written") {
		t.Errorf("the log says: %s", log.String())
	}
	storetest.Must(t, tx.Commit(t.Context()))
}

// A node whose row was removed ends itself: it was gone for long.
func TestANodeWithoutARow(t *testing.T) {
	for name, test := range map[string]struct {
		begins bool   // it has begun a call
		before string // what happens meanwhile
		want   error
	}{
		"idle":                       {want: postgres.ErrGone},
		"with calls":                 {begins: true, want: postgres.ErrGone},
		"and without its connection": {begins: true, before: "UPDATE toolhost_ledger SET pruned = 1", want: postgres.ErrGone},
		"which was lost":             {begins: true, before: "UPDATE toolhost_ledger SET pruned = 0", want: postgres.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			address := postgrestest.Database(t)
			store := open(t, config(address, "a"))
			if test.begins {
				storetest.Must(t, begin(t, store, "x"))
			}
			execute(t, address, "DELETE FROM toolhost_nodes")
			if test.before != "" {
				execute(t, address, test.before)
				breakSessions(t, address)
			}
			<-store.Gone()
			if test.before != "" {
				want(t, "why it ends", store.Why(), test.want)
			}
			if err := begin(t, store, "y"); err == nil {
				t.Error("it begins a call")
			}
		})
	}
}
