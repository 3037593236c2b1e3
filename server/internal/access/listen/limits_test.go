package listen

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/testca"
)

// guest is a connection of a client without a network.
type guest struct {
	client net.Conn
	server *Conn // nil: the connection was refused
}

// come connects a client to a door.
func come(t *testing.T, d *door, l *Listener) guest {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { _ = errors.Join(client.Close(), server.Close()) })
	return guest{client, d.enter(server, l)}
}

// gone reports whether the server has closed the connection.
func (g guest) gone() bool {
	if err := g.client.SetReadDeadline(time.Now()); err != nil {
		return errors.Is(err, io.ErrClosedPipe)
	}
	_, err := g.client.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func newTestDoor(l Limits) *door { return newDoor(l, slog.New(slog.DiscardHandler)) }

// If all connections are in use, a new one takes the place of the oldest whose caller is not known.
// Connections of known callers stay. If all callers are known, the new connection is refused.
func TestTheOldestStrangerMakesRoom(t *testing.T) {
	d := newTestDoor(Limits{Connections: 3})
	l := &Listener{}
	a, known, c := come(t, d, l), come(t, d, l), come(t, d, l)
	if !known.server.Admit("ada") {
		t.Fatal("the caller is not admitted")
	}
	e := come(t, d, l)
	if !a.gone() || known.gone() || c.gone() || e.server == nil {
		t.Fatal("the fourth connection did not take the place of the first one")
	}
	f := come(t, d, l)
	if known.gone() || !c.gone() || e.gone() || f.server == nil {
		t.Fatal("the fifth connection did not take the place of the third one")
	}
	if !e.server.Admit("ada") || !f.server.Admit("bob") {
		t.Fatal("the callers are not admitted")
	}
	if refused := come(t, d, l); refused.server != nil || !refused.gone() || known.gone() || e.gone() || f.gone() {
		t.Error("a stranger took the place of a known caller, or was let in")
	}
	if err := known.server.Close(); err != nil {
		t.Fatal(err)
	}
	if g := come(t, d, l); g.server == nil {
		t.Error("a connection that ended makes no room")
	}
}

// from is a connection of a client at an address.
type from struct {
	net.Conn
	address string
}

func (c from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.address), Port: 1} }

// A client over HTTP that keeps idle connections locks nobody out who shares its address, a proxy
// is many clients, and a client of gRPC is refused.
func TestConnectionsOfAnAddress(t *testing.T) {
	d := newTestDoor(Limits{ConnectionsPerAddress: 2})
	come := func(l *Listener, address string) guest {
		client, server := net.Pipe()
		t.Cleanup(func() { _ = errors.Join(client.Close(), server.Close()) })
		return guest{client, d.enter(from{server, address}, l)}
	}
	web := &Listener{config: Config{Web: true, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	known, a, other, b, c := come(web, "192.0.2.1"), come(web, "192.0.2.1"), come(web, "192.0.2.2"), guest{}, guest{}
	if !known.server.Admit("ada") {
		t.Fatal("the caller is not admitted")
	}
	if b, c = come(web, "192.0.2.1"), come(web, "192.0.2.1"); !a.gone() || known.gone() || other.gone() || b.gone() || c.server == nil {
		t.Error("the third stranger did not take the place of the first of its address")
	}
	for range 3 {
		if g := come(web, "10.1.2.3"); g.server == nil {
			t.Error("a connection of a proxy is refused")
		}
	}
	if g := come(&Listener{}, "192.0.2.1"); g.server != nil || b.gone() || c.gone() {
		t.Error("a client of gRPC took the place of one over HTTP")
	}
	if want := 7; d.open != want || len(d.strangers) != want-1 {
		t.Errorf("%d connections and %d strangers count", d.open, len(d.strangers))
	}
}

// A principal has at most as many connections as the limit. Those of others do not count, and a
// connection that ends makes room.
func TestConnectionsOfAPrincipal(t *testing.T) {
	d := newTestDoor(Limits{ConnectionsPerPrincipal: 2})
	l := &Listener{}
	a, b, c, other := come(t, d, l), come(t, d, l), come(t, d, l), come(t, d, l)
	if !a.server.Admit("ada") || !b.server.Admit("ada") || !other.server.Admit("bob") {
		t.Fatal("a connection within the limit is refused")
	}
	if c.server.Admit("ada") || !a.server.Admit("ada") {
		t.Error("a third connection is admitted, or a known one is refused")
	}
	if err := a.server.Close(); err != nil {
		t.Fatal(err)
	}
	if !c.server.Admit("ada") {
		t.Error("a connection that ended makes no room")
	}
	if err := errors.Join(b.server.Close(), c.server.Close(), other.server.Close()); err != nil || len(d.members) != 0 || d.open != 0 {
		t.Errorf("%v; the door remembers %d principals and %d connections", err, len(d.members), d.open)
	}
}

// A connection without a known caller may start only a part of what a principal may, so that all of
// an address cannot start more than a principal. One that tries as many again is closed.
func TestStrangersStartFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDoor(Limits{StreamsPerSecond: 10_000, ConnectionsPerAddress: 32, Streams: 100})
		starts := func(c *Conn) (n int) {
			for range 10_000 {
				if c.Start() {
					n++
				}
			}
			return n
		}
		a, known := come(t, d, &Listener{}), come(t, d, &Listener{})
		if !known.server.Admit("ada") {
			t.Fatal("the caller is not admitted")
		}
		if of, all := starts(a.server), starts(known.server); of != 312 || all != 10_000 {
			t.Errorf("a stranger started %d requests at once, and a known caller %d", of, all)
		}
		if !a.gone() || known.gone() {
			t.Errorf("closed: the stranger %v, the known caller %v; want only the stranger", a.gone(), known.gone())
		}
		if most := (Limits{StreamsPerSecond: 50, ConnectionsPerAddress: 32}).startsOfStranger(); most != 50 {
			t.Errorf("a stranger may start %d requests, more than a principal", most)
		}
	})
}

// A handshake waits while as many are in progress as the limit. It goes on when one of them ends,
// and fails after the timeout.
func TestHandshakesInProgress(t *testing.T) {
	ca := testca.New(t)
	certificate, key := ca.Files(t, "127.0.0.1")
	certificates, err := openCertificates(TLS{Certificate: certificate, Key: key}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := newTestDoor(Limits{Handshakes: 1, HandshakeTimeout: time.Minute})
		l := &Listener{certificates: certificates}
		// handshake returns a client, and what its handshake ended with at the server.
		handshake := func(speaks bool) (guest, func() (done bool, err error)) {
			g, server := come(t, d, l), make(chan error, 1)
			go func() { // ends with the connection
				_, _, err := g.server.Secure()
				server <- err
			}()
			if speaks {
				go func() { // ends with the connection
					// The virtual time is outside of the certificate's life.
					_ = tls.Client(g.client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}).Handshake()
				}()
			}
			return g, func() (bool, error) {
				synctest.Wait()
				select {
				case err := <-server:
					return true, err
				default:
					return false, nil
				}
			}
		}
		silent, _ := handshake(false)
		synctest.Wait()
		_, waits := handshake(true)
		if done, err := waits(); done {
			t.Fatalf("the second handshake does not wait: %v", err)
		}
		_ = silent.client.Close()
		if done, err := waits(); !done || err != nil {
			t.Fatalf("the second handshake after the first has ended: %v, %v", done, err)
		}
		silent, _ = handshake(false)
		synctest.Wait()
		late, ends := handshake(true)
		time.Sleep(time.Minute)
		if done, err := ends(); !done || err == nil || !strings.Contains(err.Error(), "too many handshakes") {
			t.Errorf("after the timeout: %v, %v", done, err)
		}
		_ = errors.Join(silent.client.Close(), late.client.Close())
		synctest.Wait()
	})
}

// The table of failures does not grow with the number of attackers, and a failure counts for a
// minute.
func TestFailuresAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFailures(2)
		for n := range 3 * maxFailing {
			f.Add(strconv.Itoa(n))
		}
		if len(f.counts) > maxFailing {
			t.Errorf("the table has %d origins", len(f.counts))
		}
		if f.Add("a") || !f.Add("a") || f.Add("a") || f.Blocked("a") == 0 || f.Blocked("b") != 0 {
			t.Error("the second failure blocks, and only its origin")
		}
		time.Sleep(failureWindow + time.Second)
		if f.Blocked("a") != 0 {
			t.Error("an origin is blocked after the window")
		}
		unlimited := newFailures(0)
		unlimited.Add("a")
		if unlimited.Blocked("a") != 0 {
			t.Error("without a limit, an origin is blocked")
		}
	})
}
