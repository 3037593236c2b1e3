//go:build more

package agent_test

import (
	"crypto/rand"
	"flag"
	"fmt"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
)

var temporalAddress = flag.String("temporal.address", "", "for BenchmarkEngines: the `ADDRESS` of a Temporal service, with the namespace default, instead of the one in memory")

// BenchmarkEngines compares engines with one store: a turn of a run of 20, and a wake, which is the
// time from the decision that a run waits for to the end of its last turn. The ratio counts, not
// the times. See docs/temporal.md.
func BenchmarkEngines(b *testing.B) {
	engines := map[string]func(b *testing.B) agent.Engine{
		"local": func(*testing.B) agent.Engine { return agent.Local{} },
		"temporal": func(b *testing.B) agent.Engine {
			service := &temporaltest.Service{Address: *temporalAddress}
			if service.Address == "" {
				service = temporaltest.Start(b)
			}
			return newTemporal(b, service, rand.Text()) // nobody has its runs
		},
	}
	for name, engine := range engines {
		b.Run("turn/"+name, func(b *testing.B) { benchmarkTurns(b, benchmarkStore(b), engine(b), 1) })
		b.Run("wake/"+name, func(b *testing.B) { benchmarkWakes(b, benchmarkStore(b), engine(b)) })
	}
}

// benchmarkStore returns a store in PostgreSQL, which writes as it does for users.
func benchmarkStore(b *testing.B) runstore.Store {
	server := postgrestest.Start(b, "fsync=on")
	store, err := postgres.Open(b.Context(), database.Config{URL: server.URL("postgres")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}

func benchmarkWakes(b *testing.B, store runstore.Store, engine agent.Engine) {
	tools := newTools(careful)
	cfg := agent.Config{Store: store, Model: asksOnce(), Tools: tools, Engine: engine}
	withPeople(&cfg)
	a, err := agent.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer tools.group.Wait()
	defer a.Close()
	driven(b, a, engine)
	for i := range b.N {
		if _, err := a.StartRun(b.Context(), loop.Task{RunID: fmt.Sprint("r", i), Prompt: "hello"}); err != nil {
			b.Fatal(err)
		}
	}
	eventually.Shows(b, "the runs wait", func() (bool, any) {
		runs, _, err := a.ListRuns(b.Context(), agent.RunQuery{States: []agent.RunState{agent.RunWaiting}, Size: b.N})
		return err == nil && len(runs) == b.N, len(runs)
	})
	b.ResetTimer()
	for i := range b.N {
		if _, err := a.Respond(b.Context(), fmt.Sprint("r", i), approve("d1")); err != nil {
			b.Fatal(err)
		}
		for _, err := range a.WatchRun(b.Context(), fmt.Sprint("r", i), 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
}
