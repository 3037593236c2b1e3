package sqlite

import "github.com/toolhost/toolhost/server/internal/store/sqlitefile"

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
`, `
ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT '';         -- the key of the principal
ALTER TABLE runs ADD COLUMN tenant TEXT NOT NULL DEFAULT 'default';
CREATE INDEX runs_owner ON runs (owner, number);
CREATE INDEX runs_tenant ON runs (tenant, number);
CREATE TABLE spending (
	day    INTEGER NOT NULL,                          -- days since 1970, UTC
	owner  TEXT NOT NULL,                             -- the key of the principal
	tenant TEXT NOT NULL,
	tokens INTEGER NOT NULL,
	cost   REAL NOT NULL,
	PRIMARY KEY (day, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_tenant ON spending (tenant, day);
`, `
CREATE TABLE contents (
	run    INTEGER NOT NULL REFERENCES runs (number),
	digest TEXT NOT NULL,                             -- SHA-256 of the whole, in hexadecimal
	part   INTEGER NOT NULL,                          -- from 0
	data   BLOB NOT NULL,                             -- of the part
	PRIMARY KEY (run, digest, part)
) STRICT;
CREATE TRIGGER contents_go AFTER DELETE ON runs BEGIN
	DELETE FROM contents WHERE run = OLD.number;      -- whoever deletes a run by hand
END;
ALTER TABLE spending ADD COLUMN attached INTEGER NOT NULL DEFAULT 0; -- bytes
`, `
ALTER TABLE runs ADD COLUMN parent TEXT NOT NULL DEFAULT ''; -- the id of the run that has this one as a sub-run
UPDATE runs SET parent = ifnull(json_extract(CAST(summary AS TEXT), '$.parent.run_id'), '')
	WHERE json_valid(CAST(summary AS TEXT)) AND json_type(CAST(summary AS TEXT), '$.parent.run_id') = 'text';
CREATE INDEX runs_parent ON runs (parent, number);
CREATE TABLE deleted (
	id      TEXT PRIMARY KEY,                         -- of a run; no other run gets it
	deleted INTEGER NOT NULL                          -- nanoseconds since 1970
) STRICT, WITHOUT ROWID;
`, `
ALTER TABLE runs ADD COLUMN ended INTEGER NOT NULL DEFAULT 0; -- 0 or 1
-- In a text of JSON, quotes are escaped, so these bytes are the name of a member.
UPDATE runs SET ended = 1 WHERE unfinished = 0 AND instr(summary, CAST('"stop_reason":"' AS BLOB)) > 0;
CREATE INDEX runs_open ON runs (number) WHERE ended = 0;
`, `
ALTER TABLE runs ADD COLUMN decisions BLOB;                    -- JSON: what the run waits for; NULL: nothing
ALTER TABLE runs ADD COLUMN decide_by INTEGER NOT NULL DEFAULT 9223372036854775807; -- nanoseconds since 1970: the first end of a decision
-- Only the journals of these runs have their decisions.
UPDATE runs SET decisions = CAST('null' AS BLOB) WHERE ended = 0 AND instr(summary, CAST('"waiting":true' AS BLOB)) > 0;
CREATE INDEX runs_waiting ON runs (decide_by, number) WHERE decisions IS NOT NULL;
`, `
CREATE TABLE outbox (
	id       TEXT PRIMARY KEY,
	kind     TEXT NOT NULL,
	run      TEXT NOT NULL,                           -- its id; the run may be gone
	seq      INTEGER NOT NULL,
	decision TEXT NOT NULL,
	target   TEXT NOT NULL,
	created  INTEGER NOT NULL,                        -- nanoseconds since 1970
	due      INTEGER NOT NULL,                        -- nanoseconds since 1970
	until    INTEGER NOT NULL,                        -- nanoseconds since 1970
	attempts INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_due ON outbox (target, due, id);
CREATE INDEX outbox_until ON outbox (until, id);
`, `
ALTER TABLE runs ADD COLUMN changed INTEGER NOT NULL DEFAULT 0; -- the position of the last change of the decisions; 0: none since this step
CREATE INDEX runs_changed ON runs (changed) WHERE changed > 0;
CREATE TABLE changes (last INTEGER NOT NULL) STRICT;            -- the newest position: one row, which outlives the runs
INSERT INTO changes VALUES (0);
CREATE TRIGGER runs_ask AFTER INSERT ON runs WHEN NEW.decisions IS NOT NULL BEGIN
	UPDATE changes SET last = last + 1;
	UPDATE runs SET changed = (SELECT last FROM changes) WHERE number = NEW.number;
END;
CREATE TRIGGER runs_decide AFTER UPDATE OF decisions ON runs WHEN OLD.decisions IS NOT NULL OR NEW.decisions IS NOT NULL BEGIN
	UPDATE changes SET last = last + 1;
	UPDATE runs SET changed = (SELECT last FROM changes) WHERE number = NEW.number;
END;
`, `
CREATE TABLE verdicts (
	number    INTEGER PRIMARY KEY AUTOINCREMENT,      -- the order in which they were given
	principal TEXT NOT NULL,                          -- the key of who decided
	run       INTEGER NOT NULL REFERENCES runs (number),
	data      BLOB NOT NULL                           -- JSON
) STRICT;
CREATE INDEX verdicts_principal ON verdicts (principal, number);
CREATE INDEX verdicts_run ON verdicts (run);
CREATE TRIGGER verdicts_go AFTER DELETE ON runs BEGIN
	DELETE FROM verdicts WHERE run = OLD.number;
END;
`}}
}
