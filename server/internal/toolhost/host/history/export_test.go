package history

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// Limit makes the disk full when the file has a number of pages.
func (l *Log) Limit(t *testing.T, pages int) {
	t.Helper()
	if _, err := l.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
}

// Change executes a statement, as another program that changes the file.
func (l *Log) Change(t *testing.T, statement string) {
	t.Helper()
	if _, err := l.writer.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// Downgrade gives the file the layout from before tenants.
func (l *Log) Downgrade(t *testing.T) {
	t.Helper()
	_, hours, _ := strings.Cut(layout.Steps[0], "CREATE TABLE hours")
	for _, statement := range []string{
		"CREATE TABLE kept AS SELECT time, tool, plugin, data FROM hours", "DROP TABLE hours", "CREATE TABLE hours" + hours,
		"INSERT INTO hours SELECT * FROM kept", "DROP TABLE kept", "PRAGMA user_version = 1",
	} {
		l.Change(t, statement)
	}
}

// Copy copies to the database what it does not have, and waits for a copy in progress.
func (l *Log) Copy(ctx context.Context) error {
	l.shared.stop()
	return l.shared.copy(ctx)
}

// Prune removes from the database what the file does not have.
func (l *Log) Prune(ctx context.Context) error { return l.shared.prune(ctx) }

// CallsOfTenants is how the failed calls of tenants at other toolhosts are read.
const CallsOfTenants = callsOfTenants
