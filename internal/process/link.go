package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
)

// errLinkLost is what gRPC gets instead of a second connection.
var errLinkLost = errors.New("the connection to the plugin is lost")

// link is the one connection to the plugin's socket. There is never a second: what broke the first may have taken
// calls with it, so that the process has to end.
type link struct {
	lost chan struct{} // closed when the connection is

	mu      sync.Mutex
	dialled bool
	closed  bool
	err     error // why the connection could not be made
	conn    net.Conn
}

func newLink() *link { return &link{lost: make(chan struct{})} }

// dial connects to the plugin's socket, checks who listens there, and removes the socket's name: nobody else is to come
// that way, and nothing is left behind then, however this ends.
func (l *link) dial(ctx context.Context, path string, leader int) (net.Conn, error) {
	l.mu.Lock()
	refused := l.dialled || l.closed
	l.dialled = true
	l.mu.Unlock()
	if refused {
		return nil, errLinkLost
	}
	conn, err := dialPeer(ctx, path, leader)
	_ = os.Remove(path)
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

// dialError returns why the connection could not be made, nil if it could or was not tried.
func (l *link) dialError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// linkConn notices the end of the connection before gRPC says so.
type linkConn struct {
	net.Conn
	link *link
}

func (c *linkConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
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

// noteLoss tells a loss from a deadline, with which gRPC interrupts its reads when it takes the connection over.
func (c *linkConn) noteLoss(err error) {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		c.link.lose()
	}
}
