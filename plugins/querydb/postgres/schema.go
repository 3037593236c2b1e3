package postgres

import (
	"context"
	"fmt"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// tables queries the columns of the tables and views that the role can read. Tables in the search
// path are named without a schema. Partitions are omitted.
const tables = `
WITH readable AS (
	SELECT c.oid, CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN '' ELSE pg_catalog.quote_ident(n.nspname) || '.' END || pg_catalog.quote_ident(c.relname) AS name
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT c.relispartition
	AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
	AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
	ORDER BY 2 LIMIT $1::int)
SELECT t.name, coalesce(pg_catalog.obj_description(t.oid, 'pg_class'), ''), a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
	concat_ws(', ',
		(SELECT 'primary key' FROM pg_catalog.pg_constraint k WHERE k.conrelid = t.oid AND k.contype = 'p' AND a.attnum = ANY (k.conkey)),
		(SELECT 'references ' || string_agg(DISTINCT k.confrelid::regclass::text, ', ') FROM pg_catalog.pg_constraint k
			WHERE k.conrelid = t.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey) HAVING count(*) > 0)),
	coalesce(pg_catalog.col_description(t.oid, a.attnum), '')
FROM readable t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid
WHERE a.attnum > 0 AND NOT a.attisdropped AND pg_catalog.has_column_privilege(t.oid, a.attnum, 'SELECT')
ORDER BY t.name, a.attnum`

// Schema returns at most the given number of tables and views that a role can read, by name.
func Schema(ctx context.Context, role Role, most int) (rowset.Schema, error) {
	s, err := open(ctx, role, 0)
	if err != nil {
		return rowset.Schema{}, err
	}
	defer s.close(ctx)
	rows, err := s.texts(ctx, tables, fmt.Sprint(most+1))
	if err != nil {
		return rowset.Schema{}, fmt.Errorf("reading the tables: %w", err)
	}
	var schema rowset.Schema
	for _, row := range rows {
		if n := len(schema.Tables); n == 0 || schema.Tables[n-1].Name != row[0] {
			if n == most {
				schema.More = true
				break
			}
			schema.Tables = append(schema.Tables, rowset.Table{Name: row[0], Comment: row[1]})
		}
		last := &schema.Tables[len(schema.Tables)-1]
		last.Columns = append(last.Columns, rowset.TableColumn{Name: row[2], Type: row[3], Key: row[4], Comment: row[5]})
	}
	return schema, nil
}
