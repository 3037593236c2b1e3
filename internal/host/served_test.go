package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/host/hosttest"
	"github.com/toolhost/toolhost/internal/rpc/hostserver"
)

// remote is a host behind a client, with its administration.
type remote struct {
	*client.Client
	*client.Admin
}

// served returns a client of a host that is served over gRPC until the test ends.
func served(t *testing.T, h hostserver.Host) remote {
	t.Helper()
	dir, err := os.MkdirTemp("", "host") // a path that is short enough for a socket
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
	go func() { done <- server.Serve(listener) }() // ends with Shutdown; the cleanup waits
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

// TestConformsThroughTheClient runs the suite on a host as callers see it: the client, gRPC, the server, and it.
func TestConformsThroughTheClient(t *testing.T) {
	hosttest.Run(t, func(t *testing.T) hosttest.Host { return served(t, newRig(t, hosttest.Tools(), withArtifacts(t))) })
}
