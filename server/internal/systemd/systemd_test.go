package systemd_test

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/systemd"
)

// manager is the socket of a systemd.
type manager struct{ *net.UnixConn }

// started makes this process a service of a systemd for the test.
func started(t *testing.T) manager {
	t.Helper()
	path := filepath.Join(shortdir.Make(t), "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return manager{conn}
}

// next returns the next message.
func (m manager) next(t *testing.T, wait time.Duration) (message string, ok bool) {
	t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4096)
	n, err := m.Read(data)
	return string(data[:n]), err == nil
}

func service() (systemd.Service, *syncbuf.Buffer) {
	l := &syncbuf.Buffer{}
	return systemd.Service{Log: slog.New(slog.NewTextHandler(l, nil))}, l
}

func TestStates(t *testing.T) {
	m := started(t)
	s, _ := service()
	s.Ready("two\nlines")
	s.Reloading()
	s.Stopping("the end")
	for _, want := range []string{"READY=1\nSTATUS=two lines", "RELOADING=1\nMONOTONIC_USEC=", "STOPPING=1\nSTATUS=the end"} {
		if got, _ := m.next(t, eventually.Patience); !strings.HasPrefix(got, want) {
			t.Errorf("systemd got %q, want %q", got, want)
		}
	}
}

// Without systemd nothing happens, and a systemd that is gone is reported and harms nothing.
func TestNoSystemd(t *testing.T) {
	s, l := service()
	t.Setenv("NOTIFY_SOCKET", "")
	s.Ready("")
	s.Watch(nil, nil)()
	if strings.Contains(l.String(), "level") {
		t.Errorf("without systemd, the log has %s", l)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(shortdir.Make(t), "gone"))
	s.Ready("")
	if !strings.Contains(l.String(), "READY=1") {
		t.Errorf("the log does not say what was not sent: %s", l)
	}
}

// health answers health checks with err, once it is released.
type health struct {
	healthv1.UnimplementedHealthServer
	released chan struct{}
	err      error
}

func (h health) Check(ctx context.Context, _ *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	select {
	case <-h.released:
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_NOT_SERVING}, h.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func serve(t *testing.T, h health) *grpc.Server {
	t.Helper()
	server := grpc.NewServer()
	healthv1.RegisterHealthServer(server, h)
	t.Cleanup(server.Stop)
	return server
}

// systemd hears of a server as long as it answers, whatever it answers, and not of one that hangs.
func TestWatchdog(t *testing.T) {
	m := started(t)
	t.Setenv("WATCHDOG_USEC", strconv.Itoa(int((100 * time.Millisecond).Microseconds())))
	s, l := service()
	h := health{released: make(chan struct{}), err: status.Error(codes.ResourceExhausted, "full")}
	stop := s.Watch(serve(t, h).Serve, func() string { return "7 tools" })
	eventually.Holds(t, "the log says that the server hangs", func() bool { return strings.Contains(l.String(), "does not answer its own health check") })
	if got, ok := m.next(t, time.Millisecond); ok {
		t.Errorf("systemd got %q of a server that hangs", got)
	}
	close(h.released)
	for range 2 {
		if got, ok := m.next(t, eventually.Patience); got != "WATCHDOG=1\nSTATUS=7 tools" {
			t.Errorf("systemd got %q (%v) of a server that answers", got, ok)
		}
	}
	stop()
	for _, ok := m.next(t, time.Millisecond); ok; _, ok = m.next(t, time.Millisecond) {
	}
	if got, ok := m.next(t, 200*time.Millisecond); ok {
		t.Errorf("after its end, the watch sends %q", got)
	}
}

// The watchdog of another process is not this one's.
func TestWatchdogOfAnotherProcess(t *testing.T) {
	m := started(t)
	t.Setenv("WATCHDOG_USEC", "1000")
	t.Setenv("WATCHDOG_PID", "1")
	s, _ := service()
	s.Watch(nil, nil)()
	if got, ok := m.next(t, time.Millisecond); ok {
		t.Errorf("systemd got %q", got)
	}
}
