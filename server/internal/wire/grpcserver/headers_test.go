package grpcserver_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	"github.com/toolhost/toolhost/server/internal/wire/grpcserver"
)

// rawClient is a client of HTTP/2 that sends what it wants.
type rawClient struct {
	*http2.Framer
	conn    net.Conn
	block   bytes.Buffer
	encoder *hpack.Encoder
}

// dialRaw connects to a unix socket and returns the settings of the server, too.
func dialRaw(t *testing.T, path string) (c *rawClient, maxHeaderList uint32) {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // only a test that fails waits so long
	c = &rawClient{Framer: http2.NewFramer(conn, conn), conn: conn}
	c.encoder = hpack.NewEncoder(&c.block)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := frame.(*http2.SettingsFrame); ok && !f.IsAck() {
			maxHeaderList, _ = f.Value(http2.SettingMaxHeaderListSize)
			return c, maxHeaderList
		}
	}
}

// begin sends the headers of an RPC with metadata of a size, in frames of 16 KiB.
func (c *rawClient) begin(stream uint32, method string, size int) error {
	c.block.Reset()
	fields := [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}}
	for n := 0; size > 0; n++ {
		part := min(size, 2<<10)
		fields = append(fields, [2]string{fmt.Sprintf("x-%d", n), strings.Repeat("x", part)})
		size -= part
	}
	for _, f := range fields {
		if err := c.encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}); err != nil {
			return err
		}
	}
	first := c.block.Next(16 << 10)
	if err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndHeaders: c.block.Len() == 0}); err != nil {
		return err
	}
	for c.block.Len() > 0 {
		part := c.block.Next(16 << 10)
		if err := c.WriteContinuation(stream, c.block.Len() == 0, part); err != nil {
			return err
		}
	}
	return nil
}

// began reports whether the RPC of a stream began: the server answers with headers, or it resets
// the stream or ends the connection.
func (c *rawClient) began(stream uint32) bool {
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			return false
		}
		switch f := frame.(type) {
		case *http2.HeadersFrame:
			return f.StreamID == stream
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return false
		}
	}
}

// The metadata of an RPC is bounded at unix sockets, too. Each server refuses more before a handler
// or a gate sees the RPC.
func TestHeadersAreBounded(t *testing.T) {
	shared := grpcserver.New(nil, nil)
	shared.Register(grpcserver.Requests{Admit: admit}, func(grpc.ServiceRegistrar) {})
	t.Cleanup(func() { _ = shared.Shutdown(t.Context()) })
	workspaces := grpc.NewServer(workspaceserver.Options()...)
	t.Cleanup(workspaces.Stop)
	for name, serve := range map[string]func(net.Listener) error{"toolhost and agentd": shared.Serve, "workspaces": workspaces.Serve} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(shortdir.Make(t), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = serve(l) }() // ends with the server
			for size, want := range map[int]bool{8 << 10: true, 256 << 10: false, 4 << 20: false} {
				c, announced := dialRaw(t, path)
				if announced != grpcserver.HeaderBytes && announced != 4*grpcserver.HeaderBytes {
					t.Errorf("the server announces %d bytes", announced)
				}
				// writing fails if the server has closed the connection
				if got := c.begin(1, "/test.Echo/Nothing", size) == nil && c.began(1); got != want {
					t.Errorf("with %d bytes of metadata, the RPC began: %v", size, got)
				}
			}
		})
	}
}

// TestOneLargeRPCLeavesTheOthers checks that an RPC with too much metadata fails alone
// (grpc-go#4265).
func TestOneLargeRPCLeavesTheOthers(t *testing.T) {
	var log logged
	s := grpcserver.New(slog.New(slog.NewTextHandler(&log, nil)), nil)
	s.Register(grpcserver.Requests{Admit: admit}, func(grpc.ServiceRegistrar) {})
	t.Cleanup(func() { _ = s.Shutdown(t.Context()) })
	l, err := net.Listen("unix", filepath.Join(shortdir.Make(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }() // ends with the server
	for _, kib := range []int{15, 17, 20, 32, 48, 60} {
		conn, err := grpc.NewClient("unix:"+l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		health := healthv1.NewHealthClient(conn)
		watch, err := health.Watch(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := watch.Recv(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { // ends with the connection
			_, err := watch.Recv()
			ended <- err
		}()
		want := codes.OK
		if kib > 16 {
			want = codes.ResourceExhausted
		}
		for range 3 {
			large := metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("x", kib<<10))
			if _, err := health.Check(large, &healthv1.HealthCheckRequest{}); status.Code(err) != want {
				t.Errorf("with %d KiB of metadata: %v, want %v", kib, err, want)
			}
		}
		if _, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
			t.Errorf("after %d KiB: %v", kib, err)
		}
		select {
		case err := <-ended:
			t.Errorf("with %d KiB of metadata on another RPC, a stream ended: %v", kib, err)
		default:
		}
	}
	want := `msg="an RPC was refused before it began" method=/grpc.health.v1.Health/Check from=unix error="the metadata of the RPC has `
	if text := log.String(); strings.Count(text, want) != 3*5 || strings.Count(text, "\n") != 3*5 {
		t.Errorf("the log is\n%s", text)
	}
}

// logged is a log that several goroutines write.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
