package sqlite_test

import (
	"path/filepath"
	"testing"

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
