// Package telemetrytest contains a collector for tests: an OTLP receiver in the test's process that
// stores the spans that it receives.
package telemetrytest

import (
	"context"
	"encoding/hex"
	"net"
	"strings"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// Collector is an OTLP receiver over gRPC. All methods are safe for concurrent use.
type Collector struct {
	collectortrace.UnimplementedTraceServiceServer
	// Endpoint is the URL of the collector.
	Endpoint string
	// Hold makes each export wait until the channel is closed. Nil means no wait.
	Hold chan struct{}

	mu     sync.Mutex
	spans  []Span
	series map[string]bool
	held   map[string]bool // the signals whose exports have waited as Hold says
}

// Span is a span as the collector got it.
type Span struct {
	Service, Scope           string
	Name                     string
	Trace, ID, Parent        string // in hexadecimal
	Kind                     tracev1.Span_SpanKind
	Start, End               uint64
	Attributes               map[string]string
	Events, Links            []string // the names of events, the span ids of links
	Failed                   bool
	Message                  string // of the status
	DroppedAttributes, Flags uint32
}

// Start starts a collector at a port of the loopback interface. It ends with the test.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	StartAt(t, c, "127.0.0.1:0")
	return c
}

// StartAt starts a collector at an address. It ends with the test or with stop.
func StartAt(t testing.TB, c *Collector, at string) (stop func()) {
	t.Helper()
	socket, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collectortrace.RegisterTraceServiceServer(server, c)
	collectormetrics.RegisterMetricsServiceServer(server, metricsCollector{c: c})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(socket) }) // ends with stop
	c.Endpoint = "http://" + socket.Addr().String()
	stop = sync.OnceFunc(func() { server.Stop(); serving.Wait() })
	t.Cleanup(stop)
	return stop
}

// Export implements the contract of OTLP.
func (c *Collector) Export(ctx context.Context, req *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	if err := c.hold(ctx, "traces"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range req.GetResourceSpans() {
		service := toMap(resource.GetResource().GetAttributes())["service.name"]
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, toSpan(service, scope.GetScope().GetName(), s))
			}
		}
	}
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

// hold waits as Hold says.
func (c *Collector) hold(ctx context.Context, signal string) error {
	if c.Hold == nil {
		return nil
	}
	c.mu.Lock()
	if c.held == nil {
		c.held = map[string]bool{}
	}
	c.held[signal] = true
	c.mu.Unlock()
	select {
	case <-c.Hold:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Held returns how many of the signals traces and metrics have had an export that waited.
func (c *Collector) Held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}

// metricsCollector receives metrics for a Collector. It stores the attributes of sums.
type metricsCollector struct {
	collectormetrics.UnimplementedMetricsServiceServer
	c *Collector
}

// Export implements the contract of OTLP.
func (m metricsCollector) Export(ctx context.Context, req *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	m.c.mu.Lock()
	for _, resource := range req.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				m.c.addSeries(metric)
			}
		}
	}
	m.c.mu.Unlock()
	return &collectormetrics.ExportMetricsServiceResponse{}, m.c.hold(ctx, "metrics")
}

// addSeries stores the series of a sum. The caller holds the mutex.
func (c *Collector) addSeries(metric *metricsv1.Metric) {
	if c.series == nil {
		c.series = map[string]bool{}
	}
	for _, point := range metric.GetSum().GetDataPoints() {
		name := metric.GetName()
		for _, a := range point.GetAttributes() {
			name += " " + a.GetKey() + "=" + a.GetValue().GetStringValue()
		}
		c.series[name] = true
	}
}

// Series returns the number of different series of a sum that the collector has received.
func (c *Collector) Series(metric string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.series {
		if name == metric || strings.HasPrefix(name, metric+" ") {
			n++
		}
	}
	return n
}

func toSpan(service, scope string, s *tracev1.Span) Span {
	span := Span{
		Service: service, Scope: scope, Name: s.GetName(), Kind: s.GetKind(), Start: s.GetStartTimeUnixNano(), End: s.GetEndTimeUnixNano(),
		Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Attributes: toMap(s.GetAttributes()), Failed: s.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR,
		Message: s.GetStatus().GetMessage(),
	}
	for _, e := range s.GetEvents() {
		span.Events = append(span.Events, e.GetName())
	}
	for _, l := range s.GetLinks() {
		span.Links = append(span.Links, hex.EncodeToString(l.GetSpanId()))
	}
	return span
}

func toMap(attributes []*commonv1.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		text := a.GetValue().GetStringValue()
		if text == "" {
			text = strings.TrimSpace(a.GetValue().String())
		}
		all[a.GetKey()] = text
	}
	return all
}

// Spans returns the spans that the collector has received.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Named returns the spans with a name.
func (c *Collector) Named(name string) (found []Span) {
	for _, s := range c.Spans() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}
