//go:build more

package postgres_test

import (
	"net/url"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
)

// An append whose answer is lost is done once, and Append knows that it is done.
func TestLostAnswers(t *testing.T) {
	s := postgrestest.Shared(t)
	for name, first := range map[string]uint64{"of a new run": 0, "of a run": 1} {
		t.Run(name, func(t *testing.T) {
			c := &postgrestest.Cutter{Mark: []byte(`{"n":77}`)}
			folder := c.Listen(t, s.Folder())
			// One connection: the statement is prepared when the mark arrives.
			store, err := postgres.Open(t.Context(), database.Config{URL: "postgres://postgres@/" + s.Create(t) + "?host=" + url.QueryEscape(folder), PoolSize: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			storetest.Must(t, store, "warm", 0, 1)
			storetest.Must(t, store, "warm", 1, 1)
			if first > 0 {
				storetest.Must(t, store, "r", 0, int(first))
			}
			c.Cuts.Store(1)
			batch := runstore.Batch{RunID: "r", After: first, Records: storetest.Records(77, 1), Head: runstore.Head{Unfinished: true}, Spent: runstore.Spent{Day: 1, Tokens: 5}}
			if err := store.Append(t.Context(), batch); err != nil {
				t.Errorf("the append: %v", err)
			}
			if c.Made.Load() != 1 {
				t.Errorf("%d answers were lost, want 1", c.Made.Load())
			}
			if run, err := store.Get(t.Context(), "r"); err != nil || run.LastSeq != first+1 {
				t.Errorf("the journal ends at %d: %v", run.LastSeq, err)
			}
			if spent, err := store.Spent(t.Context(), 1, runstore.Query{}); err != nil || spent.Tokens != 5 {
				t.Errorf("%d tokens, %v", spent.Tokens, err)
			}
		})
	}
}
