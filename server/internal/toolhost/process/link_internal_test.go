package process

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/toolhost/toolhost/server/internal/fairness/pace"
)

// Large data that a plugin sends counts, and small messages do not.
func TestLargeDataIsCarried(t *testing.T) {
	for _, c := range []struct{ size, messages, want int }{
		{largeRead - 1, 64, 0},
		{pace.Piece, 1, 0}, // nothing follows, so nothing has to wait
		{pace.Piece, 5, 4},
		{pace.Piece / 2, 5, 2},
	} {
		l, carried := newLink(), 0
		l.carried = func() { carried++ }
		host, plugin := net.Pipe()
		go func() { // ends with its writes
			for range c.messages {
				_, _ = plugin.Write(bytes.Repeat([]byte("x"), c.size))
			}
		}()
		conn := &linkConn{Conn: host, link: l}
		buffer := make([]byte, c.size)
		for range c.messages {
			if n, err := conn.Read(buffer); n != c.size || err != nil {
				t.Fatalf("read %d bytes of %d: %v", n, c.size, err)
			}
		}
		if carried != c.want {
			t.Errorf("%d messages of %d bytes: %d pieces were reported, want %d", c.messages, c.size, carried, c.want)
		}
		_ = plugin.Close()
		if _, err := io.ReadAll(conn); err != nil {
			t.Error(err)
		}
	}
}
