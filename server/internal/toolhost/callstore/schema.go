package callstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// layout is the layout of the file. Its application id reads "TLHL".
//
// Neither table has an index for all rows, so that a call touches few pages: the index in memory
// finds calls by key, the first row of each table is the oldest, and the newest rows are next to
// each other.
func layout() sqlitefile.Layout {
	return sqlitefile.Layout{ApplicationID: 0x544c484c, Steps: []string{`
CREATE TABLE calls (
	number    INTEGER PRIMARY KEY, -- the order of beginning
	hash      BLOB NOT NULL,       -- of principal, session and id
	begun     INTEGER NOT NULL,    -- nanoseconds since 1970
	state     INTEGER NOT NULL,    -- 0 begun, 1 succeeded, 2 tool error, 3 failed, 4 unknown
	ended     INTEGER,             -- nanoseconds since 1970
	outcome   INTEGER,             -- the place of the outcome, if it was kept; it may be gone
	principal TEXT NOT NULL,
	session   TEXT NOT NULL,
	id        TEXT NOT NULL,
	sum       BLOB NOT NULL,       -- of the tool and the arguments
	tool      TEXT NOT NULL,
	plugin    TEXT NOT NULL,
	instance  TEXT NOT NULL DEFAULT '',
	error     BLOB                 -- a short toolhost.tool.v1.Error, if it failed
) STRICT;
CREATE TABLE outcomes (
	place INTEGER PRIMARY KEY,     -- the order of ending
	call  INTEGER NOT NULL,        -- the number of the call
	ended INTEGER NOT NULL,        -- nanoseconds since 1970
	bytes INTEGER NOT NULL,        -- the length of data
	data  BLOB                     -- toolhost.tool.v1.Error if the call failed, else toolhost.tool.v1.Result; NULL if empty
) STRICT;
`, `
CREATE TABLE ledger (
	id TEXT NOT NULL               -- what tells this ledger from any other
) STRICT;
INSERT INTO ledger VALUES (lower(hex(randomblob(16))));
`, `
-- The number of the newest call, if rows with higher numbers than those in calls were deleted.
ALTER TABLE ledger ADD COLUMN newest INTEGER NOT NULL DEFAULT 0;
`, `
-- 1 if a file beside the ledger has the number of the newest call, see Store.Note.
ALTER TABLE ledger ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;
`, `
CREATE TABLE restorations (         -- from backups, see Restoration
	number   INTEGER PRIMARY KEY,
	ledger   TEXT NOT NULL,         -- the id before the restoration
	backup   INTEGER NOT NULL,      -- nanoseconds since 1970
	restored INTEGER NOT NULL,      -- nanoseconds since 1970
	accepted INTEGER NOT NULL DEFAULT 0
) STRICT;
`, `
-- The final arguments of a call that its tool can settle, until the outcome is known. A large value is
-- not in the page of its row, because it is the last but two columns.
ALTER TABLE calls ADD COLUMN arguments BLOB;
-- What the tool said: 0 nothing, 1 the call happened, 2 it did not happen (then state 5 is free), 3 it does not know.
ALTER TABLE calls ADD COLUMN verdict INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN reason TEXT NOT NULL DEFAULT '';
-- Few calls are in it, so that a start reads no others.
CREATE INDEX calls_arguments ON calls (number) WHERE arguments IS NOT NULL;
`, `
-- The ledger that has the calls of this one, see Departure, and the address of its database. Empty: none.
ALTER TABLE ledger ADD COLUMN heir TEXT NOT NULL DEFAULT '';
ALTER TABLE ledger ADD COLUMN address TEXT NOT NULL DEFAULT '';
`, `
-- Names the execution to the tool of a call that has arguments. Empty: an older toolhost has begun it.
ALTER TABLE calls ADD COLUMN effect_key TEXT NOT NULL DEFAULT '';
`}}
}

// readID returns the id of the ledger, and whether Store.Note was called.
func readID(ctx context.Context, db *sql.DB) (id string, noted bool, err error) {
	err = db.QueryRowContext(ctx, "SELECT id, noted FROM ledger").Scan(&id, &noted)
	if errors.Is(err, sql.ErrNoRows) || err == nil && id == "" {
		err = fmt.Errorf("the ledger has no id: %w", ErrDamaged)
	}
	return id, noted, err
}

// note makes the record of Store.Note part of the file itself. A record in the log alone could be
// lost with the log.
func note(ctx context.Context, path string) error {
	db, err := sqlitefile.Connect(path, 1, "immediate")
	if err != nil {
		return err
	}
	return errors.Join(alter(ctx, db, "UPDATE ledger SET noted = 1"), db.Close())
}

// alter executes a statement, and moves the log into the file.
func alter(ctx context.Context, db *sql.DB, statement string, arguments ...any) error {
	if _, err := db.ExecContext(ctx, statement, arguments...); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// settle makes every call StateUnknown that an earlier process began and did not end.
func settle(ctx context.Context, db *sql.DB, now time.Time) error {
	_, err := db.ExecContext(ctx, "UPDATE calls SET state = ?, ended = ? WHERE state = ?", StandsUnknown, now.UnixNano(), StandsBegun)
	return err
}
