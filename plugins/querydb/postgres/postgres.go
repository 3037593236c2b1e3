// Package postgres reads PostgreSQL databases as a login role, and only reads them.
//
// It owns what keeps a statement from changing anything and from reading as anybody else: a connection of its own for
// each query, a transaction that is read-only, a cursor, for which PostgreSQL takes nothing but a SELECT, and a look at
// what the role may do before anything is run. What the role may see is said by its grants. The package does not know
// whose role it is.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// Role is who reads what. All fields but Password and AllowFunctions must be set.
type Role struct {
	// Server is a connection string as libpq has them. User and password in it do not count.
	Server string
	// Name is the role that logs in.
	Name string
	// Password is the role's; empty where the server asks for none.
	Password string
	// AllowFunctions are names of functions that the role may execute although they do more than read.
	AllowFunctions []string
}

var (
	// ErrUnavailable is within errors that say that nobody can log in as the role now.
	ErrUnavailable = errors.New("the database cannot be reached")
	// ErrUnfit is within errors that say that the role may do more than read, so that nothing is run as it.
	ErrUnfit = errors.New("the role may do more than read")
)

const (
	// lockTimeout is how long a statement waits for a table that is being changed.
	lockTimeout = 5 * time.Second
	// abandoned is how long the server waits for this end to go on.
	abandoned = time.Minute
	// goodbye bounds how long the end of a connection may take.
	goodbye = 2 * time.Second
	// largestMessage is how much a message of the server has that is no row, at most.
	largestMessage = 1 << 20
)

// session is a connection in a read-only transaction, of a role that was found fit.
type session struct {
	conn *pgconn.PgConn
}

// open logs in. largestRow bounds what one row may have, in bytes. The caller closes the session.
func open(ctx context.Context, role Role, largestRow int) (*session, error) {
	config, err := role.config(ctx, largestRow)
	if err != nil {
		return nil, err
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("connecting to the database: %w", context.Cause(ctx))
		}
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	s := &session{conn: conn}
	// A transaction's own words go before what a role or a database sets for its sessions.
	if err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").Close(); err != nil {
		s.close(ctx)
		return nil, explained(ctx, err)
	}
	// The check has run queries, after which PostgreSQL lets nobody make the transaction another one.
	if err := s.check(ctx, role); err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

// close ends the session, which undoes all that it may have done. It waits until the connection is gone.
func (s *session) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = s.conn.Close(ctx) // nothing is lost with a connection that does not say goodbye
	<-s.conn.CleanupDone()
}

func (r Role) config(ctx context.Context, largestRow int) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(r.Server)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	config.User, config.Password = r.Name, r.Password
	config.MaxProtocolMessageBodyLen = max(largestRow, largestMessage)
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		// The server is told to stop; if it does not, the connection is given up.
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: goodbye}
	}
	if config.RuntimeParams == nil {
		config.RuntimeParams = map[string]string{}
	}
	for name, value := range map[string]string{
		"application_name":              "toolhost query_db",
		"default_transaction_read_only": "on",
		"statement_timeout":             milliseconds(remaining(ctx)),
		"lock_timeout":                  milliseconds(lockTimeout),
		// A plugin that is stopped must not keep the server from cleaning up.
		"idle_in_transaction_session_timeout": milliseconds(abandoned),
		"client_encoding":                     "UTF8",
		"DateStyle":                           "ISO",
		"bytea_output":                        "hex",
		"extra_float_digits":                  "1",
	} {
		config.RuntimeParams[name] = value
	}
	return config, nil
}

// remaining returns how long ctx lasts, or 0 if it has no end.
func remaining(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Millisecond)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// texts runs a query of this package's own and returns its values as texts; NULL is "".
func (s *session) texts(ctx context.Context, query string, parameters ...string) ([][]string, error) {
	values := make([][]byte, len(parameters))
	for i, p := range parameters {
		values[i] = []byte(p)
	}
	result := s.conn.ExecParams(ctx, query, values, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, explained(ctx, result.Err)
	}
	rows := make([][]string, len(result.Rows))
	for i, row := range result.Rows {
		for _, value := range row {
			rows[i] = append(rows[i], string(value))
		}
	}
	return rows, nil
}

// explained returns an error of PostgreSQL in words that say what can be done.
func explained(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("running the query: %w", context.Cause(ctx))
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	text := "PostgreSQL: " + e.Message + " (" + e.Code + ")"
	if e.Hint != "" {
		text += ". Hint: " + strings.TrimSuffix(e.Hint, ".")
	}
	switch e.Code {
	case "25006", "0A000", "42501":
		text += ". Nothing can be changed here, and only what this role was granted can be read"
	case "42601":
		text += ". One statement that answers with rows can be run at a time: SELECT, VALUES, TABLE or WITH … SELECT"
	case "57014":
		text += ". Make the query smaller: filter, aggregate, or use an index"
	}
	return errors.New(text)
}
