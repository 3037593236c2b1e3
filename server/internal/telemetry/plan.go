package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// plan says what to export, and to which collector. It results from the configuration file and the
// environment. A key of the file has precedence over the variable of the same meaning.
// OTEL_SDK_DISABLED=true disables everything except the listener's health endpoints.
type plan struct {
	disabled bool
	listens  bool // something is served
	traces   target
	metrics  target
	ratio    float64
	interval time.Duration // 0: the SDK's
	spans    queue
}

// target is the collector of one signal.
type target struct {
	endpoint string // a URL; empty: the signal is not exported
	whole    bool   // the URL has the path of the signal
	http     bool
	headers  map[string]string // nil: those of the environment
	timeout  time.Duration
}

func (p *plan) nothing() bool {
	return !p.listens && p.traces.endpoint == "" && p.metrics.endpoint == ""
}

func planOf(cfg *Config) (*plan, error) {
	p := &plan{disabled: strings.EqualFold(cfg.Getenv("OTEL_SDK_DISABLED"), "true"), listens: cfg.Listen != "" || cfg.Pprof != ""}
	if p.disabled {
		return p, nil
	}
	headers, err := headersOf(cfg.Headers, cfg.Getenv)
	if err != nil {
		return nil, err
	}
	learnHeaders(cfg, headers)
	if p.traces, err = targetOf(cfg, "TRACES", cfg.Traces.Enabled, cfg.Traces.Endpoint, headers); err != nil {
		return nil, err
	}
	if p.metrics, err = targetOf(cfg, "METRICS", cfg.Metrics.Enabled, cfg.Metrics.Endpoint, headers); err != nil {
		return nil, err
	}
	if p.spans, err = queueOf(cfg); err != nil {
		return nil, err
	}
	if cfg.Metrics.Interval != nil {
		p.interval = *cfg.Metrics.Interval
	}
	p.ratio, err = ratioOf(cfg)
	return p, err
}

// targetOf returns the collector of a signal.
func targetOf(cfg *Config, signal string, enabled bool, specific string, headers map[string]string) (target, error) {
	if !enabled || cfg.Getenv("OTEL_"+signal+"_EXPORTER") == "none" {
		return target{}, nil
	}
	ofSignal := cfg.Getenv("OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT")
	t := target{endpoint: cmp.Or(specific, cfg.Endpoint), headers: headers}
	if t.endpoint == "" {
		t.endpoint, t.whole = cmp.Or(ofSignal, cfg.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")), ofSignal != ""
	}
	if t.endpoint == "" {
		return t, nil
	}
	if u, err := url.Parse(t.endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return t, fmt.Errorf("the endpoint %q is not a URL such as http://127.0.0.1:4317", t.endpoint)
	}
	var err error
	if t.timeout, err = timeoutOf(cfg, signal); err != nil {
		return t, err
	}
	protocol := cmp.Or(cfg.Protocol, cfg.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_PROTOCOL"), cfg.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "grpc")
	switch protocol {
	case "grpc":
	case "http", "http/protobuf":
		t.http = true
	default:
		return t, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; use grpc or http/protobuf", protocol)
	}
	return t, nil
}

// ratioOf returns the share of new traces that are recorded.
func ratioOf(cfg *Config) (float64, error) {
	if cfg.Traces.SampleRatio != nil {
		return *cfg.Traces.SampleRatio, nil
	}
	switch sampler := cfg.Getenv("OTEL_TRACES_SAMPLER"); sampler {
	case "always_off", "parentbased_always_off":
		return 0, nil
	case "traceidratio", "parentbased_traceidratio":
		text := cfg.Getenv("OTEL_TRACES_SAMPLER_ARG")
		ratio, err := strconv.ParseFloat(cmp.Or(text, "1"), 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			return 0, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q; use a number from 0 to 1", text)
		}
		return ratio, nil
	case "", "always_on", "parentbased_always_on":
		return 1, nil
	default:
		return 0, fmt.Errorf("OTEL_TRACES_SAMPLER is %q; use always_on, always_off or traceidratio, also with parentbased_ before it", sampler)
	}
}

// withPath returns the URL of a signal for the HTTP protocol.
func (t *target) withPath(path string) string {
	if t.whole {
		return t.endpoint
	}
	return strings.TrimRight(t.endpoint, "/") + path
}

// spanExporter returns the exporter of spans, which connects with the first export. The exporter
// repeats a failed export only for a short time, because newer spans are more useful.
func (p *plan) spanExporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	t := &p.traces
	if t.http {
		options := []otlptracehttp.Option{otlptracehttp.WithEndpointURL(t.withPath("/v1/traces")), otlptracehttp.WithTimeout(t.timeout)}
		if t.headers != nil {
			options = append(options, otlptracehttp.WithHeaders(t.headers))
		}
		return otlptracehttp.New(ctx, options...)
	}
	options := []otlptracegrpc.Option{otlptracegrpc.WithEndpointURL(t.endpoint), otlptracegrpc.WithTimeout(t.timeout), otlptracegrpc.WithDialOption(reconnect())}
	if t.headers != nil {
		options = append(options, otlptracegrpc.WithHeaders(t.headers))
	}
	return otlptracegrpc.New(ctx, options...)
}

// maxReconnect bounds the pause between two attempts to connect to a collector. The default of
// gRPC, two minutes, would lose telemetry for that long after the collector is back.
const maxReconnect = 5 * time.Second

func reconnect() grpc.DialOption {
	pauses := backoff.DefaultConfig
	pauses.MaxDelay = maxReconnect
	return grpc.WithConnectParams(grpc.ConnectParams{Backoff: pauses, MinConnectTimeout: maxReconnect})
}

// metricExporter returns the exporter of metrics. It connects later.
func (p *plan) metricExporter(ctx context.Context) (sdkmetric.Exporter, error) {
	t := &p.metrics
	if t.http {
		options := []otlpmetrichttp.Option{
			otlpmetrichttp.WithEndpointURL(t.withPath("/v1/metrics")), otlpmetrichttp.WithTimeout(t.timeout), otlpmetrichttp.WithAggregationSelector(exponential),
		}
		if t.headers != nil {
			options = append(options, otlpmetrichttp.WithHeaders(t.headers))
		}
		return otlpmetrichttp.New(ctx, options...)
	}
	options := []otlpmetricgrpc.Option{
		otlpmetricgrpc.WithEndpointURL(t.endpoint), otlpmetricgrpc.WithTimeout(t.timeout), otlpmetricgrpc.WithAggregationSelector(exponential),
		otlpmetricgrpc.WithDialOption(reconnect()),
	}
	if t.headers != nil {
		options = append(options, otlpmetricgrpc.WithHeaders(t.headers))
	}
	return otlpmetricgrpc.New(ctx, options...)
}
