package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// The names of HTTP/2 and HTTP/1.1 in handshakes. A client that names none speaks HTTP/1.1.
const (
	protocol      = "h2"
	olderProtocol = "http/1.1"
)

// Conn is a connection over TCP, or one of a unix socket that accepts only some kinds of
// credentials. All methods but Read and Write are safe for concurrent use.
type Conn struct {
	net.Conn
	door     *door // nil: no limits, as for unix sockets
	listener *Listener
	origin   string

	left      bool                   // guarded by the mutex of the door
	principal string                 // set before member, and not changed later
	member    atomic.Pointer[member] // nil: a stranger

	turns atomic.Pointer[turns] // of the client; nil: of none
	done  func()                // ends the turn of the reading goroutine; nil: it has none

	starts   *rate.Limiter // of a stranger
	excess   atomic.Int64
	patience atomic.Pointer[time.Timer]
	once     sync.Once
	closed   chan struct{}
}

// Read reads what has arrived. If the client has many connections, Read also waits for a turn,
// which lasts until the next Read.
func (c *Conn) Read(p []byte) (int, error) {
	if c.done != nil {
		c.done()
		c.done = nil
	}
	n, err := c.Conn.Read(p)
	if turns := c.turns.Load(); turns != nil && n > 0 {
		c.done = turns.take()
	}
	return n, err
}

// proxied reports whether the connection is one of a proxy, and so of many clients.
func (c *Conn) proxied() bool {
	remote, ok := c.RemoteAddr().(*net.TCPAddr)
	return ok && slices.ContainsFunc(c.listener.config.Proxies, func(p netip.Prefix) bool { return p.Contains(remote.AddrPort().Addr().Unmap()) })
}

// NetConn returns the connection inside.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Listener returns the listener that accepted the connection.
func (c *Conn) Listener() *Listener { return c.listener }

// Limited reports whether limits apply to the connection. If not, the methods that count do not
// apply.
func (c *Conn) Limited() bool { return c.door != nil }

// late closes the connection after d, if no caller is known until then.
func (c *Conn) late(d time.Duration) {
	c.patience.Store(time.AfterFunc(d, func() {
		if c.member.Load() == nil {
			c.door.logger.Info("a connection was closed, because its caller was not known in time", "peer", c.RemoteAddr())
			_ = c.Close()
		}
	}))
}

// Secure does the handshake of TLS, and returns the connection that the server uses and its state.
// The state is nil on a plain listener. Secure waits while too many handshakes are in progress,
// until the deadline of the connection.
func (c *Conn) Secure() (net.Conn, *tls.ConnectionState, error) {
	if c.listener.certificates == nil {
		return c, nil, nil
	}
	if c.door.handshakes != nil {
		timeout := time.NewTimer(max(c.door.limits.HandshakeTimeout, time.Second))
		defer timeout.Stop()
		select {
		case c.door.handshakes <- struct{}{}:
			defer func() { <-c.door.handshakes }()
		case <-c.closed:
			return nil, nil, net.ErrClosed
		case <-timeout.C:
			return nil, nil, errors.New("too many handshakes are in progress")
		}
	}
	config := c.listener.certificates.current.Load()
	if c.listener.config.Web {
		config = config.Clone()
		config.NextProtos = []string{protocol, olderProtocol}
	}
	secure := tls.Server(c, config)
	if err := secure.Handshake(); err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) { // those are probes of ports
			c.door.fail(c, err)
		}
		return nil, nil, fmt.Errorf("in the handshake: %w", err)
	}
	state := secure.ConnectionState()
	if state.NegotiatedProtocol != protocol && !c.listener.config.Web {
		return nil, nil, fmt.Errorf("the client speaks %q, and not %s", state.NegotiatedProtocol, protocol)
	}
	return secure, &state, nil
}

// fail counts a failed handshake.
func (d *door) fail(c *Conn, err error) {
	if remote, ok := c.RemoteAddr().(*net.TCPAddr); ok && d.failed != nil {
		d.failed(remote.IP.String(), err.Error())
	}
	if blocked := d.failures.Add(handshakes + c.origin); blocked {
		d.logger.Warn("an address is blocked for a minute, because of its failed handshakes", "peer", c.RemoteAddr(), "error", err)
		return
	}
	d.logger.Info("a handshake failed", "peer", c.RemoteAddr(), "error", err)
}

// Origin returns where failures of the connection count: the principal, if one is known, and the
// address otherwise. So a caller that is known is not blocked by others behind its address. Each
// RPC asks for it, so it takes no lock of all connections.
func (c *Conn) Origin() string {
	if c.member.Load() != nil {
		return "principal " + c.principal
	}
	return c.origin
}

// Admit says that a caller of the connection is known. The first principal counts, if there are
// several. It reports false if the principal has too many connections.
func (c *Conn) Admit(principal string) bool {
	if c.member.Load() != nil {
		return true
	}
	if !c.door.admit(c, principal) {
		return false
	}
	if timer := c.patience.Load(); timer != nil {
		timer.Stop()
	}
	return true
}

// Start counts a new RPC, and reports whether it may begin. It closes a connection that goes on
// although it may not.
func (c *Conn) Start() bool {
	starts, most := c.starts, c.door.limits.startsOfStranger()
	if m := c.member.Load(); m != nil {
		starts, most = m.starts, c.door.limits.StreamsPerSecond
	}
	if starts.Allow() {
		return true
	}
	if c.excess.Add(1) == int64(max(most, 100)) {
		c.door.logger.Warn("a connection was closed, because it began too many requests", "peer", c.RemoteAddr(), "origin", c.Origin())
		_ = c.Conn.Close()
	}
	return false
}

// Close closes the connection.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		close(c.closed)
		if timer := c.patience.Load(); timer != nil {
			timer.Stop()
		}
		if c.door != nil {
			c.door.leave(c)
		}
	})
	return err
}
