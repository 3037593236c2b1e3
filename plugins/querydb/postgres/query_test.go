//go:build more

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/plugins/querydb/postgres"
	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// All tests share one server, because starting one takes longer than all of them. A part restores
// what it changes of the role, except the last part. The attacks come first, because they count
// connections, and a server notices closed connections with a delay.
func TestTenants(t *testing.T) {
	s, acme := shop(t)
	t.Run("attacks", func(t *testing.T) { testAttacks(t, s, acme) })
	t.Run("query", func(t *testing.T) { testQuery(t, s, acme) })
	t.Run("unfit roles", func(t *testing.T) { testUnfitRoles(t, s, acme) })
	t.Run("prepared ground", func(t *testing.T) { testRoleCannotPrepareTheGround(t, s, acme) })
}

func testQuery(t *testing.T, s *postgrestest.Server, acme postgres.Role) {
	t.Run("own rows", func(t *testing.T) { testOnlyOwnRows(t, s, acme) })
	t.Run("values", func(t *testing.T) { testValues(t, acme) })
	t.Run("parameters", func(t *testing.T) { testParameters(t, acme) })
	t.Run("limits", func(t *testing.T) { testLimits(t, acme) })
	t.Run("schema", func(t *testing.T) { testSchema(t, acme) })
	t.Run("cancel", func(t *testing.T) {
		testCancel(t, acme, func() string {
			return s.Do(t, "shop", "SELECT count(*) FROM pg_stat_activity WHERE usename = 'acme_reader' AND state = 'active'")[0][0]
		})
	})
	t.Run("nothing is left", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		for _, query := range []string{"SELECT 1", "SELECT generate_series(1, 100000)", "SELEC", "SELECT repeat('x', 5000000)"} {
			_, _ = postgres.Query(t.Context(), acme, query, nil, rowset.Limits{Rows: 3, Bytes: 100})
		}
	})
}

// A tenant sees its own rows and no others, also in shared tables and with concurrent queries.
func testOnlyOwnRows(t *testing.T, s *postgrestest.Server, acme postgres.Role) {
	theirs, err := pgconn.Connect(t.Context(), s.Address("shop")+" user=globex_reader password=globex-password")
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close(context.WithoutCancel(t.Context()))
	if err := theirs.Exec(t.Context(), "SELECT 'sesame'").Close(); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT secret FROM orders", "TABLE orders", "SELECT body FROM acme.notes", "WITH o AS (SELECT secret FROM orders) SELECT * FROM o;",
		"SELECT set_config('row_security', 'off', true), 'rye' UNION ALL SELECT '', body FROM acme.notes",
		"SELECT secret FROM orders WHERE secret <> 'sesame' OR tenant <> 'acme'",
		"SELECT a.query, n.body FROM acme.notes n, pg_stat_activity a WHERE a.usename = 'globex_reader'",
		"SELECT s.most_common_vals, n.body FROM acme.notes n LEFT JOIN pg_stats s ON s.schemaname = 'globex' OR s.tablename = 'orders'",
	} {
		answer, err := postgres.Query(t.Context(), acme, query, nil, enough)
		if err != nil || !strings.Contains(fmt.Sprintf("%s", answer.Rows), "rye") || strings.Contains(fmt.Sprintf("%s", answer.Rows), "sesame") {
			t.Errorf("%s: %v, %v", query, answer, err)
		}
	}
}

// Answers have exactly PostgreSQL's values.
func testValues(t *testing.T, acme postgres.Role) {
	for query, want := range map[string]string{
		"SELECT NULL, true, 1::int2, 9007199254740993::int8, -9007199254740992":                                                                       `[null,true,1,"9007199254740993",-9007199254740992]`,
		"SELECT 0.1::float8, 1e300::float8, 'NaN'::float8, '-Infinity'::float4":                                                                       `[0.1,1e+300,"NaN","-Infinity"]`,
		"SELECT 12345678901234567890.1234567890, 1.50::numeric(10,2)":                                                                                 `["12345678901234567890.1234567890","1.50"]`,
		"SELECT 'a\"<\n'::text, 'x'::char(3), '\\x00ff'::bytea":                                                                                       `["a\"<\n","x  ",{"base64":"AP8="}]`,
		"SELECT '{\"a\": [1, 2.50]}'::json, '{\"b\": null}'::jsonb":                                                                                   `[{"a": [1, 2.50]},{"b": null}]`,
		"SELECT date '2026-11-21', timestamp '2026-11-21 12:00', timestamptz '2026-11-21 12:00:00.5+00' AT TIME ZONE 'UTC', interval '1 day 2 hours'": `["2026-11-21","2026-11-21 12:00:00","2026-11-21 12:00:00.5","1 day 02:00:00"]`,
		`SELECT ARRAY[1, NULL, 3], ARRAY[['a', 'b,"'], ['NULL', '{}']], ARRAY[1.5], '{}'::int[], '[0:1]={t,f}'::bool[]`:                               `[[1,null,3],[["a","b,\""],["NULL","{}"]],["1.5"],[],[true,false]]`,
		"SELECT ARRAY['{\"a\": 1}'::jsonb], ARRAY['\\x00'::bytea], ROW(1, 'a'), int4range(1, 3), '(1,2)'::point":                                      `[[{"a": 1}],[{"base64":"AA=="}],"(1,a)","[1,3)","(1,2)"]`,
		"SELECT inet '10.0.0.1', uuid '6ba7b810-9dad-11d1-80b4-00c04fd430c8'":                                                                         `["10.0.0.1","6ba7b810-9dad-11d1-80b4-00c04fd430c8"]`,
	} {
		answer, err := postgres.Query(t.Context(), acme, query, nil, enough)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var row []string
		for _, value := range answer.Rows[0] {
			row = append(row, string(value))
		}
		if got := "[" + strings.Join(row, ",") + "]"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
	answer, err := postgres.Query(t.Context(), acme, `SELECT 1 AS a, 1.5::numeric(10,2) AS a, 'x'::varchar(5) AS "B c", ARRAY[1], NULL`, nil, enough)
	want := []rowset.Column{{Name: "a", Type: "integer"}, {Name: "a", Type: "numeric(10,2)"}, {Name: "B c", Type: "character varying(5)"},
		{Name: "array", Type: "integer[]"}, {Name: "?column?", Type: "text"}}
	if diff := cmp.Diff(want, answer.Columns); err != nil || diff != "" {
		t.Errorf("columns: %v\n%s", err, diff)
	}
	if answer, err = postgres.Query(t.Context(), acme, "SELECT FROM acme.notes", nil, enough); err != nil || len(answer.Columns) != 0 || len(answer.Rows) != 1 {
		t.Errorf("no columns: %v, %v", answer, err)
	}
}

func testParameters(t *testing.T, acme postgres.Role) {
	text := func(s string) *string { return &s }
	for _, test := range []struct {
		query      string
		parameters []*string
		want       string
	}{
		{"SELECT $1::int + 1, $2::text, $3::bool, $4::text", []*string{text("41"), text("x' OR 1=1"), text("true"), nil}, `[[42,"x' OR 1=1",true,null]]`},
		{"SELECT body FROM acme.notes WHERE body = $1", []*string{text("rye")}, `[["rye"]]`},
		{"SELECT count(*) FROM orders WHERE id > $1 LIMIT $2", []*string{text("0"), text("5")}, `[[1]]`},
	} {
		answer, err := postgres.Query(t.Context(), acme, test.query, test.parameters, enough)
		got, _ := json.Marshal(answer.Rows)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v", test.query, got, err)
		}
	}
	if _, err := postgres.Query(t.Context(), acme, "SELECT $1::int", nil, enough); err == nil {
		t.Error("a parameter that is missing is not missed")
	}
}

func testLimits(t *testing.T, acme postgres.Role) {
	for _, test := range []struct {
		query  string
		limits rowset.Limits
		rows   int
		limit  string
	}{
		{"SELECT generate_series(1, 3)", rowset.Limits{Rows: 3, Bytes: 100}, 3, ""},
		{"SELECT generate_series(1, 1000000)", rowset.Limits{Rows: 2, Bytes: 100}, 2, "the limit of 2 rows"},
		{"SELECT repeat('x', 38) FROM generate_series(1, 1000000)", rowset.Limits{Rows: 1000000, Bytes: 100}, 2, "the limit of 100 bytes"},
		{"SELECT repeat('x', 50000000)", rowset.Limits{Rows: 5, Bytes: 100}, 0, "the limit of 100 bytes"},
		{"SELECT 1 WHERE false", rowset.Limits{Rows: 5, Bytes: 100}, 0, ""},
	} {
		answer, err := postgres.Query(t.Context(), acme, test.query, nil, test.limits)
		if err != nil || len(answer.Rows) != test.rows || answer.Limit != test.limit || answer.Truncated != (test.limit != "") {
			t.Errorf("%s: %+v, %v", test.query, answer, err)
		}
	}
}

func testSchema(t *testing.T, acme postgres.Role) {
	got, err := postgres.Schema(t.Context(), acme, 10)
	if err != nil {
		t.Fatal(err)
	}
	body := []rowset.TableColumn{{Name: "body", Type: "text"}}
	want := rowset.Schema{Tables: []rowset.Table{
		{Name: "acme.inbox", Columns: body}, {Name: "acme.notes", Columns: body},
		{Name: "orders", Comment: "what was ordered", Columns: []rowset.TableColumn{
			{Name: "id", Type: "integer", Key: "primary key"}, {Name: "tenant", Type: "text"}, {Name: "secret", Type: "text"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err = postgres.Schema(t.Context(), acme, 1); err != nil || len(got.Tables) != 1 || !got.More {
		t.Errorf("one table: %+v, %v", got, err)
	}
}

// When the caller leaves, the server stops working, even if the statement changed its time limit.
func testCancel(t *testing.T, acme postgres.Role, active func() string) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { // ends with the query
		_, err := postgres.Query(ctx, acme, "SELECT set_config('statement_timeout', '0', false), count(*) FROM generate_series(1, 1000000000000)", nil, enough)
		done <- err
	}()
	eventually.Holds(t, "the query runs", func() bool { return active() == "1" })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a query that was cancelled: %v", err)
	}
	eventually.Holds(t, "the server stopped", func() bool { return active() == "0" })
}

// Nothing runs as a role that may do more than read.
func testUnfitRoles(t *testing.T, s *postgrestest.Server, acme postgres.Role) {
	for _, test := range []struct{ name, change, back, want string }{
		{"superuser", "ALTER ROLE acme_reader SUPERUSER", "ALTER ROLE acme_reader NOSUPERUSER", "SUPERUSER"},
		{"createrole", "ALTER ROLE acme_reader CREATEROLE", "ALTER ROLE acme_reader NOCREATEROLE", "CREATEROLE"},
		{"bypassrls", "ALTER ROLE acme_reader BYPASSRLS", "ALTER ROLE acme_reader NOBYPASSRLS", "BYPASSRLS"},
		{"another tenant", "GRANT globex_reader TO acme_reader", "REVOKE globex_reader FROM acme_reader", "it can become globex_reader"},
		{"through a group", "CREATE ROLE g; GRANT globex_reader TO g; GRANT g TO acme_reader", "DROP ROLE g", "it can become globex_reader"},
		{"reads all", "GRANT pg_read_all_data TO acme_reader", "REVOKE pg_read_all_data FROM acme_reader", "pg_read_all_data"},
		{"runs programs", "GRANT pg_execute_server_program TO acme_reader", "REVOKE pg_execute_server_program FROM acme_reader", "pg_execute_server_program"},
		{"locks", "GRANT EXECUTE ON FUNCTION pg_advisory_lock(int8) TO acme_reader", "REVOKE EXECUTE ON FUNCTION pg_advisory_lock(int8) FROM acme_reader", "pg_advisory_lock(bigint)"},
		{"dblink", "CREATE EXTENSION dblink", "DROP EXTENSION dblink", "dblink"},
	} {
		s.Do(t, "shop", test.change)
		answer, err := postgres.Query(t.Context(), acme, "SELECT 1", nil, enough)
		if !errors.Is(err, postgres.ErrUnfit) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v", test.name, answer, err)
		}
		if _, err := postgres.Schema(t.Context(), acme, 1); !errors.Is(err, postgres.ErrUnfit) {
			t.Errorf("%s: the schema: %v", test.name, err)
		}
		s.Do(t, "shop", test.back)
		if _, err := postgres.Query(t.Context(), acme, "SELECT 1", nil, enough); err != nil {
			t.Errorf("%s, undone: %v", test.name, err)
		}
	}
	s.Do(t, "shop", "GRANT EXECUTE ON FUNCTION pg_sleep(float8) TO acme_reader; CREATE ROLE plain; GRANT plain TO acme_reader")
	allowed := acme
	allowed.AllowFunctions = []string{"pg_sleep"}
	if _, err := postgres.Query(t.Context(), allowed, "SELECT pg_sleep(0)", nil, enough); err != nil {
		t.Errorf("a function that is allowed: %v", err)
	}
	s.Do(t, "shop", "REVOKE EXECUTE ON FUNCTION pg_sleep(float8) FROM acme_reader; DROP ROLE plain")
	wrong := acme
	wrong.Password = "guessed"
	if _, err := postgres.Query(t.Context(), wrong, "SELECT 1", nil, enough); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("a wrong password: %v", err)
	}
}

// Settings that a role makes for its own sessions do not enable writes.
func testRoleCannotPrepareTheGround(t *testing.T, s *postgrestest.Server, acme postgres.Role) {
	s.Do(t, "shop", `ALTER ROLE acme_reader SET default_transaction_read_only = off; ALTER ROLE acme_reader SET search_path = acme, pg_catalog;
		CREATE FUNCTION acme.pg_has_role(oid, oid, text) RETURNS bool LANGUAGE sql AS 'SELECT false';
		GRANT globex_reader TO acme_reader`)
	if _, err := postgres.Query(t.Context(), acme, "SELECT 1", nil, enough); !errors.Is(err, postgres.ErrUnfit) {
		t.Errorf("a function of the tenant's own answers for the role: %v", err)
	}
	s.Do(t, "shop", "REVOKE globex_reader FROM acme_reader")
	if answer, err := postgres.Query(t.Context(), acme, "SELECT body FROM notes", nil, enough); err != nil || !strings.Contains(fmt.Sprintf("%s", answer.Rows), "rye") {
		t.Errorf("the role's own search path: %v, %v", answer, err)
	}
	if _, err := postgres.Query(t.Context(), acme, "SELECT scribble()", nil, enough); err == nil {
		t.Error("a role that is writable by default writes")
	}
}
