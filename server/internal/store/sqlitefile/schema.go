package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// ErrForeignSchema says that a file has other tables, indexes, triggers or views than its program
// creates. See Layout.
var ErrForeignSchema = errors.New("the file does not have the schema that this program creates")

// object is one row of sqlite_schema. Its SQL text has all columns, constraints, generated columns
// and the body of a trigger, so two schemas with the same texts mean the same.
type object struct{ kind, name, table, text string }

func (o object) String() string { return fmt.Sprintf("%s %q", o.kind, clip(o.name)) }

// clip shortens a text of the file for a message.
func clip(text string) string { return fmt.Sprintf("%.60s", text) }

// statistics are the tables that the statement ANALYZE creates. They only change how SQLite
// searches.
var statistics = []object{
	{"table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"},
	{"table", "sqlite_stat4", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"},
}

// querier is a database handle or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// CheckSchema returns an error if Migrate would refuse the file. It changes nothing.
func (l Layout) CheckSchema(ctx context.Context, db *sql.DB) error {
	_, err := l.identify(ctx, db)
	return err
}

// identify returns the version of the file. It refuses the file of another program, of a newer
// version, and a file whose schema is not exactly that of its version.
func (l Layout) identify(ctx context.Context, file querier) (version int, err error) {
	var application int64
	for query, into := range map[string]any{"PRAGMA application_id": &application, "PRAGMA user_version": &version} {
		if err := file.QueryRowContext(ctx, query).Scan(into); err != nil {
			return 0, err
		}
	}
	found, err := readSchema(ctx, file)
	switch {
	case err != nil:
		return 0, err
	case application != int64(l.ApplicationID) && (len(found) > 0 || version != 0):
		return 0, errors.New("the file is a database of another program; choose another file")
	case version > len(l.Steps):
		return 0, fmt.Errorf("the file has layout %d and this program knows only up to %d; use a newer program", version, len(l.Steps))
	case version < 0:
		return 0, fmt.Errorf("%w: it has the layout %d", ErrForeignSchema, version)
	}
	expected, err := l.schema(ctx, version)
	if err != nil {
		return 0, err
	}
	return version, compareSchemas(found, expected)
}

// schema returns the schema of a version, which it creates in memory.
func (l Layout) schema(ctx context.Context, version int) (_ map[object]bool, err error) {
	if version == 0 {
		return map[object]bool{}, nil
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // each connection has another database
	for _, step := range l.Steps[:version] {
		if _, err := db.ExecContext(ctx, step); err != nil {
			return nil, fmt.Errorf("creating the schema of layout %d: %w", version, err)
		}
	}
	return readSchema(ctx, db)
}

func readSchema(ctx context.Context, file querier) (map[object]bool, error) {
	rows, err := file.QueryContext(ctx, "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[object]bool{}
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table, &o.text); err != nil {
			return nil, err
		}
		all[o] = true
	}
	return all, rows.Err()
}

func compareSchemas(found, expected map[object]bool) error {
	for _, o := range statistics {
		delete(found, o)
	}
	var surplus, missing []string
	for o := range found {
		if !expected[o] {
			surplus = append(surplus, o.String())
		}
	}
	for o := range expected {
		if !found[o] {
			missing = append(missing, o.String())
		}
	}
	slices.Sort(surplus)
	slices.Sort(missing)
	switch {
	case len(surplus) > 0:
		return fmt.Errorf("%w: this program did not create the %s; drop it if you created it, and restore a backup if not", ErrForeignSchema, surplus[0])
	case len(missing) > 0:
		return fmt.Errorf("%w: it lacks the %s", ErrForeignSchema, missing[0])
	}
	return nil
}
