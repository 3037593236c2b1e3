package listen

import "time"

// Limits bound what clients over TCP can take. A zero field means that there is no limit.
type Limits struct {
	Connections             int // open connections of all clients
	ConnectionsPerAddress   int // open connections of one address on which no caller is known yet
	ConnectionsPerPrincipal int // open connections of one principal
	Handshakes              int // handshakes in progress
	// HandshakeTimeout bounds the time from the connect to the end of the handshakes of TLS and
	// HTTP/2.
	HandshakeTimeout time.Duration
	// AuthenticationTimeout bounds the time from the connect to the first RPC of a known caller.
	AuthenticationTimeout time.Duration
	RequestTimeout        time.Duration // from the start of a unary RPC until its request has arrived
	Streams               int           // concurrent RPCs of one connection
	StreamsPerSecond      int           // RPCs that a principal starts
	HeaderBytes           int           // of the metadata of one RPC
	IdleTimeout           time.Duration // without an RPC
	MaxAge                time.Duration // of a connection; new RPCs need a new connection then
	FailuresPerMinute     int           // failed attempts of one address to authenticate
}

// startsOfStranger returns how many RPCs may start in a second on a connection whose caller is not
// known yet. All such connections of an address together may start about as many as one principal.
// One that serves a caller needs few: the first RPC of the caller makes it known.
func (l Limits) startsOfStranger() int {
	if l.StreamsPerSecond == 0 {
		return 0
	}
	return min(l.StreamsPerSecond, max(l.StreamsPerSecond/max(l.ConnectionsPerAddress, 1), 2*l.Streams, 100))
}
