//go:build more

package postgres_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/plugins/querydb/postgres"
	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// enough exceeds every answer in these tests.
var enough = rowset.Limits{Rows: 1000, Bytes: 1 << 20}

// tenants creates a database shop with two tenants, as docs/query_db.md describes: shared tables
// with row security, and one schema per tenant.
const tenants = `
CREATE ROLE acme_reader LOGIN PASSWORD 'acme-password';
CREATE ROLE globex_reader LOGIN PASSWORD 'globex-password';
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE TABLE orders (id int PRIMARY KEY, tenant text NOT NULL, secret text);
COMMENT ON TABLE orders IS 'what was ordered';
INSERT INTO orders VALUES (1, 'acme', 'rye'), (2, 'globex', 'sesame');
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON orders USING (tenant || '_reader' = current_user);
GRANT SELECT ON orders TO acme_reader, globex_reader;
CREATE SCHEMA acme; GRANT USAGE ON SCHEMA acme TO acme_reader;
CREATE SCHEMA globex; GRANT USAGE ON SCHEMA globex TO globex_reader;
CREATE TABLE acme.notes (body text); INSERT INTO acme.notes VALUES ('rye');
CREATE TABLE globex.notes (body text); INSERT INTO globex.notes VALUES ('sesame');
GRANT SELECT ON acme.notes TO acme_reader; GRANT SELECT ON globex.notes TO globex_reader;
CREATE SEQUENCE acme.numbers; GRANT ALL ON SEQUENCE acme.numbers TO acme_reader;
CREATE TABLE acme.inbox (body text); GRANT ALL ON acme.inbox TO acme_reader;
CREATE FUNCTION acme.scribble() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO acme.inbox VALUES ('x'); RETURN 1; END $$;
CREATE FUNCTION acme.scribble_as_owner() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
	PERFORM set_config('transaction_read_only', 'off', true); INSERT INTO acme.inbox VALUES ('x'); RETURN 1; END $$;
CREATE PROCEDURE acme.write() LANGUAGE sql AS $$ INSERT INTO acme.inbox VALUES ('x') $$;
SELECT lo_from_bytea(4711, 'sesame');
`

// takeAway is the statement of docs/query_db.md that revokes functions from PUBLIC.
const takeAway = `
DO $do$
DECLARE f regprocedure;
BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '%PATTERN%' LOOP
		EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
	END LOOP;
END $do$`

func revoke(t *testing.T, s *postgrestest.Server, database string) {
	t.Helper()
	s.Do(t, database, strings.Replace(takeAway, "%PATTERN%", postgres.BeyondReading, 1))
}

// shop starts a server with the database shop, and returns acme's role.
func shop(t *testing.T) (*postgrestest.Server, postgres.Role) {
	t.Helper()
	s := postgrestest.Start(t)
	s.Do(t, "postgres", "CREATE DATABASE shop")
	s.Do(t, "shop", tenants)
	revoke(t, s, "shop")
	return s, postgres.Role{Server: s.Address("shop"), Name: "acme_reader", Password: "acme-password"}
}
