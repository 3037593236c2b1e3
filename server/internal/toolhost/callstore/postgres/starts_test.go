//go:build more

package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

var _ throttle.Leases = (*postgres.Store)(nil)

// createWithClock returns a database whose clock a test sets, in milliseconds since 1970.
func createWithClock(t *testing.T) (database string, set func(now int64)) {
	t.Helper()
	server := postgrestest.Shared(t)
	database = server.Create(t)
	server.Do(t, database, `ALTER DATABASE "`+database+`" SET search_path = public, pg_catalog`)
	server.Do(t, database, "CREATE TABLE clock AS SELECT 1900000000000 AS now")
	server.Do(t, database, "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT to_timestamp(now / 1000.0) FROM clock$$")
	conn, err := pgx.Connect(t.Context(), server.URL(database))
	storetest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return database, func(now int64) {
		t.Helper()
		_, err := conn.Exec(t.Context(), "UPDATE clock SET now = $1", now)
		storetest.Must(t, err)
	}
}

// Shares that two nodes take count for 70 seconds, and those that do not count any more can be
// taken a second later.
func TestSharesInTheDatabase(t *testing.T) {
	const counted, limit = 70, 100
	database, set := createWithClock(t)
	address := postgrestest.Shared(t).URL(database)
	nodes := []*postgres.Store{open(t, config(address, "a")), open(t, config(address, "b"))}
	random := rand.New(rand.NewPCG(46, 46))
	type share struct{ at, starts int64 }
	var all []share
	remains := func(now, within int64) int64 {
		left := int64(limit)
		for _, s := range all {
			if now-s.at <= within {
				left -= s.starts
			}
		}
		return left
	}
	now := int64(1_900_000_000_000)
	for range 300 {
		now += int64(random.IntN(random.IntN(10_000) + 1))
		set(now)
		most := 1 + random.IntN(12)
		starts, wait, err := nodes[random.IntN(2)].TakeStarts(t.Context(), "tenant red", limit, most, counted*time.Second)
		storetest.Must(t, err)
		may, sure := remains(now, counted*1000), remains(now, (counted+1)*1000)
		if got := int64(starts); got > max(may, 0) || got < min(int64(most), max(sure/16, 1), max(sure, 0)) || got > max(may/16, 1) || starts > most {
			t.Fatalf("after %d shares: took %d of %d to %d that remain, asked for %d", len(all), starts, sure, may, most)
		}
		if starts > 0 {
			all = append(all, share{now, int64(starts)})
			continue
		}
		now += wait.Milliseconds() - 1000
		set(now)
		if remains(now-1000, counted*1000) > 0 {
			t.Fatalf("a pause of %v is too long", wait)
		}
		if now += 1000; remains(now, counted*1000) <= 0 {
			t.Fatalf("a pause of %v is too short", wait)
		}
	}
	if rows := postgrestest.Shared(t).Do(t, database, "SELECT cardinality(seconds) <= 71 FROM toolhost_starts"); len(rows) != 1 || rows[0][0] != "t" {
		t.Errorf("the database has %v", rows)
	}
}

// A clock that is set back makes shares count from then on, not for longer. Rows that are over are
// removed, and no others.
func TestSharesThatAreOver(t *testing.T) {
	database, set := createWithClock(t)
	server, now := postgrestest.Shared(t), int64(1_900_000_000_000)
	store := open(t, config(server.URL(database), "a"))
	take := func(scope string) (int, time.Duration) {
		starts, wait, err := store.TakeStarts(t.Context(), scope, 1, 1, 70*time.Second)
		storetest.Must(t, err)
		return starts, wait
	}
	if n, _ := take("tenant red"); n != 1 {
		t.Fatal(n)
	}
	set(now - 3_600_000)
	if n, wait := take("tenant red"); n != 0 || wait != 71*time.Second {
		t.Errorf("an hour earlier: %d, %v", n, wait)
	}
	for _, after := range []struct {
		time int64
		rows string
	}{{70_999, "principal 0, principal 1, tenant red"}, {71_000, "principal 0, principal 1"}} {
		set(now - 3_600_000 + after.time)
		for i := range 256 { // one of them removes what is over
			take(fmt.Sprint("principal ", i%2))
		}
		if rows := server.Do(t, database, "SELECT string_agg(scope, ', ' ORDER BY scope) FROM toolhost_starts"); rows[0][0] != after.rows {
			t.Errorf("after %d ms, the database has %v", after.time, rows)
		}
	}
	if n, _ := take("tenant red"); n != 1 {
		t.Errorf("when the share is over: %d", n)
	}
}

// Calls that begin at two toolhosts in the same moment are together within the limit, also if one
// of them is then cut off from the database, and killed.
func TestTwoToolhostsHoldALimitTogether(t *testing.T) {
	for _, limit := range []int{1, 10, 1000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			database, _ := createWithClock(t)
			server, cutter := postgrestest.Shared(t), &postgrestest.Cutter{}
			quotas := &throttle.Quotas{Tenant: throttle.Quota{StartsPerMinute: limit}}
			toolhost := func(address, folder string) *throttle.Usage {
				var questions sync.WaitGroup
				store := open(t, config(address, folder))
				t.Cleanup(questions.Wait)
				spawn := func(f func()) bool { questions.Go(f); return true }
				return throttle.NewUsage(throttle.NewShares(t.Context(), store, spawn, slog.New(slog.DiscardHandler)))
			}
			a := toolhost("postgres://postgres@/"+database+"?host="+url.QueryEscape(cutter.Listen(t, server.Folder())), "a")
			b := toolhost(server.URL(database), "b")
			var admitted atomic.Int64
			var group sync.WaitGroup
			var cut atomic.Bool
			begin := func(u *throttle.Usage, callers, calls int) {
				for range callers {
					group.Go(func() {
						for range calls {
							err := u.Begin(t.Context(), quotas, "red/ada")
							switch {
							case err == nil:
								admitted.Add(1)
								u.End("red/ada")
							case err.Kind != tool.KindRateLimited && !(err.Kind == tool.KindUnavailable && u == a && cut.Load()):
								t.Error(err)
							}
						}
					})
				}
			}
			begin(a, 8, 1+limit/32)
			begin(b, 8, 1+limit/32)
			group.Wait()
			cutter.Cuts.Store(1 << 30)
			cut.Store(true)
			begin(b, 8, limit)
			group.Wait()
			c := toolhost(server.URL(database), "c") // another start
			begin(c, 1, 10)
			group.Wait()
			before := admitted.Load()
			begin(a, 1, 70) // what is left of its share
			group.Wait()
			if n := admitted.Load(); n > int64(limit) || limit < 32 && n != int64(limit) || n < int64(limit)/2 {
				t.Errorf("%d calls were admitted, %d of them by the toolhost that is cut off", n, n-before)
			}
			rows := server.Do(t, database, "SELECT scope, (SELECT sum(n) FROM unnest(starts) AS n) FROM toolhost_starts")
			if len(rows) != 1 || strings.Join(rows[0], ": ") != fmt.Sprint("tenant red: ", limit) {
				t.Errorf("the database has %v", rows)
			}
		})
	}
}
