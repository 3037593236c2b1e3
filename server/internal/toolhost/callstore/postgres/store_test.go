//go:build more

package postgres_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Main(m)) }

func config(address, folder string) postgres.Config {
	return postgres.Config{
		Database: database.Config{URL: address},
		Node:     postgres.Node{Name: "machine-" + folder, Folder: folder, Boot: "boot"},
	}
}

func open(t testing.TB, cfg postgres.Config) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestConformance(t *testing.T) {
	configs := map[storetest.Store]postgres.Config{}
	begin := func(t testing.TB, cfg postgres.Config) storetest.Store {
		store := open(t, cfg)
		configs[store] = cfg
		return store
	}
	storetest.Run(t, storetest.Harness{
		New: func(t testing.TB, cfg storetest.Config) storetest.Store {
			c := config(postgrestest.Database(t), "a")
			c.Bounds, c.Now = cfg.Bounds, cfg.Now
			return begin(t, c)
		},
		Reopen: func(t testing.TB, store storetest.Store) storetest.Store {
			storetest.Must(t, store.Close())
			return begin(t, configs[store])
		},
	})
}
