package address

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

const (
	// roomShare is the part of the process's descriptors that connections may take; the rest is for what the server does.
	roomShare = 4
	// leastRoom is how many connections there may be however few descriptors there are.
	leastRoom = 8
	// spare is how many descriptors are given back where there were none left: as many as the start of a plugin needs.
	spare = 16
	// callBytes is less than a client has sent when it has begun a call: the opening of a connection takes about 60 bytes, and
	// a call's headers more than that again.
	callBytes = 128
)

// room bounds the connections of one listener. Without it, connections that do nothing take all descriptors, and whoever calls
// waits without an answer. Where there is no room, the oldest connection goes on which no call was ever begun; where there is
// none, the new one is closed at once, which its client sees as an error that it may try again.
type room struct {
	most int

	mu     sync.Mutex
	open   int
	unused []*guest // on which no call was begun, the oldest first
}

// guest is a connection that counts.
type guest struct {
	net.Conn
	room *room
	once sync.Once
	read int // up to callBytes; by the one goroutine that reads
}

func newRoom() *room { return &room{most: max(leastRoom, descriptors()/roomShare)} }

// descriptors returns how many descriptors this process may have; a large number if that is not known.
func descriptors() int {
	const unknown, most = 1 << 16, 1 << 30
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return unknown
	}
	return int(min(uint64(limit.Cur), most))
}

// enter returns the connection as one that counts, or nil if it was closed because there is no room.
func (r *room) enter(c net.Conn) net.Conn {
	r.mu.Lock()
	g := &guest{Conn: c, room: r}
	var leaves *guest
	switch {
	case r.open < r.most:
	case len(r.unused) > 0:
		leaves = r.unused[0]
	default:
		r.mu.Unlock()
		_ = c.Close()
		return nil
	}
	r.open++
	r.unused = append(r.unused, g)
	r.mu.Unlock()
	if leaves != nil {
		_ = leaves.Close()
	}
	return g
}

// shrink gives descriptors back where the process has none left, and remembers how many connections are too many. It reports
// whether there are some now.
func (r *room) shrink() bool {
	r.mu.Lock()
	r.most = min(r.most, max(leastRoom, r.open-spare))
	leave := r.unused[:min(len(r.unused), max(0, r.open-r.most))]
	leaving := append([]*guest(nil), leave...)
	r.mu.Unlock()
	for _, g := range leaving {
		_ = g.Close()
	}
	return len(leaving) > 0
}

// used notes that a call was begun on a connection, or that it is closed.
func (r *room) used(g *guest, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.unused {
		if other == g {
			r.unused = append(r.unused[:i], r.unused[i+1:]...)
			break
		}
	}
	if closed {
		r.open--
	}
}

func (g *guest) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.read < callBytes {
		if g.read += n; g.read >= callBytes {
			g.room.used(g, false)
		}
	}
	return n, err
}

func (g *guest) Close() error {
	err := g.Conn.Close()
	g.once.Do(func() { g.room.used(g, true) })
	return err
}

// bare returns a connection as the kernel has it.
func bare(c net.Conn) net.Conn {
	if g, ok := c.(*guest); ok {
		return g.Conn
	}
	return c
}

// Accept waits for the next connection for which there is room.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && l.room.shrink() {
			continue
		}
		if err != nil {
			return nil, err
		}
		if g := l.room.enter(c); g != nil {
			return g, nil
		}
	}
}
