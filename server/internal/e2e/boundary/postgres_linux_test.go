//go:build more

package boundary_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
)

// The test is TestEveryBoundary with the runs and the ledger in PostgreSQL. An agentd that starts
// again after a kill waits there until the claims of the killed one are free, so it kills at fewer
// places.
func TestEveryBoundaryOnPostgreSQL(t *testing.T) {
	database := postgrestest.Start(t, "max_connections=300")
	everyBoundary(t, func(t *testing.T) *world {
		t.Helper()
		return newWorldWith(t, func(w *world) {
			config := filepath.Join(w.home, "toolhost.yaml")
			w.flags = []string{"--config", config}
			w.database = func(t *testing.T) string { return database.URL(database.Create(t)) }
			if err := os.WriteFile(config, fmt.Appendf(nil, "records: %q\n", w.database(t)), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}, given)
}
