package hostserver_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// socket returns an address in a new folder whose path is short enough for a socket.
func socket(t testing.TB) address.Address {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "rpc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a, err := address.Unix(filepath.Join(dir, "toolhost.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve serves a host until the test ends and returns the address.
func serve(t testing.TB, a address.Address, cfg hostserver.Config) (address.Address, *hostserver.Server) {
	t.Helper()
	listener, err := a.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	server := hostserver.NewServer(cfg)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return listener.Address(), server
}

func newHost(t *testing.T) *hosttest.Toolhost {
	t.Helper()
	return hosttest.New(t, nil, hosttest.Tools()...)
}

// remote is a host behind a client, with its administration.
type remote struct {
	*client.Client
	*client.Admin
}

func (r remote) Restart(ctx context.Context, plugin, reason string, force bool) (tool.Restarted, error) {
	return r.Because(reason).Restart(ctx, plugin, force)
}

func (r remote) Drain(ctx context.Context, plugin, reason string) error {
	return r.Because(reason).Drain(ctx, plugin)
}

func (r remote) Pause(ctx context.Context, plugin, reason string) error {
	return r.Because(reason).Pause(ctx, plugin)
}

func (r remote) Upgrade(ctx context.Context, plugin, reason string) (tool.Upgraded, error) {
	return r.Because(reason).Upgrade(ctx, plugin)
}

func (r remote) Rollback(ctx context.Context, plugin string, revision uint64, reason string) (tool.Upgraded, error) {
	return r.Because(reason).RollbackTo(ctx, plugin, revision)
}

func dial(t testing.TB, a address.Address) remote {
	t.Helper()
	c, err := client.Dial(a.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	return remote{c, c.Admin()}
}

// raw returns a connection for tests that do not use the Go client.
func raw(t testing.TB, a address.Address) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///localhost",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return a.Dial(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestServerAndClientConform(t *testing.T) {
	hosttest.Run(t, func(t *testing.T) hosttest.Host {
		a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
		return dial(t, a)
	})
}
