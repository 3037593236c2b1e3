package postgrestest

import (
	"bytes"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

// Cutter passes the bytes of connections to a server. It cuts the connection whose client has sent
// a mark, when the server answers: the server has then executed what the client does not know of.
type Cutter struct {
	Mark []byte
	Cuts atomic.Int32 // how many are still to come
	Made atomic.Int32 // how many were
}

// Listen returns a folder with a socket that passes connections to the server whose socket is in
// another folder, until the end of the test.
func (c *Cutter) Listen(t testing.TB, server string) string {
	t.Helper()
	folder := shortdir.Make(t)
	const socket = ".s.PGSQL.5432"
	listener, err := net.Listen("unix", filepath.Join(folder, socket))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() { listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("unix", filepath.Join(server, socket))
			if err != nil {
				t.Error(err)
				client.Close()
				continue
			}
			var marked atomic.Bool
			group.Go(func() {
				pass(client, behind, func(sent []byte) bool {
					if bytes.Contains(sent, c.Mark) {
						marked.Store(true)
					}
					return true
				})
			})
			group.Go(func() {
				pass(behind, client, func([]byte) bool {
					if !marked.Swap(false) || c.Cuts.Add(-1) < 0 {
						return true
					}
					c.Made.Add(1)
					return false
				})
			})
		}
	})
	return folder
}

// pass copies bytes until one side ends or see returns false, and closes both.
func pass(from, to net.Conn, see func([]byte) bool) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !see(buffer[:n]) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
