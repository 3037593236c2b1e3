package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

const (
	// applicationID is in the file's header, so that no other program's file is taken for a journal: "TLHR".
	applicationID = 0x544c4852
	// schemaVersion is the newest layout that this program knows. Older ones are brought up to it, in order.
	schemaVersion = 1
)

// schema holds, for each version from 1, what turns the layout before it into it. Entries are never changed once they
// are released.
func schema() []string {
	return []string{`
CREATE TABLE runs (
	number     INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of creation
	id         TEXT NOT NULL UNIQUE,
	created    INTEGER NOT NULL,                  -- nanoseconds since 1970
	updated    INTEGER NOT NULL,
	last_seq   INTEGER NOT NULL,
	unfinished INTEGER NOT NULL,                  -- 0 or 1
	summary    BLOB                               -- JSON
) STRICT;
CREATE INDEX runs_unfinished ON runs (number) WHERE unfinished = 1;
CREATE TABLE records (
	run     INTEGER NOT NULL REFERENCES runs (number),
	seq     INTEGER NOT NULL,
	time    INTEGER NOT NULL,                     -- nanoseconds since 1970
	type    TEXT NOT NULL,
	version INTEGER NOT NULL,
	data    BLOB NOT NULL,                        -- JSON
	PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
`}
}

// migrate brings the file to schemaVersion, in one transaction. Two processes that open a new file at once wait for
// one another at BEGIN IMMEDIATE, and the second finds the work done.
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
