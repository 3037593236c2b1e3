// Package sqlite reads SQLite files and never writes them.
//
// It confines a statement to one file and prevents changes: it opens the file read-only, compiles
// every statement as a part of a SELECT, forbids attaching other files, and uses one connection per
// query. It does not know which tenant a file belongs to.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// Reader reads files. NewReader creates one. It is safe for concurrent use and keeps nothing open
// between queries.
type Reader struct {
	driver sqlite.Driver

	mu    sync.Mutex
	sinks map[string]*sink // by the token of the running query
}

// NewReader returns a reader.
func NewReader() (*Reader, error) {
	r := &Reader{sinks: map[string]*sink{}}
	if err := r.driver.RegisterScalarFunction(sinkFunction, -1, r.pour); err != nil {
		return nil, fmt.Errorf("preparing to read SQLite files: %w", err)
	}
	return r, nil
}

// ErrUnavailable is wrapped by errors that say that the file does not exist or is unreadable.
var ErrUnavailable = errors.New("the database cannot be opened")

// busy is how long a statement waits for a writer, in milliseconds. Writers take milliseconds.
const busy = "2000"

// limits limits the work of SQLite between two checks for cancellation.
var limits = map[int]int{
	sqlite3.SQLITE_LIMIT_LENGTH:              16 << 20, // of a value or row, in bytes
	sqlite3.SQLITE_LIMIT_SQL_LENGTH:          256 << 10,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          500,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     200,
	sqlite3.SQLITE_LIMIT_ATTACHED:            0,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
	sqlite3.SQLITE_LIMIT_WORKER_THREADS:      0,
}

// file is an open file.
type file struct {
	db   *sql.DB
	conn *sql.Conn
}

// open opens an existing file read-only. It treats the path only as a path.
func (r *Reader) open(ctx context.Context, path string) (*file, error) {
	options := url.Values{
		"mode":        {"ro"},
		"_query_only": {"1"},
		"_defensive":  {"1"},
		"_dqs":        {"0"},
		"_pragma":     {"trusted_schema(0)", "cell_size_check(1)", "busy_timeout(" + busy + ")"},
	}
	source := (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: options.Encode()}).String()
	f := &file{db: sql.OpenDB(connector{driver: &r.driver, source: source})}
	f.db.SetMaxOpenConns(1)
	conn, err := f.db.Conn(ctx)
	if err != nil {
		_ = f.db.Close() // it has no open connection
		if ctx.Err() != nil {
			return nil, fmt.Errorf("opening the database: %w", context.Cause(ctx))
		}
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	f.conn = conn
	for id, limit := range limits {
		if _, err := sqlite.Limit(conn, id, limit); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	return f, nil
}

func (f *file) close() error { return errors.Join(f.conn.Close(), f.db.Close()) }

// connector opens connections with a separate driver, so that no other code of the process shares
// its functions and hooks.
type connector struct {
	driver *sqlite.Driver
	source string
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.driver.Open(c.source)
}

func (c connector) Driver() driver.Driver { return c.driver }

// sink receives the rows of one query. Its methods run on the goroutine that waits for the query.
type sink struct {
	width int // number of columns
	row   []any
	add   func(row []any) bool
	full  bool
}

// sinkFunction is the SQL function that passes a row. Rows are not results of database/sql for two
// reasons: a statement must observe its context until its last row, and the driver would convert
// some texts to times.
const sinkFunction = "toolhost_row"

var errFull = errors.New("there are more rows than are wanted")

// pour implements sinkFunction. Its arguments are a token and values of the present row.
func (r *Reader) pour(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	var s *sink
	if len(args) > 0 {
		token, _ := args[0].(string)
		r.mu.Lock()
		s = r.sinks[token]
		r.mu.Unlock()
	}
	if s == nil {
		return nil, fmt.Errorf("the function %s is not for queries", sinkFunction)
	}
	for _, value := range args[1:] {
		if data, ok := value.([]byte); ok {
			value = append([]byte{}, data...)
		}
		s.row = append(s.row, value)
	}
	if len(s.row) < s.width {
		return nil, nil
	}
	row := s.row
	s.row = nil
	if !s.add(row) {
		s.full = true
		return nil, errFull
	}
	return nil, nil
}

// attend registers a sink under an unguessable token and returns the function that removes it.
func (r *Reader) attend(s *sink) (token string, leave func()) {
	token = rand.Text()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sinks[token] = s
	return token, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sinks, token)
	}
}

// encoded returns a row of SQLite values as JSON.
func encoded(row []any) []rowset.Value {
	values := make([]rowset.Value, len(row))
	for i, value := range row {
		switch v := value.(type) {
		case nil:
			values[i] = rowset.Null()
		case int64:
			values[i] = rowset.Int(v)
		case float64:
			values[i] = rowset.Float(v)
		case string:
			values[i] = rowset.Text(v)
		case []byte:
			values[i] = rowset.Blob(v)
		default:
			values[i] = rowset.Text(fmt.Sprint(v))
		}
	}
	return values
}
