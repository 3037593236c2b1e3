package address

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

const (
	// roomShare is the divisor for the share of the process's descriptors that connections may use.
	// The rest is for the server's work.
	roomShare = 4
	// leastRoom is the minimum of the connection limit, however few descriptors the process has.
	leastRoom = 8
	// spare is the number of descriptors that shrink frees, which is what the start of a plugin
	// needs.
	spare = 16
	// callBytes is the number of received bytes after which a connection counts as used for calls.
	// The opening of a connection takes about 60 bytes, and the headers of a call take more than
	// another 60.
	callBytes = 128
)

// room limits the connections of one listener. Without a limit, connections without calls could use
// all descriptors. New callers would then wait without an answer.
//
// If the limit is reached, room closes the oldest connection on which no call has begun. If there
// is none, it closes the new connection at once. The client of the closed connection gets an error
// after which it may try again.
type room struct {
	most int

	mu     sync.Mutex
	open   int
	unused []*guest // connections on which no call has begun, oldest first
}

// guest is a connection that counts toward the limit of its room.
type guest struct {
	net.Conn
	room *room
	once sync.Once
	read int // bytes received, counted up to callBytes; only the reading goroutine uses it
}

func newRoom() *room { return &room{most: max(leastRoom, descriptors()/roomShare)} }

// descriptors returns the descriptor limit of this process, or 65,536 if it is unknown.
func descriptors() int {
	const unknown, most = 1 << 16, 1 << 30
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return unknown
	}
	return int(min(uint64(limit.Cur), most))
}

// enter counts the connection and returns it as a guest. It returns nil if it closed the connection
// because the limit is reached.
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

// shrink handles a process that has no descriptors left. It lowers the limit of connections for
// good and closes connections without calls. It reports whether it closed any.
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

// used removes a connection from the unused ones, because a call has begun on it or it was closed.
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

// bare returns the kernel's connection inside of a guest, or of a wrapper with a method NetConn.
func bare(c net.Conn) net.Conn {
	for {
		switch wrapper := c.(type) {
		case *guest:
			c = wrapper.Conn
		case interface{ NetConn() net.Conn }:
			c = wrapper.NetConn()
		default:
			return c
		}
	}
}

// Accept waits for the next connection that the limit admits.
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
