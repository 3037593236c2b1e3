package listen

import (
	"net"
	"sync"
	"time"
)

// handshaken is a listener whose connections have completed the handshake of TLS. A client that is
// slow with its handshake must not keep others from connecting, so each handshake has a goroutine.
// Limits bounds how many there are.
type handshaken struct {
	net.Listener
	timeout time.Duration // of one handshake; 0: none
	done    chan net.Conn
	ended   chan struct{} // closed when the listener accepts no more
	err     error         // of the listener; readable after ended is closed
	stop    chan struct{}
	once    sync.Once
	tasks   sync.WaitGroup
}

// Handshaken returns a listener for an HTTP server, whose connections have completed the handshake
// of TLS if the inner listener demands one. timeout bounds one handshake; 0: it does not. Close
// closes the inner listener and waits for the handshakes.
func Handshaken(l net.Listener, timeout time.Duration) net.Listener {
	h := &handshaken{Listener: l, timeout: timeout, done: make(chan net.Conn), ended: make(chan struct{}), stop: make(chan struct{})}
	h.tasks.Go(h.accept) // ends with Close
	return h
}

func (h *handshaken) accept() {
	defer close(h.ended)
	for {
		c, err := h.Listener.Accept()
		if err != nil {
			h.err = err
			return
		}
		h.tasks.Go(func() { h.secure(c) }) // ends with the handshake, which is bounded
	}
}

func (h *handshaken) secure(c net.Conn) {
	ready := c
	if guarded, ok := c.(*Conn); ok {
		var err error
		if h.timeout > 0 {
			_ = c.SetDeadline(time.Now().Add(h.timeout))
		}
		if ready, _, err = guarded.Secure(); err != nil {
			_ = c.Close()
			return
		}
		_ = c.SetDeadline(time.Time{})
	}
	select {
	case h.done <- ready:
	case <-h.stop:
		_ = ready.Close()
	}
}

// Accept implements net.Listener.
func (h *handshaken) Accept() (net.Conn, error) {
	select {
	case c := <-h.done:
		return c, nil
	case <-h.ended:
		return nil, h.err
	}
}

// Close closes the listener and waits for the goroutines. It may be called more than once.
func (h *handshaken) Close() error {
	err := h.Listener.Close()
	h.once.Do(func() { close(h.stop) })
	h.tasks.Wait()
	return err
}
