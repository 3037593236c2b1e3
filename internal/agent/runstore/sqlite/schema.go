package sqlite

import "github.com/toolhost/toolhost/internal/sqlitefile"

// layout returns the file's layout. The application id reads "TLHR".
func layout() sqlitefile.Layout {
	return sqlitefile.Layout{ApplicationID: 0x544c4852, Steps: []string{`
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
`, `
CREATE TABLE snapshots (
	run  INTEGER NOT NULL REFERENCES runs (number),
	part INTEGER NOT NULL,                            -- 0: the state; the parts from 1
	data BLOB NOT NULL,                               -- as the writer of the run's journal encodes it
	PRIMARY KEY (run, part)
) STRICT;
CREATE TRIGGER snapshots_go AFTER DELETE ON runs BEGIN
	DELETE FROM snapshots WHERE run = OLD.number;     -- whoever deletes a run by hand
END;
`}}
}
