package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
)

// A file of the format without the mark of ended runs has it after the migration.
func TestFilesWithoutEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	for _, old := range storetest.BeforeEnded {
		if err := store.Append(t.Context(), old.Batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, beforeOpen+"PRAGMA user_version = 5")
	storetest.WantEnded(t, open(t, path))
}

// The open runs and the sub-runs of a run are found with an index of them.
func TestPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	storetest.Must(t, store, "r", 0, 1)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const others = " AND (?3 = '' OR parent = ?3) AND (?4 = '' OR owner = ?4) ORDER BY number DESC LIMIT ?2"
	for condition, index := range map[string]string{"ended = 0 AND number < ?1": "runs_open", "parent = ?3 AND number < ?1": "runs_parent"} {
		var id, parent, unused int
		var plan string
		row := db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN SELECT id FROM runs WHERE "+condition+others, 9, 9, "r", "")
		if err := row.Scan(&id, &parent, &unused, &plan); err != nil || !strings.Contains(plan, "INDEX "+index+" ") {
			t.Errorf("%s: %s, %v", condition, plan, err)
		}
	}
	if _, err := store.List(t.Context(), runstore.Query{OpenOnly: true, Parent: "r"}); err != nil {
		t.Error(err)
	}
}
