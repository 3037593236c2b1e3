package credential

import (
	"errors"
	"net"
	"time"
)

// alertWait bounds the wait for an alert after a failed write.
const alertWait = time.Second

// alertReader is the client's end of a TLS connection. It finds out why a server closes a
// connection after the handshake.
//
// In TLS 1.3 the client's handshake ends before the server has verified the client's certificate. A
// server that refuses the certificate, or misses one, sends an alert and closes the connection. The
// client's first write then fails with "broken pipe" before the client has read the alert, and the
// user would learn only that. The alert is still in the kernel's buffer: after a failed write,
// alertReader reads it, and Write returns it in place of the first error.
type alertReader struct {
	net.Conn
	report func(error) // receives each alert
}

// Read implements net.Conn.
func (c *alertReader) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if isAlert(err) {
		c.report(err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *alertReader) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err == nil {
		return n, nil
	}
	// The connection has failed, so the deadline of a concurrent Read does not matter any more.
	if c.SetReadDeadline(time.Now().Add(alertWait)) == nil {
		var unused [1]byte
		if _, cause := c.Read(unused[:]); isAlert(cause) {
			return n, cause
		}
	}
	return n, err
}

// isAlert reports whether an error of crypto/tls is an alert of the other side. The package has no
// exported type for it.
func isAlert(err error) bool {
	failure, ok := errors.AsType[*net.OpError](err)
	return ok && failure.Op == "remote error"
}
