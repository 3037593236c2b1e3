package callstore_test

import (
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

func TestConformance(t *testing.T) {
	configs := map[storetest.Store]callstore.Config{}
	begin := func(t testing.TB, cfg callstore.Config) storetest.Store {
		store := open(t, cfg)
		configs[store] = cfg
		return store
	}
	storetest.Run(t, storetest.Harness{
		New: func(t testing.TB, cfg storetest.Config) storetest.Store {
			return begin(t, callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db"), Bounds: cfg.Bounds, Now: cfg.Now})
		},
		Reopen: func(t testing.TB, store storetest.Store) storetest.Store {
			must(t, store.Close())
			return begin(t, configs[store])
		},
	})
}

func ids(entries []callstore.Entry) string {
	text := ""
	for i := range entries {
		text += " " + entries[i].ID
	}
	return text[min(1, len(text)):]
}

func TestOpenTwice(t *testing.T) {
	cfg := config(t)
	store := open(t, cfg)
	if _, err := callstore.Open(t.Context(), cfg); err == nil || !contains(err, "in use by another toolhost") {
		t.Errorf("opening what is open: %v", err)
	}
	shut(t, store)
	open(t, cfg)
}

func TestBadConfig(t *testing.T) {
	for name, cfg := range map[string]callstore.Config{
		"no path":  {},
		"negative": {Path: filepath.Join(t.TempDir(), "x"), Bounds: callstore.Bounds{MaxIDs: -1}},
	} {
		if _, err := callstore.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}
