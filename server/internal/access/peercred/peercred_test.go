package peercred_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"google.golang.org/grpc/credentials"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
)

// accepted returns the server's end of a new connection.
func accepted(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	listener, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial(network, listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); conn.Close() })
	return conn
}

// The kernel names the user of a unix socket. Any user can make a TCP connection.
func TestInfoNamesTheUserOfASocket(t *testing.T) {
	self := fmt.Sprintf("uid:%d", os.Getuid())
	if runtime.GOOS != "linux" { // only Linux answers
		self = ""
	}
	for _, tc := range []struct {
		network, addr, principal string
		overTCP                  bool
	}{
		{"unix", filepath.Join(shortdir.Make(t), "s"), self, false},
		{"tcp", "127.0.0.1:0", "", true},
	} {
		conn := accepted(t, tc.network, tc.addr)
		kept, got, err := peercred.New(nil).ServerHandshake(conn)
		info, ok := got.(peercred.Info)
		if err != nil || !ok || kept != conn || info.Principal != tc.principal || info.OverTCP != tc.overTCP {
			t.Errorf("%s: %+v, %v; want the principal %q", tc.network, got, err, tc.principal)
		}
	}
}

// A hook decides which connection the server uses, and can refuse it.
func TestHookReplacesAndRefuses(t *testing.T) {
	conn := accepted(t, "tcp", "127.0.0.1:0")
	type wrapped struct{ net.Conn }
	type known struct {
		peercred.Info
		name string
	}
	named := peercred.New(func(c net.Conn, info peercred.Info) (net.Conn, credentials.AuthInfo, error) {
		return wrapped{c}, known{info, "n"}, nil
	})
	kept, got, err := named.Clone().ServerHandshake(conn)
	if id, ok := got.(known); err != nil || kept != net.Conn(wrapped{conn}) || !ok || id.name != "n" || !id.OverTCP {
		t.Errorf("%+v on %T: %v", got, kept, err)
	}
	full := errors.New("full")
	refusing := peercred.New(func(net.Conn, peercred.Info) (net.Conn, credentials.AuthInfo, error) { return nil, nil, full })
	if _, _, err := refusing.ServerHandshake(conn); !errors.Is(err, full) {
		t.Errorf("the handshake returned %v", err)
	}
}
