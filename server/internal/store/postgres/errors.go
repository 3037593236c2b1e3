package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Errors that Error adds.
var (
	// ErrUnavailable says that the database cannot be reached, is starting or shutting down, refuses
	// the connection, has no memory or disk space left, or accepts no writes. It also says that a
	// synchronous standby has not confirmed a commit; see MayHaveRun. The same action may succeed
	// later.
	ErrUnavailable = errors.New("the database is not available")
	// ErrConflict says that another transaction has written first. The action has written nothing.
	ErrConflict = errors.New("another transaction has written first")
	// ErrTimeout says that a statement took longer, or waited longer for a lock, than it may. The
	// action has written nothing.
	ErrTimeout = errors.New("the database took too long")
	// ErrClosed is the error of a DB after Close.
	ErrClosed = errors.New("the database is closed")
)

// errBusy says why a DB could not begin.
var errBusy = errors.New("all connections to it are in use")

// errUnconfirmed says that what an action has written may not survive a failover.
var errUnconfirmed = errors.New("a synchronous standby has not confirmed the commit")

// Error wraps an error of the driver with what it means: ErrUnavailable, ErrConflict, ErrTimeout or
// ErrClosed. Other errors, also those of the caller's own functions, come back unchanged. Errors
// that are wrapped already stay as they are. Do and InTx have done it to what they return.
func Error(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, pgx.ErrNoRows):
		return err
	case errors.Is(err, ErrUnavailable), errors.Is(err, ErrConflict), errors.Is(err, ErrTimeout), errors.Is(err, ErrClosed):
		return err
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if meaning := meaningOf(e.Code); meaning != nil {
			return fmt.Errorf("%w: %w", meaning, err)
		}
		return err
	}
	if isBroken(err) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// meaningOf returns the meaning of an SQLSTATE, or nil.
func meaningOf(code string) error {
	switch code {
	case "40001", "40P01", "23505", "23P01": // serialization, deadlock, unique, exclusion
		return ErrConflict
	case "57014", "55P03", "25P03": // statement_timeout, lock_timeout, idle in transaction
		return ErrTimeout
	case "25006": // read only: a standby after a failover
		return ErrUnavailable
	case "53300", "53200", "53400": // too many connections, out of memory, a configured limit
		return ErrUnavailable
	case "53100": // the server's disk is full
		return ErrUnavailable
	}
	if strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08") { // shutdown, start; connection
		return ErrUnavailable
	}
	return nil
}

// isBroken reports whether an error says that a connection is broken. A deadline counts, because
// statement_timeout ends a statement before the deadline, so a server that can be reached would
// have answered.
func isBroken(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}

// MayHaveRun reports whether the statements of an action that failed may have been executed
// nevertheless: the connection ended before the server's answer arrived.
func MayHaveRun(err error) bool {
	if err == nil || errors.Is(err, errUnconfirmed) {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || pgconn.SafeToRetry(err) || errors.Is(err, ErrClosed) || errors.Is(err, errBusy) {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// The server ends a session in the middle of a commit, too: the commit may be done.
		return strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "08")
	}
	return isBroken(err) || errors.Is(err, context.Canceled)
}
