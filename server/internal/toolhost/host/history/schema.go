package history

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// layout is the layout of the file. Times are nanoseconds since 1970, in UTC. `data` is JSON.
var layout = sqlitefile.Layout{
	ApplicationID: 0x74684873, // "thHs"
	Steps: []string{`
		CREATE TABLE events (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, data BLOB NOT NULL);
		CREATE INDEX events_by_time ON events (time);
		CREATE TABLE exits (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, data BLOB NOT NULL);
		CREATE INDEX exits_by_time ON exits (time);
		CREATE TABLE calls (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, data BLOB NOT NULL);
		CREATE INDEX calls_by_time ON calls (time);
		CREATE TABLE hours (time INTEGER NOT NULL, tool TEXT NOT NULL, plugin TEXT NOT NULL, data BLOB NOT NULL,
			PRIMARY KEY (time, tool, plugin)) WITHOUT ROWID;
	`, `
		ALTER TABLE hours RENAME TO hours_of_all;
		CREATE TABLE hours (time INTEGER NOT NULL, tenant TEXT NOT NULL, tool TEXT NOT NULL, plugin TEXT NOT NULL, data BLOB NOT NULL,
			PRIMARY KEY (time, tenant, tool, plugin)) WITHOUT ROWID;
		INSERT INTO hours SELECT time, 'default', tool, plugin, data FROM hours_of_all;
		DROP TABLE hours_of_all;
	`},
}

// The most rows of each table.
const (
	maxEvents = 20_000
	maxExits  = 2_000
	maxCalls  = 50_000
	maxHours  = 200_000
)

// The most bytes of the rows of each table. Together they are 192 MiB.
const (
	maxEventBytes = 32 << 20
	maxExitBytes  = 32 << 20
	maxCallBytes  = 64 << 20
	maxHourBytes  = 64 << 20
)

// maxExitLines bounds the last lines of a process, in bytes. They are the largest part of an exit,
// and a plugin chooses them.
const maxExitLines = 64 << 10

// Check returns an error if a file that no Log uses is not a history, is damaged, or was written by
// a newer toolhost. It changes nothing.
func Check(ctx context.Context, path string) error {
	if err := layout.Check(ctx, path); err != nil {
		return fmt.Errorf("checking the history %s: %w", path, err)
	}
	return nil
}

// damaged reports whether the file is no database, a broken one, or one with another schema than
// that of a history.
func damaged(err error) bool {
	if errors.Is(err, sqlitefile.ErrForeignSchema) {
		return true
	}
	failure, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	code := failure.Code() & 0xff // without the details
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}
