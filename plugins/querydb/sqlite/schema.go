package sqlite

import (
	"context"
	"fmt"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// Schema returns the tables and views of a file, by name, at most so many.
func (r *Reader) Schema(ctx context.Context, path string, most int) (rowset.Schema, error) {
	f, err := r.open(ctx, path)
	if err != nil {
		return rowset.Schema{}, fmt.Errorf("opening the database: %w", err)
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
	rows, err := f.texts(ctx, `SELECT c.name, c.type, c.pk,
			coalesce((SELECT group_concat(DISTINCT k."table") FROM pragma_foreign_key_list(?1) k WHERE k."from" = c.name), '')
		FROM pragma_table_xinfo(?1) c WHERE c.hidden <> 1 ORDER BY c.cid`, name)
	if err != nil {
		return table, err
	}
	for _, row := range rows {
		column := rowset.TableColumn{Name: row[0], Type: row[1]}
		if row[2] != "0" {
			column.Key = "primary key"
		}
		if row[3] != "" {
			if column.Key != "" {
				column.Key += ", "
			}
			column.Key += "references " + row[3]
		}
		table.Columns = append(table.Columns, column)
	}
	return table, nil
}

// texts runs a query of this package's own and returns its values as texts.
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
