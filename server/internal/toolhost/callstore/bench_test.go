package callstore_test

import (
	"database/sql"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

func BenchmarkBeginEnd(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			store := open(b, config(b))
			var next atomic.Int64
			b.SetParallelism((callers + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
			if callers == 1 {
				for b.Loop() {
					call(b, store, next.Add(1))
				}
				return
			}
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					call(b, store, next.Add(1))
				}
			})
		})
	}
}

func call(b testing.TB, store *callstore.Store, n int64) {
	id := fmt.Sprintf("run-01JABCDEFGHJKMNPQRSTVWXYZ/turn-%d", n)
	if err := store.Begin(b.Context(), entry(id)); err != nil {
		b.Error(err)
	}
	if err := store.End(b.Context(), key(id), answer("a result of the usual size, which is to say that it has a few words and numbers")); err != nil {
		b.Error(err)
	}
}

func BenchmarkFind(b *testing.B) {
	store := open(b, config(b))
	for n := range 1000 {
		call(b, store, int64(n))
	}
	for name, format := range map[string]string{"miss": "other-%d", "hit": "run-01JABCDEFGHJKMNPQRSTVWXYZ/turn-%d"} {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if _, found, err := store.Find(b.Context(), key(fmt.Sprintf(format, n%1000))); err != nil || found != (name == "hit") {
					b.Fatal(found, err)
				}
			}
		})
	}
}

// BenchmarkOpenFull opens stores of many calls. It reports how much memory and disk each call
// takes, and the time of the slowest of some calls.
func BenchmarkOpenFull(b *testing.B) {
	for _, calls := range []int{100_000, 1_000_000, 5_000_000} {
		b.Run(fmt.Sprint("calls=", calls), func(b *testing.B) {
			cfg := config(b)
			cfg.MaxIDs = 2 * calls
			store := open(b, cfg)
			call(b, store, 1)
			shut(b, store)
			fill(b, cfg.Path, calls)
			file, err := os.Stat(cfg.Path)
			must(b, err)
			var grown uint64
			var slowest time.Duration
			for b.Loop() {
				before := heap()
				store := open(b, cfg)
				grown = heap() - before
				for n := range 100 {
					begin := time.Now()
					call(b, store, int64(calls+n+2))
					slowest = max(slowest, time.Since(begin))
				}
				shut(b, store)
				must(b, forget(b, cfg.Path, calls))
			}
			b.ReportMetric(float64(grown)/float64(calls), "memory-B/id")
			b.ReportMetric(float64(file.Size())/float64(calls), "disk-B/id")
			b.ReportMetric(float64(slowest.Microseconds()), "µs/slowest-call")
		})
	}
}

// forget removes the calls after the first ones.
func forget(b testing.TB, path string, calls int) error {
	db, err := sql.Open("sqlite", path)
	must(b, err)
	defer db.Close()
	_, err = db.ExecContext(b.Context(), "DELETE FROM calls WHERE number > ?", calls)
	return err
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// fill adds copies of the first call.
func fill(b testing.TB, path string, calls int) {
	db, err := sql.Open("sqlite", path)
	must(b, err)
	defer db.Close()
	_, err = db.ExecContext(b.Context(), `
		WITH RECURSIVE n (i) AS (SELECT max(number) + 1 FROM calls UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO calls (number, hash, begun, state, ended, outcome, principal, session, id, sum, tool, plugin, instance)
		SELECT i, randomblob(16), ?, state, ended, NULL, principal, session, id || i, sum, tool, plugin, instance FROM n, calls WHERE number = 1`,
		calls, time.Now().UnixNano())
	must(b, err)
}
