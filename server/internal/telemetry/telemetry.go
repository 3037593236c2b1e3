// Package telemetry exports metrics and traces with OpenTelemetry. It sends them to a collector
// over OTLP, and serves metrics to Prometheus at a listener.
//
// It owns the providers, the exporters with their bounded queues, and the listener. Packages
// hosttelemetry and agenttelemetry translate the reports of the host and the agent. No other
// package imports OpenTelemetry.
//
// An exporter never makes a call wait. If its queue is full, it drops and counts the span.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
)

// Config says what to export, and describes the exporting program.
type Config struct {
	telemetryconfig.Settings
	Service string // the name of the program, for the resource
	Version string
	// Getenv returns variables of the environment, for OTEL_* and headers.
	Getenv func(string) string
	Logger *slog.Logger // required
	// Learn receives the secrets among the settings, the values of headers, before Open logs. The
	// program redacts them. Nil: Open passes them on to nothing.
	Learn func(name, value string)
}

// Telemetry owns the providers of one process. A nil Telemetry exports nothing, and its methods may
// be called. All methods are safe for concurrent use.
type Telemetry struct {
	meters   *sdkmetric.MeterProvider // nil: no metrics
	traces   *sdktrace.TracerProvider // nil: no traces
	spans    *boundedSpans            // nil: no traces
	choices  atomic.Pointer[choices]  // what Prepare can change
	getenv   func(string) string
	settings telemetryconfig.Settings
	service  string
	registry *prometheus.Registry // nil: there is no listener
	listener *listener
	watches  []*watch
}

// closeTimeout bounds the last export when the process ends.
const closeTimeout = 3 * time.Second

// MaxSeries bounds the series of each metric. The largest metric at the product's size counts the
// calls of 10,000 tools by outcome. It has about five outcomes for each tool.
//
// The SDK sums the measurements beyond its own limit in one series with the label
// otel_metric_overflow, and its default limit is 2000. For a counter that it observes, the SDK
// chooses the series again at each collection, so the series of two scrapes could differ. Code that
// observes counters therefore reports at most MaxSeries series, always the same ones, and one more
// for the rest. The limit of the SDK is higher, so it never chooses.
const MaxSeries = 50_000

// overflowSeries are the series beyond MaxSeries: the one of the observer for the rest, and the one
// that the SDK keeps free for its own.
const overflowSeries = 2

// Open opens the exporters and the listener that the configuration names. It does not wait for a
// collector. The result is nil if nothing is exported. The caller must call Close.
func Open(ctx context.Context, cfg Config) (_ *Telemetry, err error) {
	plan, err := planOf(&cfg)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	if plan.nothing() {
		return nil, nil
	}
	t := &Telemetry{settings: cfg.Settings, service: cfg.Service, getenv: cfg.Getenv}
	t.choices.Store(&choices{plan.ratio, cfg.Traces})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { cfg.Logger.Debug("OpenTelemetry", "error", err) }))
	defer func() {
		if err != nil {
			err = fmt.Errorf("telemetry: %w", err)
			t.Close()
		}
	}()
	res := resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName(cfg.Service), semconv.ServiceVersion(cfg.Version))
	if given, err := resource.New(ctx, resource.WithFromEnv()); err == nil { // OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
		if merged, err := resource.Merge(res, given); err == nil {
			res = merged
		}
	}
	if plan.traces.endpoint != "" {
		if err := t.openTraces(ctx, plan, res, cfg.Logger); err != nil {
			return nil, err
		}
	}
	if plan.metrics.endpoint != "" || cfg.Listen != "" && !plan.disabled {
		if err := t.openMetrics(ctx, plan, res, cfg.Logger); err != nil {
			return nil, err
		}
	}
	if t.listener, err = openListener(ctx, &cfg, t.registry, cfg.Logger); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Telemetry) openTraces(ctx context.Context, plan *plan, res *resource.Resource, logger *slog.Logger) error {
	exporter, err := plan.spanExporter(ctx)
	if err != nil {
		return err
	}
	w := newWatch("traces", logger)
	t.watches = append(t.watches, w)
	t.spans = newBoundedSpans(exporter, plan.spans, w)
	t.traces = sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithIDGenerator(chosenIDs{}), sdktrace.WithSpanProcessor(t.spans))
	return nil
}

func (t *Telemetry) openMetrics(ctx context.Context, plan *plan, res *resource.Resource, logger *slog.Logger) error {
	options := []sdkmetric.Option{
		sdkmetric.WithResource(res), sdkmetric.WithCardinalityLimit(MaxSeries + overflowSeries),
		// No measurement has a span in its context, so there would be no exemplars. The reservoirs for
		// them would take two thirds of the memory of all metrics.
		sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter),
	}
	if plan.metrics.endpoint != "" {
		exporter, err := plan.metricExporter(ctx)
		if err != nil {
			return err
		}
		w := newWatch("metrics", logger)
		t.watches = append(t.watches, w)
		readerOptions := []sdkmetric.PeriodicReaderOption{sdkmetric.WithMaxExportBatchSize(pointsOfExport)}
		if plan.interval > 0 {
			readerOptions = append(readerOptions, sdkmetric.WithInterval(plan.interval))
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(&watchedMetrics{Exporter: exporter, watch: w}, readerOptions...)))
	}
	if t.settings.Listen != "" {
		t.registry = prometheus.NewRegistry()
		t.registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		selector := sdkmetric.DefaultAggregationSelector
		if t.settings.Histograms == "native" {
			selector = exponential
		}
		exporter, err := prometheusexporter.New(prometheusexporter.WithRegisterer(t.registry), prometheusexporter.WithAggregationSelector(selector),
			prometheusexporter.WithoutScopeInfo())
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(exporter))
	}
	t.meters = sdkmetric.NewMeterProvider(options...)
	if err := runtime.Start(runtime.WithMeterProvider(t.meters)); err != nil {
		return err
	}
	return t.observeItself()
}

// Failing returns the signals whose latest export failed, such as "traces".
func (t *Telemetry) Failing() (signals []string) {
	if t == nil {
		return nil
	}
	for _, w := range t.watches {
		if w.failing() {
			signals = append(signals, w.signal)
		}
	}
	return signals
}

// observeItself registers the metrics of the export itself: whether collectors answer, and how many
// items were dropped.
func (t *Telemetry) observeItself() error {
	meter := t.meters.Meter(scope)
	up, err := meter.Int64ObservableGauge(t.service+".telemetry.up", metric.WithDescription("Whether the last export of a signal succeeded."))
	if err != nil {
		return err
	}
	dropped, err := meter.Int64ObservableCounter(t.service+".telemetry.dropped", metric.WithDescription("Items that were not exported: spans, or exports of all metrics."))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, w := range t.watches {
			state := int64(1)
			if w.failing() {
				state = 0
			}
			o.ObserveInt64(up, state, metric.WithAttributes(attribute.String("signal", w.signal)))
			o.ObserveInt64(dropped, w.dropped.Load(), metric.WithAttributes(attribute.String("signal", w.signal)))
		}
		return nil
	}, up, dropped)
	return err
}

// scope is the instrumentation scope of this program's own metrics and spans.
const scope = "github.com/toolhost/toolhost"

// Meter returns the meter that creates this program's instruments; nil if there are no metrics.
func (t *Telemetry) Meter() metric.Meter {
	if t == nil || t.meters == nil {
		return nil
	}
	return t.meters.Meter(scope)
}

// MeterProvider returns the provider of metrics, for libraries; nil if there are no metrics.
func (t *Telemetry) MeterProvider() metric.MeterProvider {
	if t == nil || t.meters == nil {
		return nil
	}
	return t.meters
}

// Ready sets whether /readyz succeeds. Before the first call of Ready, /readyz fails.
func (t *Telemetry) Ready(ready bool) {
	if t != nil && t.listener != nil {
		t.listener.ready.Store(ready)
	}
}

// Listening returns the address of the Prometheus listener. Empty means that there is none.
func (t *Telemetry) Listening() string {
	if t == nil || t.listener == nil || t.listener.metrics == nil {
		return ""
	}
	return t.listener.metrics.addr
}

// Close exports the spans and metrics that wait, for at most closeTimeout. It then ends the
// listener and all goroutines.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if t.traces != nil {
		_ = t.traces.Shutdown(ctx) // a failed export was logged
	}
	if t.meters != nil {
		_ = t.meters.Shutdown(ctx)
	}
	if t.listener != nil {
		return t.listener.close()
	}
	return nil
}

var _ io.Closer = (*Telemetry)(nil)

// ignoreClosed returns nil if err only says that a server was closed, and err otherwise.
func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
