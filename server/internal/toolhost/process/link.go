package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolhost/toolhost/server/internal/fairness/pace"
)

var (
	// errLinkLost is the error that gRPC gets when it dials a second time.
	errLinkLost = errors.New("the connection to the plugin is lost")
	// errNotGRPC describes the probable fault of a server that accepts a connection and sends
	// nothing.
	errNotGRPC = errors.New("it does not answer gRPC on its socket, as a server does that expects TLS; the socket is protected by its folder: serve without TLS")
)

// link is the only connection to the plugin's socket. A lost connection may have taken calls with
// it, so that the process has to end: there is no second connection.
type link struct {
	lost    chan struct{} // closed when the connection is lost
	carried func()        // is called after each pace.Piece of large data from the plugin; may block

	mu      sync.Mutex
	dialled bool
	closed  bool
	err     error // why dial failed
	heard   byte  // the first byte that the plugin sent, if spoke is set
	spoke   bool
	conn    net.Conn
}

func newLink() *link { return &link{lost: make(chan struct{}), carried: func() {}} }

// dial connects to the plugin's socket, checks which process listens there, and removes the
// socket's name. Nothing else can connect then, and no name is left behind, however the process
// ends. folder is the plugin's own folder, which holds the socket.
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

// removeWithin removes a file in a folder, but not if the path leads out of the folder. The plugin
// may have put a link on the path, and toolhost may remove files that the plugin may not.
func removeWithin(folder, path string) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return
	}
	defer root.Close()
	if name, err := filepath.Rel(folder, path); err == nil {
		_ = root.Remove(name) // the folder is removed later with all its files
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

// close ends the connection for good. It may be called more than once.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// lose records the loss of the connection. The caller holds the lock.
func (l *link) lose() {
	if !l.closed {
		l.closed = true
		close(l.lost)
	}
}

// problem returns what is wrong with the connection, if this package knows more than gRPC: why dial
// failed, or that the peer is not a gRPC server.
func (l *link) problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	const alert = 0x15 // the first byte of a TLS alert, and never of gRPC
	if silent := l.closed && l.conn != nil && !l.spoke; silent || l.spoke && l.heard == alert {
		return errNotGRPC
	}
	return l.err
}

// linkConn notices the end of the connection before gRPC reports it.
type linkConn struct {
	net.Conn
	link  *link
	spoke bool // the plugin has sent something, as the reading goroutine knows
	large int  // bytes of large data since carried was called; used by the reading goroutine only
}

// largeRead is the size from which what one read returns counts as large data. Small results come
// in smaller pieces, unless many arrive at the same time.
const largeRead = 4 << 10

func (c *linkConn) Read(b []byte) (int, error) {
	if c.large >= pace.Piece {
		c.large = 0
		c.link.carried()
	}
	n, err := c.Conn.Read(b)
	if n >= largeRead {
		c.large += n
	}
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

// noteLoss records a lost connection unless the error is that of a deadline. gRPC interrupts reads
// by a deadline when it takes the connection over.
func (c *linkConn) noteLoss(err error) {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		c.link.lose()
	}
}
