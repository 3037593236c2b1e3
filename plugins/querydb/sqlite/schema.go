package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// Schema returns at most the given number of tables and views of a file, by name.
func (r *Reader) Schema(ctx context.Context, path string, most int) (rowset.Schema, error) {
	f, err := r.open(ctx, path)
	if err != nil {
		return rowset.Schema{}, err
	}
	defer f.close()
	var s rowset.Schema
	names, err := f.texts(ctx, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT ?`, most+1)
	if err != nil {
		return rowset.Schema{}, fmt.Errorf("reading the tables: %w", err)
	}
	if len(names) > most {
		names, s.More = names[:most], true
	}
	for _, name := range names {
		table, err := f.table(ctx, name[0])
		if err != nil {
			return rowset.Schema{}, fmt.Errorf("reading the columns of %q: %w", name[0], err)
		}
		s.Tables = append(s.Tables, table)
	}
	return s, nil
}

func (f *file) table(ctx context.Context, name string) (rowset.Table, error) {
	table := rowset.Table{Name: name}
	columns, err := f.texts(ctx, "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", name)
	if err != nil {
		return table, err
	}
	references, err := f.texts(ctx, `SELECT "from", "table" FROM pragma_foreign_key_list(?) ORDER BY id DESC`, name)
	if err != nil {
		return table, err
	}
	for _, c := range columns {
		var keys []string
		if c[2] != "0" {
			keys = append(keys, "primary key")
		}
		for _, r := range references {
			if strings.EqualFold(r[0], c[0]) {
				keys = append(keys, "references "+r[1])
			}
		}
		table.Columns = append(table.Columns, rowset.TableColumn{Name: c[0], Type: c[1], Key: strings.Join(keys, ", ")})
	}
	return table, nil
}

// texts runs an internal query and returns its values as texts.
func (f *file) texts(ctx context.Context, query string, args ...any) ([][]string, error) {
	rows, err := f.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all [][]string
	for rows.Next() {
		row := make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
