//go:build !race

package callstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// List finds calls that are far behind the newest ones.
func TestListFarBack(t *testing.T) {
	cfg := config(t)
	store := open(t, cfg)
	e := entry("first")
	e.Tool = "pay"
	must(t, store.Begin(t.Context(), entry("before")), store.Begin(t.Context(), e))
	shut(t, store)
	fill(t, cfg.Path, 8_500) // more than one statement reads
	store = open(t, cfg)
	got, err := store.List(t.Context(), callstore.Query{Tool: "pay"})
	if err != nil || ids(got) != "first" {
		t.Errorf("got %q, %v", ids(got), err)
	}
	if got, err = store.List(t.Context(), callstore.Query{Limit: 20_000}); err != nil || len(got) != callstore.MaxPage || got[0].Number != 8_500 {
		t.Errorf("got %d, %v", len(got), err)
	}
	leaving, leave := context.WithCancel(t.Context())
	leave()
	if _, err := store.List(leaving, callstore.Query{Tool: "pay"}); !errors.Is(err, context.Canceled) {
		t.Errorf("listing for nobody: %v", err)
	}
}
