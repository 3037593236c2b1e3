package address

import (
	"io"
	"net"
	"path/filepath"
	"runtime"
	"testing"
)

// Connections without calls are closed in favor of new ones. Connections with calls stay. If all
// connections have calls, the listener closes a new connection at once.
func TestRoom(t *testing.T) {
	a, err := Parse("unix://" + filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Listen(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.room.most = 2
	accepted := make(chan net.Conn, 10)
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	connect := func() net.Conn {
		c, err := net.Dial("unix", a.Path())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	call := func(c, server net.Conn) {
		if _, err := c.Write(make([]byte, callBytes)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(server, make([]byte, callBytes)); err != nil {
			t.Fatal(err)
		}
	}
	closed := func(c net.Conn) {
		t.Helper()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a connection that was to be closed has something to say")
		}
	}
	busy := connect()
	server := <-accepted
	if pid, ok := PeerPID(server); runtime.GOOS == "linux" && (!ok || pid <= 0) {
		t.Errorf("the process at the other end is %d, %v", pid, ok)
	}
	call(busy, server)
	idle := connect()
	<-accepted
	for range 3 { // each new connection replaces the oldest unused one
		next := connect()
		server = <-accepted
		closed(idle)
		idle = next
	}
	call(idle, server)
	closed(connect()) // all others have calls
	if _, err := busy.Write([]byte("more")); err != nil {
		t.Errorf("a connection with calls was closed: %v", err)
	}
	server.Close()
	server.Close()
	last := connect()
	if got := <-accepted; got == nil || last == nil {
		t.Error("there is no room after a connection has gone")
	}
	if open := l.room.open; open != 2 {
		t.Errorf("%d connections are open, want 2", open)
	}
}

func TestDescriptorsAreKnown(t *testing.T) {
	if n := descriptors(); n < 16 {
		t.Errorf("this process may have %d descriptors", n)
	}
}

// If the process has no descriptors left, the listener closes connections without calls, so that
// enough descriptors are free to start a plugin.
func TestShrink(t *testing.T) {
	r := &room{most: 100}
	var all []net.Conn
	for range 40 {
		c, other := net.Pipe()
		t.Cleanup(func() { other.Close() })
		all = append(all, r.enter(c))
	}
	for _, c := range all[:10] {
		r.used(c.(*guest), false)
	}
	if !r.shrink() || r.open != 40-spare || r.most != 40-spare {
		t.Errorf("%d connections are open, at most %d", r.open, r.most)
	}
	for r.shrink() {
	}
	if r.open != 10 || r.most != leastRoom {
		t.Errorf("%d connections are open, at most %d; the 10 with calls are to stay", r.open, r.most)
	}
}
