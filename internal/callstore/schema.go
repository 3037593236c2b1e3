package callstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/sqlitefile"
)

// layout is the layout of the file. Its application id reads "TLHL".
//
// Neither table has an index, so that a call touches few pages: the index in memory finds calls by
// key, the first row of each table is the oldest, and the newest rows are next to each other.
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
`}}
}

// readID returns the id of the ledger.
func readID(ctx context.Context, db *sql.DB) (id string, err error) {
	err = db.QueryRowContext(ctx, "SELECT id FROM ledger").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && id == "" {
		err = fmt.Errorf("the ledger has no id: %w", ErrDamaged)
	}
	return id, err
}

// settle makes every call StateUnknown that an earlier process began and did not end.
func settle(ctx context.Context, db *sql.DB, now time.Time) error {
	_, err := db.ExecContext(ctx, "UPDATE calls SET state = ?, ended = ? WHERE state = ?", standsUnknown, now.UnixNano(), standsBegun)
	return err
}
