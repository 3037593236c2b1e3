package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// remote is the client of a host, with its administration methods.
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

// served returns a client of a host that is served over gRPC until the test ends.
func served(t *testing.T, h hostserver.Host) remote {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "host") // short enough for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	at, err := address.Unix(filepath.Join(dir, "toolhost.sock"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := at.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	server, done := hostserver.NewServer(hostserver.Config{Host: h}), make(chan error, 1)
	go func() { done <- server.Serve(listener) }() // ends with Shutdown; the cleanup waits for it
	c, err := client.Dial(at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return remote{c, c.Admin()}
}
