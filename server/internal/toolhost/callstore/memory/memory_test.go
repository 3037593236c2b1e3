package memory_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/memory"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		New: func(t testing.TB, cfg storetest.Config) storetest.Store {
			store, err := memory.New(memory.Config{Bounds: cfg.Bounds, Now: cfg.Now})
			storetest.Must(t, err)
			return store
		},
		Reopen: func(_ testing.TB, store storetest.Store) storetest.Store { return store.(*memory.Store).Reopen() },
	})
}
