package hosttelemetry_test

import (
	"flag"
	"io"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttelemetry"
)

var update = flag.Bool("update", false, "write the listing of the metrics")

// The file lists all metrics with their labels. Queries of the dashboards and alert rules may use
// only these.
func TestMetricsAreListed(t *testing.T) {
	s := settings()
	s.Listen, s.Endpoint = "127.0.0.1:0", telemetrytest.Start(t).Endpoint
	tele, o := open(t, s, nil, io.Discard)
	reportEverything(t, o)
	oneRPC(t, tele)
	_, metrics := read(t, tele, "/metrics")
	telemetrytest.CompareListing(t, "../../../../deploy/metrics/toolhost.txt", metrics, *update)
}

// A toolhost with a ledger in a file has no metrics of a shared one.
func TestNoSharedLedger(t *testing.T) {
	s := settings()
	s.Listen = "127.0.0.1:0"
	tele, o := open(t, s, nil, io.Discard)
	if err := o.Observe(func() hosttelemetry.State { return hosttelemetry.State{BeatAge: -1} }); err != nil {
		t.Fatal(err)
	}
	_, metrics := read(t, tele, "/metrics")
	for _, name := range []string{"toolhost_nodes", "beat_age", "elsewhere", "statement_duration", "requests_passed"} {
		if strings.Contains(metrics, name) {
			t.Errorf("there is a metric %s", name)
		}
	}
	if !strings.Contains(metrics, "toolhost_ledger_calls ") {
		t.Error("the other metrics are missing")
	}
}

// oneRPC makes one RPC to a server with gRPC's own metrics.
func oneRPC(t *testing.T, tele *telemetry.Telemetry) {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// Stop waits for the handler, because gRPC records the duration of an RPC after the client has the
	// answer.
	server := grpc.NewServer(append(tele.ServerOptions(), grpc.WaitForHandlers(true))...)
	healthv1.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- server.Serve(socket) }() // ends with Stop; waited for below
	defer func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	conn, err := grpc.NewClient(socket.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
}
