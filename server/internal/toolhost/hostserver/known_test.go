package hostserver_test

import (
	"context"
	"testing"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// A server is ready before it knows its plugins. The health of the catalog says when it does, and a
// client can wait for it.
func TestHealthOfTheCatalog(t *testing.T) {
	known, asked := make(chan struct{}), make(chan struct{})
	addr, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t).Host, Known: func(ctx context.Context) error {
		close(asked)
		select {
		case <-known:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	<-asked
	checkHealth(t, addr, hostpb.CatalogHealth, healthv1.HealthCheckResponse_NOT_SERVING)
	checkHealth(t, addr, "", healthv1.HealthCheckResponse_SERVING)
	c, err := client.Dial(addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.WaitForTools(over); err == nil || tool.AsError(err).Kind != tool.KindCancelled {
		t.Errorf("the plugins are not known: %v", err)
	}
	waited := make(chan error, 1)
	go func() { waited <- c.WaitForTools(t.Context()) }()
	close(known)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	checkHealth(t, addr, hostpb.CatalogHealth, healthv1.HealthCheckResponse_SERVING)
	if err := c.WaitForTools(t.Context()); err != nil {
		t.Error(err)
	}
}

// A shutdown ends the wait of the server. A server without one knows its plugins from the start.
func TestHealthOfTheCatalogAtTheEnds(t *testing.T) {
	asked := make(chan struct{})
	_, server := serve(t, socket(t), hostserver.Config{Host: newHost(t).Host, Known: func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	}})
	<-asked
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	addr, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t).Host})
	checkHealth(t, addr, hostpb.CatalogHealth, healthv1.HealthCheckResponse_SERVING)
}

func checkHealth(t *testing.T, addr address.Address, name string, want healthv1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	got, err := healthv1.NewHealthClient(raw(t, addr)).Check(t.Context(), &healthv1.HealthCheckRequest{Service: name})
	if err != nil || got.GetStatus() != want {
		t.Errorf("the health of %q is %v, %v, want %v", name, got.GetStatus(), err, want)
	}
}
