package agentserver_test

import (
	"bytes"
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

// Messages that begin and do not end count for the memory of their principal, for unary RPCs and
// for streams. When there is no room, agentd reads no further.
func TestIncompleteMessagesAreBounded(t *testing.T) {
	const mostOfOne = 1 << 20
	for _, method := range []string{agentdv1.AgentService_StartRun_FullMethodName, agentdv1.AgentService_WatchRun_FullMethodName} {
		t.Run(method, func(t *testing.T) {
			memory := budget.New(64<<20, mostOfOne)
			server := agentserver.NewServer(agentserver.Config{Agent: &fakeAgent{}, Messages: memory})
			path := filepath.Join(shortdir.Make(t), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- server.Serve(l) }() // ends with the server
			var all []net.Conn
			for range 24 { // each may take the largest message while the others have little
				conn, err := net.Dial("unix", path)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, conn)
				go begin(conn, method) // ends when the connection is closed
			}
			eventually.Holds(t, "messages count", func() bool { return memory.Used() >= mostOfOne/2 })
			if used := memory.Used(); used > 25<<20 {
				t.Errorf("%d bytes are reserved", used)
			}
			for _, conn := range all {
				_ = conn.Close()
			}
			eventually.Holds(t, "the memory is released", func() bool { return memory.Used() == 0 })
			if err := server.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

// begin begins 100 RPCs with a message of 4 MiB each, of which it sends 48 KiB.
func begin(conn net.Conn, method string) {
	framer := http2.NewFramer(conn, conn)
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil || framer.WriteSettings() != nil {
		return
	}
	for stream := uint32(1); stream < 200; stream += 2 {
		block.Reset()
		for _, f := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
			if encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}) != nil {
				return
			}
		}
		if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true}) != nil {
			return
		}
		text := append([]byte{0, 0, 0x40, 0, 0}, make([]byte, 16<<10-5)...)
		for range 3 {
			if framer.WriteData(stream, false, text) != nil {
				return
			}
			clear(text[:5])
		}
	}
}
