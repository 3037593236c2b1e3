package listen

import (
	"log/slog"
	"net"
	"slices"
	"sync"

	"golang.org/x/time/rate"
)

// handshakes begins the origin of failed handshakes, which count apart from failed credentials.
const handshakes = "handshakes of "

// door limits the connections of all TCP listeners of a server.
//
// A connection begins as a stranger: the server does not know its caller. Strangers are limited by
// address and in time. When the first RPC of a known caller arrives, the connection becomes one of
// the caller's principal, and counts toward the limits of that principal instead. So strangers can
// neither use up the connections of known callers, nor hold their own for long: if all connections
// are in use, a new one takes the place of the oldest stranger.
type door struct {
	limits     Limits
	logger     *slog.Logger
	failures   *Failures
	handshakes chan struct{}                // has an element for each handshake in progress; nil: no limit
	failed     func(address, reason string) // of a handshake; not changed while connections are accepted; nil: no call

	mu        sync.Mutex
	open      int
	strangers []*Conn           // oldest first
	byOrigin  map[string]*turns // of the strangers
	members   map[string]*member
}

// member is a principal with connections.
type member struct {
	starts *rate.Limiter
	turns  turns
}

func newDoor(limits Limits, logger *slog.Logger) *door {
	d := &door{
		limits: limits, logger: logger, failures: newFailures(limits.FailuresPerMinute),
		byOrigin: map[string]*turns{}, members: map[string]*member{},
	}
	if limits.Handshakes > 0 {
		d.handshakes = make(chan struct{}, limits.Handshakes)
	}
	return d
}

// enter counts a new connection. It returns nil if it closed the connection because of a limit.
func (d *door) enter(c net.Conn, l *Listener) *Conn {
	conn := &Conn{Conn: c, door: d, listener: l, closed: make(chan struct{})}
	if remote, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		conn.origin = OriginOf(remote.IP.String())
	}
	conn.starts = newStarts(d.limits.startsOfStranger())
	refusal, leaves := d.place(conn)
	if leaves != nil {
		d.logger.Warn("a connection without a known caller was closed, because there were too many connections", "peer", leaves.RemoteAddr())
		_ = leaves.Close()
	}
	if refusal != "" {
		d.logger.Warn("a connection was refused", "peer", c.RemoteAddr(), "reason", refusal)
		_ = c.Close()
		return nil
	}
	if d.limits.AuthenticationTimeout > 0 {
		conn.late(d.limits.AuthenticationTimeout)
	}
	return conn
}

// place counts a stranger, or returns why it is refused. leaves is the stranger whose place it
// takes.
func (d *door) place(conn *Conn) (refusal string, leaves *Conn) {
	if d.failures.Blocked(handshakes+conn.origin) > 0 {
		return "too many failed handshakes of its address", nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ofAddress := d.byOrigin[conn.origin]
	if ofAddress == nil {
		ofAddress = &turns{}
	}
	if most := d.limits.ConnectionsPerAddress; most > 0 && int(ofAddress.connections.Load()) >= most && !conn.proxied() {
		// HTTP clients keep connections that they do not use, and people share the address of a proxy.
		i := slices.IndexFunc(d.strangers, func(other *Conn) bool { return other.origin == conn.origin && other.listener.Web() })
		if !conn.listener.Web() || i < 0 {
			return "its address has too many connections without a known caller", nil
		}
		leaves = d.strangers[i]
		d.leaveLocked(leaves)
	}
	if most := d.limits.Connections; most > 0 && d.open >= most {
		if len(d.strangers) == 0 {
			return "there are too many connections", nil
		}
		leaves = d.strangers[0]
		d.leaveLocked(leaves)
	}
	d.open++
	d.strangers = append(d.strangers, conn)
	d.byOrigin[conn.origin] = ofAddress
	ofAddress.connections.Add(1)
	conn.turns.Store(ofAddress)
	return "", leaves
}

// admit makes a stranger a connection of a principal. It reports false if the principal has too
// many.
func (d *door) admit(conn *Conn, principal string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if conn.member.Load() != nil || conn.left {
		return true
	}
	m := d.members[principal]
	if m == nil {
		m = &member{starts: newStarts(d.limits.StreamsPerSecond)}
	}
	if most := d.limits.ConnectionsPerPrincipal; most > 0 && int(m.turns.connections.Load()) >= most {
		return false
	}
	m.turns.connections.Add(1)
	d.members[principal] = m
	d.forgetLocked(conn)
	conn.turns.Store(&m.turns)
	conn.principal = principal
	conn.member.Store(m)
	return true
}

// leave counts a connection no more.
func (d *door) leave(conn *Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leaveLocked(conn)
}

func (d *door) leaveLocked(conn *Conn) {
	if conn.left {
		return
	}
	conn.left = true
	d.open--
	m := conn.member.Load()
	if m == nil {
		d.forgetLocked(conn)
		return
	}
	if m.turns.connections.Add(-1) == 0 {
		delete(d.members, conn.principal)
	}
}

// forgetLocked removes a connection from the strangers.
func (d *door) forgetLocked(conn *Conn) {
	if i := slices.Index(d.strangers, conn); i >= 0 {
		d.strangers = slices.Delete(d.strangers, i, i+1)
	}
	if d.byOrigin[conn.origin].connections.Add(-1) == 0 {
		delete(d.byOrigin, conn.origin)
	}
}

// newStarts returns a limit of starts in a second, which allows those of one second at once. 0 is
// no limit.
func newStarts(perSecond int) *rate.Limiter {
	if perSecond == 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(perSecond), perSecond)
}
