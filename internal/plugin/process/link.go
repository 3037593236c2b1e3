package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
)

var (
	// errLinkLost is what gRPC gets instead of a second connection.
	errLinkLost = errors.New("the connection to the plugin is lost")
	// errNotGRPC says what most probably is wrong with a server that takes a connection and does not begin to speak.
	errNotGRPC = errors.New("it does not answer gRPC on its socket, as a server does that expects TLS; the socket is protected by its folder: serve without TLS")
)

// link is the one connection to the plugin's socket. There is never a second: what broke the first may have taken
// calls with it, so that the process has to end.
type link struct {
	lost chan struct{} // closed when the connection is

	mu      sync.Mutex
	dialled bool
	closed  bool
	err     error // why the connection could not be made
	heard   byte  // the first that the plugin said, if spoke
	spoke   bool
	conn    net.Conn
}

func newLink() *link { return &link{lost: make(chan struct{})} }

// dial connects to the plugin's socket, checks who listens there, and removes the socket's name: nobody else is to come
// that way, and nothing is left behind then, however this ends. folder is the plugin's own, in which the socket is.
func (l *link) dial(ctx context.Context, folder, path string, leader int) (net.Conn, error) {
	l.mu.Lock()
	refused := l.dialled || l.closed
	l.dialled = true
	l.mu.Unlock()
	if refused {
		return nil, errLinkLost
	}
	conn, err := dialPeer(ctx, path, leader)
	removeWithin(folder, path)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.err = err
		return nil, err
	case l.closed:
		_ = conn.Close()
		return nil, errLinkLost
	}
	l.conn = conn
	return &linkConn{Conn: conn, link: l}, nil
}

// removeWithin removes a file of a folder, unless the way to it leads out: the plugin may have put a link in it meanwhile, and
// toolhost may remove more than the plugin.
func removeWithin(folder, path string) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return
	}
	defer root.Close()
	if name, err := filepath.Rel(folder, path); err == nil {
		_ = root.Remove(name) // the folder is removed at the end, with all that is in it
	}
}

func dialPeer(ctx context.Context, path string, leader int) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("connecting to its socket: %w", err)
	}
	if err := checkPeer(conn.(*net.UnixConn), leader); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// close ends the connection; from then on there is none. It may be called more than once.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// lose notes the loss. The lock is held.
func (l *link) lose() {
	if !l.closed {
		l.closed = true
		close(l.lost)
	}
}

// problem returns what is wrong with the connection, as far as that is known better here than by gRPC: why it could not
// be made, or that whoever took it is no gRPC server.
func (l *link) problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	const alert = 0x15 // what TLS begins with when it does not like what it hears, and gRPC never does
	if silent := l.closed && l.conn != nil && !l.spoke; silent || l.spoke && l.heard == alert {
		return errNotGRPC
	}
	return l.err
}

// linkConn notices the end of the connection before gRPC says so.
type linkConn struct {
	net.Conn
	link  *link
	spoke bool // the plugin, as the reader knows
}

func (c *linkConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.spoke {
		c.noteFirst(b[0])
	}
	c.noteLoss(err)
	return n, err
}

func (c *linkConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.noteLoss(err)
	return n, err
}

func (c *linkConn) Close() error {
	c.link.close()
	return nil
}

func (c *linkConn) noteFirst(b byte) {
	c.spoke = true
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.link.heard, c.link.spoke = b, true
}

// noteLoss tells a loss from a deadline, with which gRPC interrupts its reads when it takes the connection over.
func (c *linkConn) noteLoss(err error) {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		c.link.lose()
	}
}
