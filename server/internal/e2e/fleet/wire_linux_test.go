//go:build more

package fleet_test

import (
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

// socket is the name of PostgreSQL's socket.
const socket = ".s.PGSQL.5432"

// wire passes the bytes of connections between one process and the database. While it is cut, no
// bytes pass, and the connections stay open, as in a network that loses all packets.
type wire struct {
	folder string // has the socket for the process

	mu     sync.Mutex
	whole  chan struct{} // closed while bytes pass
	closed bool
	open   map[net.Conn]bool
}

// newWire returns a wire to the database whose socket is in the folder server, until the end of the
// test.
func newWire(t *testing.T, server string) *wire {
	t.Helper()
	w := &wire{folder: shortdir.Make(t), whole: make(chan struct{}), open: map[net.Conn]bool{}}
	close(w.whole)
	listener, err := net.Listen("unix", filepath.Join(w.folder, socket))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		w.heal()
		w.close()
		group.Wait()
	})
	group.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				<-w.passes()
				far, err := net.Dial("unix", filepath.Join(server, socket))
				if err != nil || !w.keep(near, far) { // the database is gone
					_ = near.Close()
					return
				}
				group.Go(func() { w.pass(near, far) })
				w.pass(far, near)
			})
		}
	})
	return w
}

func (w *wire) passes() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.whole
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = make(chan struct{})
}

// heal does nothing if the wire is whole.
func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.whole:
	default:
		close(w.whole)
	}
}

// keep reports whether the wire is still there for the two ends.
func (w *wire) keep(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range ends {
		if w.closed {
			_ = end.Close()
		} else {
			w.open[end] = true
		}
	}
	return !w.closed
}

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for end := range w.open {
		_ = end.Close()
	}
}

// pass copies bytes until one side ends, and closes both.
func (w *wire) pass(from, to net.Conn) {
	defer func() {
		_, _ = from.Close(), to.Close() // the other direction may have closed them
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, from)
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		<-w.passes()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
