//go:build more

package postgres_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/plugins/querydb/postgres"
)

// state is what no attack may change.
const state = `SELECT (SELECT string_agg(o::text, ';' ORDER BY id) FROM orders o), (SELECT count(*) FROM acme.inbox), (SELECT count(*) FROM acme.notes),
	(SELECT last_value::text || is_called FROM acme.numbers), (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_proc),
	(SELECT string_agg(oid::text, ',' ORDER BY oid) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
	(SELECT count(*) FROM pg_prepared_xacts), (SELECT count(*) FROM pg_roles), (SELECT count(*) FROM pg_stat_activity WHERE usename = 'globex_reader')`

// Whatever SQL a tenant sends, nothing changes, and it reads nothing of another tenant.
func testAttacks(t *testing.T, s *postgrestest.Server, acme postgres.Role) {
	theirs := s.Address("shop") + " user=globex_reader password=globex-password"
	before := s.Do(t, "shop", state)
	for _, attack := range []string{
		// Writing.
		"INSERT INTO acme.inbox VALUES ('x')",
		"UPDATE acme.inbox SET body = 'x'",
		"DELETE FROM acme.inbox",
		"TRUNCATE acme.inbox",
		"MERGE INTO acme.inbox i USING acme.notes n ON i.body = n.body WHEN NOT MATCHED THEN INSERT VALUES (n.body)",
		"INSERT INTO acme.inbox VALUES ('x') RETURNING body",
		"WITH w AS (INSERT INTO acme.inbox VALUES ('x') RETURNING body) SELECT * FROM w",
		"WITH w AS (DELETE FROM acme.inbox RETURNING body) SELECT * FROM w",
		"SELECT * INTO acme.copy FROM acme.notes",
		"SELECT * INTO TEMP copy FROM acme.notes",
		"CREATE TABLE acme.t (a int)",
		"CREATE TEMP TABLE t (a int)",
		"CREATE TABLE t AS SELECT 1",
		"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"DROP TABLE acme.inbox",
		"ALTER TABLE acme.inbox ADD COLUMN b int",
		"GRANT SELECT ON acme.inbox TO PUBLIC",
		"SELECT * FROM acme.inbox FOR UPDATE",
		"SELECT * FROM acme.notes FOR SHARE",
		"LOCK TABLE acme.inbox IN ACCESS EXCLUSIVE MODE",
		"SELECT nextval('acme.numbers')",
		"SELECT setval('acme.numbers', 7)",
		"SELECT acme.scribble()",
		"SELECT acme.scribble_as_owner()",
		"CALL acme.write()",
		"DO $$ BEGIN INSERT INTO acme.inbox VALUES ('x'); END $$",
		"EXPLAIN ANALYZE INSERT INTO acme.inbox VALUES ('x')",
		"REFRESH MATERIALIZED VIEW m", "VACUUM", "ANALYZE acme.inbox", "REINDEX TABLE acme.inbox", "CLUSTER", "CHECKPOINT",
		// Other transactions, settings and roles.
		"SET TRANSACTION READ WRITE",
		"SELECT set_config('transaction_read_only', 'off', true)",
		"SELECT set_config('transaction_read_only', 'off', false), acme.scribble()",
		"SELECT set_config('default_transaction_read_only', 'off', false), acme.scribble()",
		"SELECT acme.scribble() FROM (SELECT set_config('transaction_read_only', 'off', true)) x",
		"COMMIT", "ROLLBACK", "END", "ABORT", "BEGIN", "COMMIT AND CHAIN", "ROLLBACK TO SAVEPOINT toolhost_check", "RELEASE toolhost_check", "SAVEPOINT s", "PREPARE TRANSACTION 'x'",
		"SET ROLE globex_reader", "SET ROLE postgres", "RESET ROLE", "SET SESSION AUTHORIZATION globex_reader", "SET LOCAL statement_timeout = 0",
		"SELECT set_config('role', 'globex_reader', false)",
		"SELECT set_config('session_authorization', 'globex_reader', false)",
		"RESET ALL", "DISCARD ALL", "DISCARD PLANS", "SET search_path = globex",
		"PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE ALL", "DECLARE c CURSOR FOR SELECT 1", "FETCH ALL FROM toolhost_rows", "CLOSE toolhost_rows", "MOVE toolhost_rows",
		"LISTEN x", "NOTIFY x", "UNLISTEN *", "LOAD 'auto_explain'",
		// Functions with side effects.
		"SELECT pg_notify('x', 'y')",
		"SELECT pg_sleep(1)", "SELECT pg_sleep_for('1s')",
		"SELECT pg_advisory_lock(1)", "SELECT pg_try_advisory_lock(1)", "SELECT pg_advisory_xact_lock(1, 2)", "SELECT pg_advisory_unlock_all()",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity", "SELECT pg_cancel_backend(pg_backend_pid())",
		"SELECT txid_current()", "SELECT pg_current_xact_id()", "SELECT pg_export_snapshot()", "SELECT pg_logical_emit_message(false, 'x', 'y')",
		"SELECT lo_create(0)", "SELECT lo_unlink(4711)", "SELECT lo_import('/etc/passwd')", "SELECT lo_export(4711, '/tmp/x')", "SELECT lo_from_bytea(0, 'x')", "SELECT lo_put(4711, 0, 'x')",
		"SELECT lo_open(4711, 131072)",
		"SELECT pg_reload_conf()", "SELECT pg_switch_wal()", "SELECT pg_stat_reset()", "SELECT pg_create_restore_point('x')",
		"SELECT query_to_xml('DELETE FROM acme.inbox RETURNING body', true, true, '')",
		"SELECT query_to_xml('INSERT INTO acme.inbox VALUES (1); SELECT 1', true, true, '')",
		// Files, programs and other databases.
		"COPY acme.notes TO '/tmp/x'", "COPY acme.notes TO STDOUT", "COPY acme.inbox FROM PROGRAM 'id'", "COPY (SELECT 1) TO PROGRAM 'id'", "COPY acme.inbox FROM STDIN",
		"SELECT pg_read_file('/etc/passwd')", "SELECT pg_read_binary_file('/etc/passwd')", "SELECT pg_ls_dir('.')", "SELECT * FROM pg_ls_waldir()", "SELECT pg_stat_file('.')",
		"CREATE EXTENSION dblink", "SELECT * FROM dblink('" + theirs + "', 'SELECT secret FROM orders') AS t(s text)", "SELECT dblink_exec('" + theirs + "', 'DELETE FROM orders')",
		"CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw",
		// Other tenants.
		"SELECT * FROM globex.notes", "TABLE globex.notes", "SELECT set_config('search_path', 'globex', false), (SELECT body FROM globex.notes)",
		"SELECT secret FROM orders WHERE tenant = 'globex' AND 1 / (CASE WHEN secret = 'sesame' THEN 0 ELSE 1 END) >= 0 UNION ALL SELECT body FROM globex.notes",
		"SELECT lo_get(4711)", "SELECT * FROM pg_largeobject", "SELECT rolpassword FROM pg_authid", "SELECT * FROM pg_statistic", "SELECT passwd FROM pg_shadow", "SELECT * FROM pg_user_mapping",
		"SELECT table_to_xml('globex.notes', true, true, '')", "SELECT query_to_xml('SELECT * FROM globex.notes', true, true, '')",
		// Several statements, and what hides them.
		"SELECT 1; SELECT 2",
		"SELECT 1; DELETE FROM acme.inbox",
		"SELECT 1; COMMIT; DELETE FROM acme.inbox",
		"SELECT 1 /* ; */; SET ROLE globex_reader",
		"SELECT 1 -- ;\n; DELETE FROM acme.inbox",
		"SELECT $$;$$; DELETE FROM acme.inbox",
		"SELECT $a$ $$ ; $a$; DELETE FROM acme.inbox --$$",
		"SELECT E'\\';'; DELETE FROM acme.inbox",
		"SELECT ';' ; DELETE FROM acme.inbox --'",
		"SELECT U&'\\0027;'; DELETE FROM acme.inbox",
		"SELECT 1\x00; DELETE FROM acme.inbox",
		"", "/* only a comment */", ";", "SELECT 1 /*", "SELECT $$",
		"SELECT 1) TO STDOUT; --",
	} {
		answer, err := postgres.Query(t.Context(), acme, attack, nil, enough)
		if err == nil {
			t.Errorf("%q is answered: %v", attack, answer)
		} else if strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q: %v", attack, err)
		}
		if diff := cmp.Diff(before, s.Do(t, "shop", state)); diff != "" {
			t.Fatalf("%q changed something:\n%s", attack, diff)
		}
	}
}
