//go:build more

package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

// The cost of the ledger for a call with side effects: it looks for the id, begins and ends. The
// ratio of the two stores at the same number of callers counts, not the times.
func BenchmarkCalls(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) storetest.Store{
		"file": func(b *testing.B) storetest.Store {
			store, err := callstore.Open(b.Context(), callstore.Config{Path: filepath.Join(b.TempDir(), "calls.db")})
			storetest.Must(b, err)
			b.Cleanup(func() { store.Close() })
			return store
		},
		"postgres": func(b *testing.B) storetest.Store {
			return open(b, config(postgrestest.Start(b, "fsync=on").URL("postgres"), "a"))
		},
	} {
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) {
				store := open(b)
				var number atomic.Int64
				b.SetParallelism(callers) // times GOMAXPROCS
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						e := storetest.Entry(fmt.Sprint(number.Add(1)))
						_, _, err := store.Find(b.Context(), e.Key)
						storetest.Must(b, err, store.BeginWithin(b.Context(), e, callstore.Quota{}), store.End(b.Context(), e.Key, storetest.Answer("a result of the usual size, which has a few words and numbers")))
					}
				})
			})
		}
	}
}

// BenchmarkNodes measures how many calls with side effects several toolhosts with one database
// begin and end, each for 64 callers.
func BenchmarkNodes(b *testing.B) {
	for _, nodes := range []int{1, 4, 8} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			server := postgrestest.Start(b, "fsync=on")
			address := server.URL("postgres")
			var stores []storetest.Store
			for i := range nodes {
				stores = append(stores, open(b, config(address, fmt.Sprint(i))))
			}
			var number, caller atomic.Int64
			b.SetParallelism(64 * nodes / runtime.GOMAXPROCS(0))
			before := server.Written(b)
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				store := stores[caller.Add(1)%int64(nodes)]
				for p.Next() {
					e := storetest.Entry(fmt.Sprint(number.Add(1)))
					storetest.Must(b, store.BeginWithin(b.Context(), e, callstore.Quota{}), store.End(b.Context(), e.Key, storetest.Answer("a result of the usual size, which has a few words and numbers")))
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			b.ReportMetric(float64(server.Written(b)-before)/float64(b.N), "WAL-B/op")
		})
	}
}

// BenchmarkMove moves a ledger of a million calls from a file. Its memory is that of this process.
func BenchmarkMove(b *testing.B) {
	const calls = 1_000_000
	path := filepath.Join(b.TempDir(), callstore.LedgerFile)
	store := openFile(b, path)
	e := storetest.Entry("0")
	storetest.Must(b, store.BeginWithin(b.Context(), e, callstore.Quota{}), store.End(b.Context(), e.Key, storetest.Answer(strings.Repeat("a result of 100 bytes", 5))), store.Close())
	copyCalls(b, path, calls)
	for b.Loop() {
		m := moveTo(postgrestest.Database(b))
		m.Check = true // so that it can be repeated; only the commit is missing
		var most atomic.Uint64
		watched, stop := context.WithCancel(b.Context())
		var watching sync.WaitGroup
		watching.Go(func() { // ends with stop
			for watched.Err() == nil {
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				most.Store(max(most.Load(), stats.HeapAlloc))
				time.Sleep(10 * time.Millisecond)
			}
		})
		done, err := move(b, path, m)
		stop()
		watching.Wait()
		if storetest.Must(b, err); done.Calls != calls || done.Results != calls {
			b.Fatalf("%+v", done)
		}
		b.ReportMetric(float64(most.Load())/1e6, "MB/most-heap")
	}
}

// copyCalls adds copies of the first call, with its outcome, until a file has so many.
func copyCalls(b *testing.B, path string, calls int) {
	db, err := sqlitefile.Connect(path, 1, "immediate")
	storetest.Must(b, err)
	defer db.Close()
	tx, err := db.BeginTx(b.Context(), nil)
	storetest.Must(b, err)
	defer tx.Rollback()
	call, err := tx.PrepareContext(b.Context(), `INSERT INTO calls (number, hash, begun, state, ended, outcome, principal, session, id, sum, tool, plugin, instance)
		SELECT ?1, ?2, begun, state, ended, ?1, principal, session, ?3, sum, tool, plugin, instance FROM calls WHERE number = 1`)
	storetest.Must(b, err)
	outcome, err := tx.PrepareContext(b.Context(), "INSERT INTO outcomes SELECT ?1, ?1, ended, bytes, data FROM outcomes WHERE place = 1")
	storetest.Must(b, err)
	for n := 2; n <= calls; n++ {
		key := storetest.Key(fmt.Sprint(n))
		hash := key.Hash()
		for _, err := range []error{exec(call.ExecContext(b.Context(), n, hash[:], key.ID)), exec(outcome.ExecContext(b.Context(), n))} {
			storetest.Must(b, err)
		}
	}
	storetest.Must(b, tx.Commit())
}

func exec(_ sql.Result, err error) error { return err }
