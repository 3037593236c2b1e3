package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/telemetry"
	"github.com/toolhost/toolhost/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/internal/telemetry/telemetrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens the export of logs.
func open(t *testing.T, endpoint, protocol string, queue int, to *bytes.Buffer, getenv func(string) string) *telemetry.Telemetry {
	t.Helper()
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	s := telemetryconfig.Settings{
		Listen: "127.0.0.1:0", Endpoint: endpoint, Protocol: protocol, Timeout: new(time.Second), Logs: telemetryconfig.Logs{Enabled: true, Queue: new(queue)},
	}
	tele, err := telemetry.Open(t.Context(), telemetry.Config{Settings: s, Service: "toolhost", Getenv: getenv, Logger: slog.New(slog.NewTextHandler(to, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tele.Close() })
	return tele
}

// A record arrives with its level, its trace, and the names that spans use.
func TestLogsAreExported(t *testing.T) {
	collector := telemetrytest.Start(t)
	var own bytes.Buffer
	tele := open(t, collector.Endpoint, "", 100, &own, nil)
	slog.New(tele.LogHandler()).Warn("call failed", "subsystem", "calls", "plugin", "fs", "call", "c1", "trace", "0af7651916cd43dd8448eb211c80319c",
		"took", 1500*time.Millisecond, "n", 3, "fields", map[string]any{"k": json.RawMessage(`"v"`)})
	tele.Close()
	got := collector.Records()
	if len(got) != 1 {
		t.Fatalf("%d records arrived; own log: %s", len(got), &own)
	}
	r := got[0]
	if r.Service != "toolhost" || r.Body != "call failed" || r.Severity.String() != "SEVERITY_NUMBER_WARN" || r.Trace != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("got %+v", r)
	}
	for key, want := range map[string]string{
		"log.subsystem": "calls", "toolhost.plugin.name": "fs", "gen_ai.tool.call.id": "c1", "took": "double_value:1.5", "n": "int_value:3",
	} {
		if diff := cmp.Diff(want, strings.ReplaceAll(r.Attributes[key], " ", "")); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if !strings.Contains(r.Attributes["fields"], `"v"`) {
		t.Errorf("fields: %s", r.Attributes["fields"])
	}
	if _, there := r.Attributes["trace"]; there {
		t.Error("the trace is an attribute too")
	}
}

// A collector that takes nothing costs bounded memory. The records that do not fit are dropped and
// counted, and the log says so once.
func TestLogsWithAFullQueue(t *testing.T) {
	collector := &telemetrytest.Collector{Hold: make(chan struct{})}
	telemetrytest.StartAt(t, collector, "127.0.0.1:0")
	var own bytes.Buffer
	tele := open(t, collector.Endpoint, "grpc", 10, &own, nil)
	log := slog.New(tele.LogHandler())
	for range 1000 {
		log.Info("x")
	}
	metrics := scrape(t, tele)
	close(collector.Hold)
	tele.Close()
	dropped := 0
	for line := range strings.Lines(metrics) {
		if name, value, ok := strings.Cut(line, "} "); ok && strings.HasPrefix(name, `toolhost_telemetry_dropped_total{signal="logs"`) {
			fmt.Sscan(value, &dropped)
		}
	}
	if dropped < 900 {
		t.Errorf("%d records are counted as dropped:\n%s", dropped, metrics)
	}
	if n := len(collector.Records()); n == 0 || n > 20 {
		t.Errorf("%d records arrived of a queue of 10", n)
	}
}

// scrape returns the metrics.
func scrape(t *testing.T, tele *telemetry.Telemetry) string {
	t.Helper()
	resp, err := http.Get("http://" + tele.Listening() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Without an endpoint there is no handler, and the standard variables turn the export on and off.
func TestLogsByEnvironment(t *testing.T) {
	collector := telemetrytest.Start(t)
	for _, tc := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": collector.Endpoint}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.Endpoint, "OTEL_LOGS_EXPORTER": "none"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.Endpoint, "OTEL_SDK_DISABLED": "true"}, false},
	} {
		tele := open(t, "", "", 10, &bytes.Buffer{}, func(name string) string { return tc.env[name] })
		if got := tele.LogHandler() != nil; got != tc.want {
			t.Errorf("%v: %v", tc.env, got)
		}
		tele.Close()
	}
}

// A record whose value has no simple form does not stop the export.
func TestLogValues(t *testing.T) {
	collector := telemetrytest.Start(t)
	tele := open(t, collector.Endpoint, "grpc", 10, &bytes.Buffer{}, nil)
	slog.New(tele.LogHandler()).Error("x", "error", errors.New("no"), "at", time.Unix(0, 0).UTC(), "yes", true, "f", 0.5, "u", uint64(7), "trace", "not hexadecimal")
	tele.Close()
	got := collector.Records()
	if len(got) != 1 || got[0].Attributes["error.message"] != "no" || got[0].Trace != "" {
		t.Errorf("got %+v", got)
	}
}
