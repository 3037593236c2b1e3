package callstore_test

import (
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/callstore"
)

// TestID: a ledger keeps its id for as long as its file is there, and no two have the same.
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
