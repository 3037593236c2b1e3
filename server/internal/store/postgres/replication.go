package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// unconfirmed is the key of a connection's data for a commit that waits for no standby any more.
const unconfirmed = "toolhost.unconfirmed"

// noteUnconfirmed notes that the server did not wait until a synchronous standby has a commit. The
// server then warns, and answers the statement as if it had: other sessions see what it has
// written, and a failover loses it.
func noteUnconfirmed(conn *pgconn.PgConn, notice *pgconn.Notice) {
	// The name of the function is the same in all languages of messages, and since version 9.1.
	if notice.Code == "01000" && notice.Routine == "SyncRepWaitForLSN" {
		conn.CustomData()[unconfirmed] = notice.Message
	}
}

// confirmed returns the error of an action on a connection: ErrUnavailable if one of its commits is
// unconfirmed, although the server reported success.
func confirmed(conn *pgconn.PgConn, err error) error {
	message, noted := conn.CustomData()[unconfirmed]
	if !noted {
		return err
	}
	delete(conn.CustomData(), unconfirmed)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %w: %v", ErrUnavailable, errUnconfirmed, message)
}

// Confirmed returns ErrUnavailable if a synchronous standby has not confirmed a commit of a session
// of Session since the last call, although the server reported success.
func Confirmed(session *pgx.Conn) error { return confirmed(session.PgConn(), nil) }
