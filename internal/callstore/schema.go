package callstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	// applicationID is in the file's header, so that no other program's file is taken for a ledger: "TLHL".
	applicationID = 0x544c484c
	// schemaVersion is the newest layout that this program knows. Older ones are brought up to it, in order.
	schemaVersion = 1
)

// schema holds, for each version from 1, what turns the layout before it into it. Entries are never changed once they
// are released.
//
// Neither table has an index, so that a call costs few pages: the index in memory finds calls by key, the first row
// of each table is the oldest, and the newest rows are next to each other.
func schema() []string {
	return []string{`
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
`}
}

// migrate brings the file to schemaVersion, in one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var application, version, tables int
	for query, into := range map[string]*int{
		"PRAGMA application_id":              &application,
		"PRAGMA user_version":                &version,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := tx.QueryRowContext(ctx, query).Scan(into); err != nil {
			return err
		}
	}
	switch {
	case application != applicationID && tables > 0:
		return fmt.Errorf("the file is a database of another program; choose another file")
	case version > schemaVersion:
		return fmt.Errorf("the file has layout %d and this program knows only up to %d; use a newer program", version, schemaVersion)
	case version == schemaVersion:
		return nil
	}
	for _, step := range schema()[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("laying out the file: %w", err)
		}
	}
	stamp := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)
	if _, err := tx.ExecContext(ctx, stamp); err != nil {
		return err
	}
	return tx.Commit()
}

// settle says of every call that a process before this one began and did not end that nobody knows how it ended.
func settle(ctx context.Context, db *sql.DB, now time.Time) error {
	_, err := db.ExecContext(ctx, "UPDATE calls SET state = ?, ended = ? WHERE state = ?", standsUnknown, now.UnixNano(), standsBegun)
	return err
}
