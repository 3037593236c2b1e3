package grants

import "github.com/toolhost/toolhost/server/internal/store/postgres"

// layout returns the tables. Their names begin with toolhost_, so that they can be in one database
// with others. Times are nanoseconds since 1970.
func layout() postgres.Layout {
	return postgres.Layout{Name: "toolhost grants", Steps: []postgres.Step{{SQL: `
CREATE TABLE toolhost_grants (
	one       boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one row, which each change locks
	tokens    bigint NOT NULL DEFAULT 0, -- grows with each change of the tokens
	approvals bigint NOT NULL DEFAULT 0  -- grows with each change of the approvals
);
INSERT INTO toolhost_grants DEFAULT VALUES;
CREATE TABLE toolhost_tokens (
	id   text PRIMARY KEY,
	data text NOT NULL                  -- the record in JSON, with the SHA-256 of the token and not the token
);
CREATE TABLE toolhost_approvals (
	number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of creation
	changed   bigint NOT NULL,          -- toolhost_grants.approvals with the last change of the row
	id        text COLLATE "C" NOT NULL UNIQUE,
	principal text COLLATE "C" NOT NULL,
	request   text COLLATE "C" NOT NULL, -- the id of the request; empty if it had none
	digest    text NOT NULL,            -- of the content of the request
	expires   bigint NOT NULL,
	ended     bigint NOT NULL,          -- 0 while it is in force
	data      text NOT NULL             -- the record in JSON
);
CREATE UNIQUE INDEX toolhost_approvals_request ON toolhost_approvals (principal, request) WHERE request <> '';
CREATE INDEX toolhost_approvals_changed ON toolhost_approvals (changed);
`}}}
}
