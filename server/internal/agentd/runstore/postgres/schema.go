package postgres

import "github.com/toolhost/toolhost/server/internal/store/postgres"

// layout returns the tables. Their names begin with agentd_, so that they can be in one database
// with others. See docs/adr/0040-postgresql.md.
func layout() postgres.Layout {
	return postgres.Layout{Name: "agentd runs", Steps: []postgres.Step{{SQL: `
CREATE TABLE agentd_runs (
	number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of creation
	id          text COLLATE "C" NOT NULL UNIQUE,
	created     bigint NOT NULL,                -- nanoseconds since 1970
	updated     bigint NOT NULL,
	last_seq    bigint NOT NULL,
	last_append bytea NOT NULL,                 -- names the last append, whose answer its writer may have missed
	unfinished  boolean NOT NULL,
	summary     bytea,                          -- JSON
	owner       text COLLATE "C" NOT NULL,      -- the key of the principal
	tenant      text COLLATE "C" NOT NULL,
	parent      text COLLATE "C" NOT NULL,      -- the id of the run that has this one as a sub-run
	deleted     bigint,                         -- nanoseconds since 1970; then the row only keeps the id
	claimer     bigint                          -- the advisory lock of the store that has the claim
);
CREATE INDEX agentd_runs_unfinished ON agentd_runs (number) WHERE unfinished;
CREATE INDEX agentd_runs_owner ON agentd_runs (owner, number);
CREATE INDEX agentd_runs_tenant ON agentd_runs (tenant, number);
CREATE INDEX agentd_runs_parent ON agentd_runs (parent, number);
CREATE TABLE agentd_records (
	run     bigint NOT NULL REFERENCES agentd_runs ON DELETE CASCADE,
	seq     bigint NOT NULL,
	time    bigint NOT NULL,                    -- nanoseconds since 1970
	type    text NOT NULL,
	version int NOT NULL,
	data    bytea NOT NULL,                     -- JSON, byte by byte as it was written
	PRIMARY KEY (run, seq)
);
CREATE TABLE agentd_snapshots (
	run  bigint NOT NULL REFERENCES agentd_runs ON DELETE CASCADE,
	part bigint NOT NULL,                       -- 0: the state; the parts from 1
	data bytea NOT NULL,
	PRIMARY KEY (run, part)
);
CREATE TABLE agentd_contents (
	run    bigint NOT NULL REFERENCES agentd_runs ON DELETE CASCADE,
	digest text COLLATE "C" NOT NULL,           -- SHA-256 in hexadecimal
	data   bytea NOT NULL,
	PRIMARY KEY (run, digest)
);
CREATE TABLE agentd_spending (
	day      bigint NOT NULL,                   -- days since 1970, UTC
	owner    text COLLATE "C" NOT NULL,
	tenant   text COLLATE "C" NOT NULL,
	tokens   bigint NOT NULL,
	cost     double precision NOT NULL,
	attached bigint NOT NULL,                   -- bytes
	PRIMARY KEY (day, owner)
);
CREATE INDEX agentd_spending_tenant ON agentd_spending (tenant, day);
`}, {SQL: `
ALTER TABLE agentd_runs ADD COLUMN ended boolean NOT NULL DEFAULT false;
-- In a text of JSON, quotes are escaped, so these bytes are the name of a member.
UPDATE agentd_runs SET ended = true WHERE NOT unfinished AND position('"stop_reason":"'::bytea IN summary) > 0;
-- A program without this step does not write ended, but unfinished.
CREATE INDEX agentd_runs_open ON agentd_runs (number) WHERE unfinished OR NOT ended;
`}, {SQL: `
ALTER TABLE agentd_runs ADD COLUMN decisions bytea;           -- JSON: what the run waits for; NULL: nothing
ALTER TABLE agentd_runs ADD COLUMN decide_by bigint NOT NULL DEFAULT 9223372036854775807; -- nanoseconds since 1970: the first end of a decision
-- Only the journals of these runs have their decisions.
UPDATE agentd_runs SET decisions = 'null' WHERE NOT ended AND position('"waiting":true'::bytea IN summary) > 0;
CREATE INDEX agentd_runs_waiting ON agentd_runs (decide_by, number) WHERE decisions IS NOT NULL;
`}, {SQL: `
CREATE TABLE agentd_outbox (
	id       text COLLATE "C" PRIMARY KEY,
	kind     text NOT NULL,
	run      text COLLATE "C" NOT NULL,         -- its id; the run may be gone
	seq      bigint NOT NULL,
	decision text NOT NULL,
	target   text COLLATE "C" NOT NULL,
	created  bigint NOT NULL,                   -- nanoseconds since 1970
	due      bigint NOT NULL,                   -- nanoseconds since 1970
	until    bigint NOT NULL,                   -- nanoseconds since 1970
	attempts int NOT NULL DEFAULT 0
);
CREATE INDEX agentd_outbox_due ON agentd_outbox (target, due, id);
CREATE INDEX agentd_outbox_until ON agentd_outbox (until, id);
`}, {SQL: `
ALTER TABLE agentd_runs ADD COLUMN changed bigint NOT NULL DEFAULT 0; -- the transaction of the last change of the decisions; 0: none since this step
CREATE INDEX agentd_runs_changed ON agentd_runs (changed) WHERE changed > 0;
-- A trigger, so that a program without this step writes the column, too.
CREATE FUNCTION agentd_runs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.changed := pg_current_xact_id()::text::bigint;
	RETURN NEW;
END $$;
CREATE TRIGGER agentd_runs_ask BEFORE INSERT ON agentd_runs FOR EACH ROW
	WHEN (NEW.decisions IS NOT NULL) EXECUTE FUNCTION agentd_runs_changed();
CREATE TRIGGER agentd_runs_decide BEFORE UPDATE OF decisions ON agentd_runs FOR EACH ROW
	WHEN (OLD.decisions IS NOT NULL OR NEW.decisions IS NOT NULL) EXECUTE FUNCTION agentd_runs_changed();
`}, {SQL: `
CREATE TABLE agentd_verdicts (
	number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which they were given
	principal text COLLATE "C" NOT NULL,        -- the key of who decided
	run       bigint NOT NULL REFERENCES agentd_runs ON DELETE CASCADE,
	data      bytea NOT NULL                    -- JSON
);
CREATE INDEX agentd_verdicts_principal ON agentd_verdicts (principal, number);
CREATE INDEX agentd_verdicts_run ON agentd_verdicts (run);
`}, {SQL: `
ALTER TABLE agentd_runs ADD COLUMN epoch bigint NOT NULL DEFAULT 0; -- of the claim; grows with each one
CREATE INDEX agentd_runs_claimer ON agentd_runs (claimer) WHERE claimer IS NOT NULL;
CREATE INDEX agentd_runs_unclaimed ON agentd_runs (number) WHERE unfinished AND claimer IS NULL;
CREATE TABLE agentd_nodes (
	node    bigint PRIMARY KEY,                 -- a start of an agentd, and its advisory lock
	since   timestamptz NOT NULL DEFAULT clock_timestamp(), -- when its session began
	renewed timestamptz NOT NULL DEFAULT clock_timestamp()  -- grows while the session lasts
) WITH (fillfactor = 50);
-- Those of before do not renew their rows.
INSERT INTO agentd_nodes (node) SELECT DISTINCT claimer FROM agentd_runs WHERE claimer IS NOT NULL;
`}, {SQL: `
ALTER TABLE agentd_runs ADD COLUMN posted int NOT NULL DEFAULT 0; -- the rows of agentd_inbox without an outcome
CREATE INDEX agentd_runs_posted ON agentd_runs (number) WHERE posted > 0;
CREATE TABLE agentd_inbox (
	number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order within a run
	run      bigint NOT NULL REFERENCES agentd_runs ON DELETE CASCADE,
	id       text COLLATE "C" NOT NULL,
	at       timestamptz NOT NULL DEFAULT clock_timestamp(),
	data     bytea,                             -- JSON: what a caller wants; NULL: the row has an outcome
	digests  text[],                            -- of the contents, until the outcome
	contents bytea[],
	seq      bigint,                            -- the outcome: the record; NULL: none yet
	refusal  bytea,                             -- JSON: the outcome, if it is one
	UNIQUE (run, id)
);
CREATE INDEX agentd_inbox_waiting ON agentd_inbox (run, number) WHERE seq IS NULL;
`}, {SQL: `
-- When an unfinished run without an owner is taken; NULL: not before a request.
ALTER TABLE agentd_runs ADD COLUMN wake_at timestamptz DEFAULT '-infinity';
CREATE INDEX agentd_runs_due ON agentd_runs (wake_at) WHERE unfinished AND claimer IS NULL;
DROP INDEX agentd_runs_unclaimed;
-- A run is taken at once after each end of a claim but Leave, also if a program without this step had it.
CREATE FUNCTION agentd_runs_claimed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.wake_at := '-infinity';
	RETURN NEW;
END $$;
CREATE TRIGGER agentd_runs_claim BEFORE UPDATE OF claimer ON agentd_runs FOR EACH ROW
	WHEN (NEW.claimer IS NOT NULL) EXECUTE FUNCTION agentd_runs_claimed();
`}, {SQL: `
ALTER TABLE agentd_nodes ADD COLUMN name text NOT NULL DEFAULT '';    -- of the machine
ALTER TABLE agentd_nodes ADD COLUMN version text NOT NULL DEFAULT ''; -- of agentd
`}, {SQL: `
ALTER TABLE agentd_runs ADD COLUMN stalled int NOT NULL DEFAULT 0; -- how often the run was taken from an agentd that was gone, since its last record
`}, {SQL: `
-- Runs are taken in the order in which they became due, if there are more than fit: by tenant.
CREATE OR REPLACE FUNCTION agentd_runs_claimed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.wake_at := clock_timestamp();
	RETURN NEW;
END $$;
ALTER TABLE agentd_runs ALTER COLUMN wake_at SET DEFAULT clock_timestamp();
DROP INDEX agentd_runs_due;
CREATE INDEX agentd_runs_due ON agentd_runs (wake_at, number) WHERE unfinished AND claimer IS NULL AND wake_at IS NOT NULL;
CREATE INDEX agentd_runs_due_of ON agentd_runs (tenant, wake_at, number) WHERE unfinished AND claimer IS NULL AND wake_at IS NOT NULL;
-- Most runs have no parent, so PostgreSQL would not use an index of all parents.
CREATE INDEX agentd_runs_below ON agentd_runs (parent) WHERE parent <> '' AND (unfinished OR posted > 0);
`}, {SQL: `
ALTER TABLE agentd_runs ADD COLUMN asked bigint; -- nanoseconds since 1970: since when the run has decisions; NULL: it has none
UPDATE agentd_runs SET asked = updated WHERE decisions IS NOT NULL;
CREATE INDEX agentd_runs_asked ON agentd_runs (asked) WHERE decisions IS NOT NULL AND claimer IS NULL AND deleted IS NULL;
CREATE OR REPLACE FUNCTION agentd_runs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.changed := pg_current_xact_id()::text::bigint;
	IF NEW.decisions IS NULL THEN
		NEW.asked := NULL;
	ELSIF TG_OP = 'INSERT' OR OLD.decisions IS NULL THEN
		NEW.asked := NEW.updated;
	END IF;
	RETURN NEW;
END $$;
`}, {SQL: `
ALTER TABLE agentd_nodes ADD COLUMN address text NOT NULL DEFAULT ''; -- where other agentds reach it; empty: nowhere
`}, {SQL: `
ALTER TABLE agentd_nodes ADD COLUMN engine text NOT NULL DEFAULT ''; -- what has the agentd work on runs
`}, {SQL: `
-- last_seq of an append that left the run with something to do itself; negative: without. Another number: a program
-- without this step has appended since.
ALTER TABLE agentd_runs ADD COLUMN works bigint NOT NULL DEFAULT 0;
CREATE INDEX agentd_runs_parked ON agentd_runs (number) WHERE unfinished AND claimer IS NULL AND stalled >= 3; -- runstore.MaxStalled
`}}}
}
