package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// The open runs and the sub-runs of a run are found with an index of them.
func TestPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var r reads
	for text, into := range r.texts() {
		index := map[**sql.Stmt]string{&r.open: "runs_open", &r.parent: "runs_parent", &r.waiting: "runs_waiting", &r.changed: "runs_changed", &r.verdicts: "verdicts_principal"}[into]
		if index == "" {
			continue
		}
		var id, parent, unused int
		var plan string
		arguments := []any{9, 9, "", "", "", false, false}
		if into == &r.waiting || into == &r.changed {
			arguments = []any{9, 9, "", "", 9}
		}
		if into == &r.verdicts {
			arguments = []any{"", 9, 9}
		}
		row := db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+text, arguments...)
		if err := row.Scan(&id, &parent, &unused, &plan); err != nil || !strings.Contains(plan, "INDEX "+index+" ") {
			t.Errorf("%s: %s, %v", text, plan, err)
		}
	}
}
