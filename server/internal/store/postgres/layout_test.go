//go:build more

package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Several programs migrate a new database at the same time; each step is executed once.
func TestMigrate(t *testing.T) {
	address := postgrestest.Database(t)
	first := postgres.Layout{Name: "notes", Steps: []postgres.Step{{SQL: "CREATE TABLE notes (n int); INSERT INTO notes VALUES (1)"}}}
	var group sync.WaitGroup
	for range 4 {
		db := open(t, postgres.Config{URL: address})
		group.Go(func() {
			if err := db.Migrate(t.Context(), first); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	db := open(t, postgres.Config{URL: address})
	if n := value(t, db, "SELECT count(*)::text FROM notes"); n != "1" {
		t.Errorf("the step was executed %s times", n)
	}

	expanded := postgres.Layout{Name: "notes", Steps: append(first.Steps, postgres.Step{SQL: "ALTER TABLE notes ADD COLUMN text text NOT NULL DEFAULT ''"})}
	broken := postgres.Layout{Name: "notes", Steps: append(expanded.Steps, postgres.Step{SQL: "ALTER TABLE notes DROP COLUMN n", Breaks: true})}
	wrong := postgres.Layout{Name: "notes", Steps: append(expanded.Steps, postgres.Step{SQL: "ALTER TABLE notes ADD COLUMN more int; DROP TABLE nothing"})}
	other := postgres.Layout{Name: "other", Steps: []postgres.Step{{SQL: "CREATE TABLE other ()"}}}
	for _, step := range []struct {
		what   string
		layout postgres.Layout
		want   string
	}{
		{"the newer program", expanded, ""}, {"the older one, which still runs", first, ""}, {"the newer one again", expanded, ""},
		{"a step that fails", wrong, "step 3"}, {"the newer one after it", expanded, ""}, {"another component", other, ""},
		{"a step that breaks", broken, ""}, {"the older one after it", expanded, "version 3, and this program knows 2"},
	} {
		err := db.Migrate(t.Context(), step.layout)
		if (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: %v; want %q", step.what, err, step.want)
		}
		if strings.HasPrefix(step.want, "version") && !errors.Is(err, postgres.ErrNewer) {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	if columns := value(t, db, "SELECT string_agg(column_name, ' ') FROM information_schema.columns WHERE table_name = 'notes'"); columns != "text" {
		t.Errorf("the table has the columns %q", columns)
	}
}
