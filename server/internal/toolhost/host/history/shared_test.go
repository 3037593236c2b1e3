//go:build more

package history_test

import (
	"context"
	"log/slog"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Main(m)) }

// shared opens the history of a toolhost with a state folder, and the test decides when it is
// copied.
func shared(t *testing.T, address, folder string) *history.Log {
	t.Helper()
	l, err := history.Open(t.Context(), history.Config{
		Path: filepath.Join(folder, "history.db"), Logger: slog.New(slog.DiscardHandler),
		Share: &history.Sharing{Database: postgres.Config{URL: address}, Folder: folder, Name: "on-" + filepath.Base(folder)},
	})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// elsewhere returns the ids and nodes of the calls of other toolhosts, and how many calls their
// statistics count.
func elsewhere(t *testing.T, l *history.Log, since, before time.Time) (calls string, counted uint64) {
	t.Helper()
	var all []string
	must(t, l.CallsElsewhere(t.Context(), since, before, nil, func(c tool.CallRecord) bool {
		all = append(all, c.CallID+" "+c.Node+" "+c.Err.Message)
		return true
	}))
	must(t, l.HoursElsewhere(t.Context(), since, "", nil, func(h *history.Hour) { counted += h.Calls }))
	return strings.Join(all, ", "), counted
}

// Each toolhost sees what others have copied, and its own history once. A copy that is repeated
// changes nothing, and what happened while the database was gone or toolhost was killed follows.
func TestSharedHistory(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	address := server.URL(database)
	cutter := &postgrestest.Cutter{}
	folders := t.TempDir()
	one, two := filepath.Join(folders, "one"), filepath.Join(folders, "two")
	now := time.Now().Truncate(time.Hour).Add(time.Minute)
	a := shared(t, "postgres://postgres@/"+database+"?host="+url.QueryEscape(cutter.Listen(t, server.Folder())), one)
	b := shared(t, address, two)
	sees := func(what string, l *history.Log, since, before time.Time, calls string, counted uint64) {
		t.Helper()
		if got, n := elsewhere(t, l, since, before); got != calls || n != counted {
			t.Errorf("%s: calls %q, want %q; %d counted, want %d", what, got, calls, n, counted)
		}
	}
	copies := func(l *history.Log) {
		t.Helper()
		must(t, l.Flush(t.Context()))
		must(t, l.Copy(t.Context()))
	}
	a.Append(failure("x", now))
	a.Append(hour(now, 2, time.Second))
	a.Append(hour(now.Add(-2*time.Hour), 5, time.Second))
	for range 2 {
		copies(a)
	}
	sees("the other one", b, time.Time{}, time.Time{}, "x on-one no", 7)
	sees("the other one, of this hour", b, now, time.Time{}, "x on-one no", 2)
	sees("the other one, of before", b, time.Time{}, now, "", 7)
	sees("itself", a, time.Time{}, time.Time{}, "", 0)
	b.Append(failure("y", now.Add(time.Second)))
	a.Append(failure("z", now.Add(2*time.Second)))
	a.Append(hour(now, 1, time.Second))
	copies(a)
	copies(b)
	sees("the other one", b, time.Time{}, time.Time{}, "z on-one no, x on-one no", 8)
	sees("the first one", a, time.Time{}, time.Time{}, "y on-two no", 0)

	cutter.Cuts.Store(1 << 30)
	a.Append(failure("while it is gone", now.Add(3*time.Second)))
	a.Append(hour(now.Add(-time.Hour), 4, time.Second))
	must(t, a.Flush(t.Context()))
	if err := a.Copy(t.Context()); err == nil {
		t.Error("copied without the database")
	}
	if got := callsOf(t, a, time.Time{}, time.Time{}); len(got) != 3 {
		t.Errorf("without the database, the first one has %v", got)
	}
	if err := a.CallsElsewhere(t.Context(), time.Time{}, time.Time{}, nil, nil); err == nil || !strings.Contains(err.Error(), "reading the calls of other toolhosts") {
		t.Errorf("without the database: %v", err)
	}
	must(t, a.Close())
	again := shared(t, address, one) // the next start copies it
	copies(again)
	sees("the other one", b, time.Time{}, time.Time{}, "while it is gone on-one no, z on-one no, x on-one no", 12)

	must(t, again.Close())
	other := filepath.Join(folders, "other", "history.db")
	open(t, other, 0).Close()
	fresh, err := history.Open(t.Context(), history.Config{ // the file began anew
		Path: other, Logger: slog.New(slog.DiscardHandler), Share: &history.Sharing{Database: postgres.Config{URL: address}, Folder: one, Name: "on-one"},
	})
	must(t, err)
	defer fresh.Close()
	fresh.Append(failure("new", now.Add(4*time.Second)))
	copies(fresh)
	sees("the other one", b, time.Time{}, time.Time{}, "new on-one no", 12)
}

// More rows than one statement takes are copied and read whole, and reading ends early.
func TestManySharedRows(t *testing.T) {
	address := postgrestest.Database(t)
	folders := t.TempDir()
	a, b := shared(t, address, filepath.Join(folders, "one")), shared(t, address, filepath.Join(folders, "two"))
	now := time.Now()
	const many = 1203
	for i := range many {
		a.Append(failure("c", now.Add(time.Duration(i%7)*time.Second))) // many of one time
		h := hour(now, 1, time.Second)
		h.Hour.Tool = "t" + strings.Repeat("x", i%100) + string(rune('a'+i/100))
		a.Append(h)
	}
	must(t, a.Flush(t.Context()))
	must(t, a.Copy(t.Context()))
	calls, counted := elsewhere(t, b, time.Time{}, time.Time{})
	if n := strings.Count(calls, "on-one"); n != many || counted != many {
		t.Errorf("%d calls, %d counted, want %d", n, counted, many)
	}
	visited := 0
	must(t, b.CallsElsewhere(t.Context(), time.Time{}, time.Time{}, nil, func(tool.CallRecord) bool { visited++; return visited < 3 }))
	if visited != 3 {
		t.Errorf("%d calls were visited", visited)
	}
}

// What is too old, and what the file has removed, leaves the database.
func TestSharedHistoryForgets(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	folder := filepath.Join(t.TempDir(), "one")
	a := shared(t, server.URL(database), folder)
	now := time.Now()
	for _, id := range []string{"a", "b", "c"} {
		a.Append(failure(id, now))
	}
	a.Append(hour(now, 1, time.Second))
	must(t, a.Flush(t.Context()))
	must(t, a.Copy(t.Context()))
	server.Do(t, database, `INSERT INTO toolhost_history_calls VALUES ('gone', 1, 'n', 0, '{}'), ('another', 1, 'n', 9e18::bigint, '{}');
		INSERT INTO toolhost_history_hours VALUES ('gone', 0, 't', 't', 'p', '{}'), ('another', 9e18::bigint, 't', 't', 'p', '{}')`)
	a.Change(t, "DELETE FROM calls WHERE number = 1")
	must(t, a.Prune(t.Context()))
	rows := server.Do(t, database, "SELECT (SELECT string_agg(number::text, ' ' ORDER BY folder DESC, number) FROM toolhost_history_calls), (SELECT count(*)::text FROM toolhost_history_hours)")
	if rows[0][0] != "1 2 3" && rows[0][0] != "2 3 1" || rows[0][1] != "2" {
		t.Errorf("the database has %v", rows)
	}
}

// What a tenant may not see is not read, and neither are other plugins. Calls that an older
// toolhost has copied are read: it does not say whose they are.
func TestSharedHistoryOfATenant(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	folders := t.TempDir()
	a, b := shared(t, server.URL(database), filepath.Join(folders, "one")), shared(t, server.URL(database), filepath.Join(folders, "two"))
	now := time.Now()
	for _, tenant := range []string{"red", "blue"} {
		call := failure("of "+tenant, now)
		call.Call.Principal = tenant + "/ada"
		a.Append(call)
		for _, plugin := range []string{"fs", "mail"} {
			h := hour(now, 1, time.Second)
			h.Hour.Tenant, h.Hour.Plugin = tenant, plugin
			a.Append(h)
		}
	}
	must(t, a.Flush(t.Context()))
	must(t, a.Copy(t.Context()))
	read := func(plugin string, tenants tool.Tenants) (counted uint64, calls []string) {
		t.Helper()
		must(t, b.HoursElsewhere(t.Context(), time.Time{}, plugin, tenants, func(h *history.Hour) { counted += h.Calls }))
		must(t, b.CallsElsewhere(t.Context(), time.Time{}, time.Time{}, tenants, func(c tool.CallRecord) bool { calls = append(calls, c.CallID); return true }))
		return counted, calls
	}
	for _, test := range []struct {
		plugin  string
		tenants tool.Tenants
		counted uint64
		calls   int
	}{{"", nil, 4, 2}, {"fs", nil, 2, 2}, {"", tool.Tenants{"red"}, 2, 1}, {"mail", tool.Tenants{"red"}, 1, 1}, {"", tool.Tenants{}, 0, 0}, {"", tool.Tenants{"red", "red", "blue"}, 4, 2}} {
		if counted, calls := read(test.plugin, test.tenants); counted != test.counted || len(calls) != test.calls {
			t.Errorf("of %q and the tenants %q: %d counted, and the calls %q", test.plugin, test.tenants, counted, calls)
		}
	}
	server.Do(t, database, "UPDATE toolhost_history_calls SET tenant = NULL")
	if _, calls := read("", tool.Tenants{"red"}); len(calls) != 2 {
		t.Errorf("of an older toolhost: %q", calls)
	}
}

// What a tenant reads does not depend on how many calls of others have failed.
func TestSharedHistoryOfATenantUsesAnIndex(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	shared(t, server.URL(database), t.TempDir())
	server.Do(t, database, `INSERT INTO toolhost_history_calls (folder, number, node, time, data, tenant)
		SELECT 'other', n, 'machine', n, '', CASE WHEN n % 1000 = 0 THEN 'red' ELSE 'blue' END FROM generate_series(1, 50000) n; ANALYZE toolhost_history_calls`)
	conn, err := pgx.Connect(t.Context(), server.URL(database))
	must(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE) "+history.CallsOfTenants, "this", int64(0), int64(math.MaxInt64), "", int64(0), 10, []string{"red"})
	must(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if plan := strings.Join(lines, "\n"); strings.Count(plan, "toolhost_history_calls_tenant") != 2 || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Removed by Filter") {
		t.Error(plan)
	}
}
