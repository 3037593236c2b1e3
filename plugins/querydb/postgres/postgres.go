// Package postgres reads PostgreSQL databases as a login role and never writes them.
//
// Four measures prevent changes and access as another role: one connection per query; a read-only
// transaction; a cursor, for which PostgreSQL accepts only a SELECT; and a check of the role's
// rights before anything runs. The role's grants decide what it may read. The package does not know
// which tenant a role belongs to.
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

// Role is the role that reads a database. All fields except Password and AllowFunctions are
// required.
type Role struct {
	// Server is a libpq connection string. User and password in it are ignored.
	Server string
	// Name is the login role.
	Name string
	// Password is the role's password. Empty if the server asks for none.
	Password string
	// AllowFunctions names functions that the role may execute although they do more than read.
	AllowFunctions []string
}

var (
	// ErrUnavailable is wrapped by errors that say that the role cannot log in now.
	ErrUnavailable = errors.New("the database cannot be reached")
	// ErrUnfit is wrapped by errors that say that the role may do more than read. Nothing runs as
	// such a role.
	ErrUnfit = errors.New("the role may do more than read")
)

const (
	// lockTimeout is how long a statement waits for a locked table.
	lockTimeout = 5 * time.Second
	// abandoned is how long the server waits for an idle client.
	abandoned = time.Minute
	// goodbye limits the time for closing a connection.
	goodbye = 2 * time.Second
	// largestMessage limits the size of the server's messages other than rows, in bytes.
	largestMessage = 1 << 20
)

// session is a connection with a read-only transaction, of a role that passed the check.
type session struct {
	conn *pgconn.PgConn
}

// open logs in. largestRow limits the size of one row, in bytes. The caller closes the session.
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
	// The modes in BEGIN have priority over settings of the role or the database.
	if err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").Close(); err != nil {
		s.close(ctx)
		return nil, explained(ctx, err)
	}
	// After the queries of the check, PostgreSQL does not allow a change of the transaction's mode.
	if err := s.check(ctx, role); err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

// close ends the session and rolls back its transaction. It waits until the connection is closed.
func (s *session) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = s.conn.Close(ctx) // an unclean end of the connection loses nothing
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
		// The driver asks the server to stop. If the server does not stop, the driver closes the
		// connection.
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
		// If the plugin is stopped (SIGSTOP), the server must still be able to clean up.
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

// remaining returns the time until ctx ends, or 0 if it has no deadline.
func remaining(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Millisecond)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// texts runs an internal query and returns its values as texts. NULL is "".
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

// explained adds a hint to an error of PostgreSQL.
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
