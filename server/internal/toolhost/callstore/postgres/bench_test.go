//go:build more

package postgres_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
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
		"postgres": func(b *testing.B) storetest.Store { return open(b, config(postgrestest.Database(b), "a")) },
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
