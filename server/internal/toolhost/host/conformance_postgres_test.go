//go:build more

package host_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	postgresdb "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Main(m)) }

// See TestConforms.
func TestConformsWithPostgreSQL(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	address := server.URL(database)
	tables := false
	conforms(t, func(t *testing.T) callstore.Calls {
		if tables { // faster than a database for each test
			server.Do(t, database, "TRUNCATE toolhost_calls CASCADE")
		}
		tables = true
		calls, err := postgres.Open(t.Context(), postgres.Config{
			Database: postgresdb.Config{URL: address},
			Node:     postgres.Node{Name: "machine", Folder: "a", Boot: "boot"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = calls.Close() })
		return calls
	})
}
