package address

import (
	"io"
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

// Connections without calls are closed in favor of new ones. Connections with calls stay. If all
// connections have calls, the listener closes a new connection at once.
func TestRoom(t *testing.T) {
	r := newRoomRig(t)
	busy := r.connect()
	server := <-r.accepted
	if pid, ok := PeerPID(server); runtime.GOOS == "linux" && (!ok || pid <= 0) {
		t.Errorf("the process at the other end is %d, %v", pid, ok)
	}
	r.call(busy, server)
	idle := r.connect()
	<-r.accepted
	for range 3 { // each new connection replaces the oldest unused one
		next := r.connect()
		server = <-r.accepted
		r.closed(idle)
		idle = next
	}
	r.call(idle, server)
	r.closed(r.connect()) // all others have calls
	if _, err := busy.Write([]byte("more")); err != nil {
		t.Errorf("a connection with calls was closed: %v", err)
	}
	server.Close()
	server.Close()
	last := r.connect()
	if got := <-r.accepted; got == nil || last == nil {
		t.Error("there is no room after a connection has gone")
	}
	if open := r.listener.room.open; open != 2 {
		t.Errorf("%d connections are open, want 2", open)
	}
}

// roomRig is a listener with room for two connections.
type roomRig struct {
	t        *testing.T
	listener *Listener
	path     string
	accepted chan net.Conn
}

func newRoomRig(t *testing.T) *roomRig {
	t.Helper()
	a, err := Parse("unix://" + filepath.Join(shortdir.Make(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Listen(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	l.room.most = 2
	r := &roomRig{t: t, listener: l, path: a.Path(), accepted: make(chan net.Conn, 10)}
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.accepted <- c
		}
	}()
	return r
}

func (r *roomRig) connect() net.Conn {
	r.t.Helper()
	c, err := net.Dial("unix", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

// call sends as much as a call has at least, so that the connection counts as used.
func (r *roomRig) call(c, server net.Conn) {
	r.t.Helper()
	if _, err := c.Write(make([]byte, callBytes)); err != nil {
		r.t.Fatal(err)
	}
	if _, err := io.ReadFull(server, make([]byte, callBytes)); err != nil {
		r.t.Fatal(err)
	}
}

// closed checks that the listener closes a connection.
func (r *roomRig) closed(c net.Conn) {
	r.t.Helper()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		r.t.Error("a connection that was to be closed sends data")
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
