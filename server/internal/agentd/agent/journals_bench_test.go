//go:build more

package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
)

// journals are the stores of runs on disk that the benchmarks compare. PostgreSQL writes as it does
// for users, and written returns the size of its log.
var journals = map[string]func(b *testing.B) (store runstore.Store, written func() int64){
	"sqlite": func(b *testing.B) (runstore.Store, func() int64) {
		store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "runs.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		return store, nil
	},
	"postgres": func(b *testing.B) (runstore.Store, func() int64) {
		server := postgrestest.Start(b, "fsync=on")
		store, err := postgres.Open(b.Context(), database.Config{URL: server.URL("postgres")})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		return store, func() int64 { return server.Written(b) }
	},
}

// BenchmarkJournals compares a turn on both stores. The ratio counts, not the times. See
// docs/scale.md.
func BenchmarkJournals(b *testing.B) {
	for _, atOnce := range []int{1, 16, 64} {
		for name, open := range journals {
			b.Run(fmt.Sprintf("at-once=%d/%s", atOnce, name), func(b *testing.B) {
				store, written := open(b)
				if written == nil {
					written = func() int64 { return 0 }
				}
				before := written()
				benchmarkTurns(b, store, nil, atOnce)
				b.ReportMetric(float64(written()-before)/float64(b.N), "WAL-B/op")
			})
		}
	}
}

// BenchmarkWatches compares watches of a finished run of 20 turns on both stores, from its first
// event to its end.
func BenchmarkWatches(b *testing.B) {
	for _, watchers := range []int{1, 16} {
		for name, open := range journals {
			b.Run(fmt.Sprintf("watchers=%d/%s", watchers, name), func(b *testing.B) {
				store, _ := open(b)
				a, err := agent.New(agent.Config{Store: store, Model: &atOnceModel{turns: 20}, Tools: atOnceTools{}})
				if err != nil {
					b.Fatal(err)
				}
				defer a.Close()
				if _, err := a.StartRun(b.Context(), loop.Task{Prompt: "go", RunID: "r"}); err != nil {
					b.Fatal(err)
				}
				watch(b, a)
				var group sync.WaitGroup
				b.ResetTimer()
				for range watchers {
					group.Go(func() {
						for range (b.N + watchers - 1) / watchers {
							watch(b, a)
						}
					})
				}
				group.Wait()
			})
		}
	}
}

// watch reads a run to its end.
func watch(b *testing.B, a *agent.Agent) {
	for _, err := range a.WatchRun(context.Background(), "r", 0) {
		if err != nil {
			b.Error(err)
		}
	}
}
