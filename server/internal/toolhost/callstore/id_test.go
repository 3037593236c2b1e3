package callstore_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// A ledger keeps its id as long as its file exists, and no two ledgers have the same id.
func TestID(t *testing.T) {
	seen := make(map[string]bool)
	for range 2 {
		path := filepath.Join(t.TempDir(), "calls.db")
		var first string
		for life := range 3 {
			s, err := callstore.Open(t.Context(), callstore.Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			if life == 0 {
				first = s.ID()
			}
			if len(s.ID()) != 32 || s.ID() != first {
				t.Errorf("life %d has the id %q after %q", life, s.ID(), first)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if seen[first] {
			t.Errorf("two ledgers have the id %q", first)
		}
		seen[first] = true
	}
}

// The number of the newest call grows with each Begin, also if calls were forgotten or removed
// since, and the observer gets the same number.
func TestNewest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	now, seen := time.Now(), int64(0)
	cfg := callstore.Config{Path: path, Now: func() time.Time { return now }, Begun: func(newest int64) { seen = newest }}
	for round := range int64(3) {
		s, err := callstore.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if s.Newest() != 2*round || round > 0 && seen != s.Newest() {
			t.Errorf("in round %d the newest call is %d, and %d was begun", round, s.Newest(), seen)
		}
		for _, id := range []string{"stays", "goes"} {
			key := callstore.Key{ID: fmt.Sprint(id, round)}
			if err := s.Begin(t.Context(), callstore.Entry{Key: key, Begun: now}); err != nil {
				t.Fatal(err)
			}
			if id == "goes" {
				if err := s.Forget(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(100 * 24 * time.Hour) // the next round removes the calls of this one
	}
}
