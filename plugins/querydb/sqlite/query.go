package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// Query runs one SELECT statement on a file and returns its answer, up to limits. Parameters are
// int64, float64, bool, string or nil. It blocks until the end or until ctx is done. It then
// returns an error that wraps ctx's error.
//
// The statement is only compiled as a subquery. SQLite's grammar allows only a SELECT there: no
// ATTACH, no PRAGMA, no VACUUM INTO.
func (r *Reader) Query(ctx context.Context, path, text string, parameters []any, limits rowset.Limits) (rowset.Answer, error) {
	statement, err := single(text)
	if err != nil {
		return rowset.Answer{}, err
	}
	f, err := r.open(ctx, path)
	if err != nil {
		return rowset.Answer{}, err
	}
	defer f.close()
	columns, err := f.columns(statement)
	if err != nil {
		return rowset.Answer{}, explained(err, statement)
	}
	collector := rowset.Collector{Limits: limits}
	s := &sink{width: len(columns), add: func(row []any) bool { return collector.Add(encoded(row)) }}
	token, leave := r.attend(s)
	defer leave()
	if _, err := f.conn.ExecContext(ctx, wrapped(statement, len(columns), limits.Rows+1, token), parameters...); err != nil && !s.full {
		if ctx.Err() != nil {
			return rowset.Answer{}, fmt.Errorf("running the query: %w", context.Cause(ctx))
		}
		return rowset.Answer{}, explained(err, statement)
	}
	return collector.Answer(columns), nil
}

// columns returns the columns of a statement without running it.
func (f *file) columns(statement string) ([]rowset.Column, error) {
	var infos []sqlite.ColumnInfo
	err := f.conn.Raw(func(conn any) (err error) {
		c, ok := conn.(interface {
			ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
		})
		if !ok {
			return errors.New("the SQLite driver cannot describe columns")
		}
		infos, err = c.ColumnInfo("SELECT * FROM (" + statement + "\n)")
		return err
	})
	if err != nil {
		return nil, err
	}
	columns := make([]rowset.Column, len(infos))
	for i, info := range infos {
		columns[i] = rowset.Column{Name: info.Name, Type: info.DeclType}
	}
	return columns, nil
}

// perCall is the number of columns per call of the sink function. SQLite allows about a hundred
// arguments.
const perCall = 100

// wrapped returns a statement that runs another one and passes at most the given number of its
// rows, of n columns, to a sink. The rows are materialized first. Their order is thus that of the
// query, not that in which SQLite evaluates expressions.
func wrapped(statement string, n, rows int, token string) string {
	var b strings.Builder
	b.WriteString("WITH toolhost_rows(")
	list(&b, 0, n)
	// The line end terminates a comment at the end of the statement.
	fmt.Fprintf(&b, ") AS MATERIALIZED (SELECT * FROM (%s\n) LIMIT %d) SELECT ", statement, rows)
	for from := 0; from < n; from += perCall {
		if from > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s('%s', ", sinkFunction, token)
		list(&b, from, min(from+perCall, n))
		b.WriteString(")")
	}
	b.WriteString(" FROM toolhost_rows")
	return b.String()
}

func list(b *strings.Builder, from, to int) {
	for i := from; i < to; i++ {
		if i > from {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "c%d", i)
	}
}

// explained adds a hint to an error of SQLite.
func explained(err error, statement string) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		if errors.Is(err, sql.ErrConnDone) {
			return fmt.Errorf("running the query: %w", err)
		}
		// the driver's message, which names the parameter
		if strings.HasPrefix(err.Error(), "missing ") {
			return fmt.Errorf("parameters has no value for each of the statement's: %w", err)
		}
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_ERROR:
		return fmt.Errorf("SQLite: %w%s", err, advice(err, statement))
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH:
		return fmt.Errorf("this is not allowed: %w. Nothing can be changed or loaded", err)
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("a value is too large: %w. Select less of it, with substr() for example", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("the database is being written to: %w. Try again", err)
	}
	return fmt.Errorf("SQLite: %w", err)
}

// advice returns a hint for a statement that SQLite cannot compile.
func advice(err error, statement string) string {
	text := err.Error()
	if strings.Contains(text, "no such column") || strings.Contains(text, "no such table") {
		return ". describe_db shows which tables and columns there are"
	}
	// A statement that begins with WITH may be a DELETE.
	words := strings.Fields(statement[:min(len(statement), 100)])
	if len(words) > 0 && (strings.EqualFold(words[0], "SELECT") || strings.EqualFold(words[0], "VALUES")) {
		return ""
	}
	return ". Only a statement that answers with rows can be run, SELECT, VALUES or WITH … SELECT; nothing can be changed, attached or configured"
}
