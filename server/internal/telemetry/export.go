package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// watch records the exports of one signal (traces or metrics). It logs one line when exports begin
// to fail, and one when they succeed again. A collector that does not answer must not flood the
// log.
type watch struct {
	signal  string
	logger  *slog.Logger
	failed  atomic.Bool
	dropped atomic.Int64 // items that will never be exported
}

func newWatch(signal string, logger *slog.Logger) *watch {
	return &watch{signal: signal, logger: logger}
}

func (w *watch) failing() bool { return w.failed.Load() }

// exported records the result of one export. items is the number of items in the export.
func (w *watch) exported(items int, err error) {
	if err != nil {
		w.dropped.Add(int64(items))
	}
	switch {
	case err != nil && w.failed.CompareAndSwap(false, true):
		w.logger.Warn("telemetry cannot be exported and is dropped; calls continue", "signal", w.signal, "error", err)
	case err == nil && w.failed.CompareAndSwap(true, false):
		w.logger.Info("telemetry is exported again", "signal", w.signal, "dropped", w.dropped.Load())
	}
}

// boundedSpans passes spans to the SDK's batch processor. It drops and counts a span when the queue
// is full. The batch processor has a bounded queue as well, but does not report how many spans it
// drops. boundedSpans never passes on more spans than fit into that queue, so the batch processor
// drops none.
type boundedSpans struct {
	sdktrace.SpanProcessor
	most    int64
	waiting atomic.Int64 // spans that were let in and not yet exported
	watch   *watch
}

func newBoundedSpans(exporter sdktrace.SpanExporter, q queue, w *watch) *boundedSpans {
	b := &boundedSpans{most: int64(q.most), watch: w}
	b.SpanProcessor = sdktrace.NewBatchSpanProcessor(watchedSpans{exporter, b},
		sdktrace.WithMaxQueueSize(q.most), sdktrace.WithMaxExportBatchSize(q.batch))
	return b
}

// OnEnd implements sdktrace.SpanProcessor. It does not block.
func (b *boundedSpans) OnEnd(s sdktrace.ReadOnlySpan) {
	if b.waiting.Add(1) > b.most {
		b.waiting.Add(-1)
		b.watch.dropped.Add(1)
		return
	}
	b.SpanProcessor.OnEnd(s)
}

// watchedSpans exports for boundedSpans.
type watchedSpans struct {
	sdktrace.SpanExporter
	owner *boundedSpans
}

// ExportSpans implements sdktrace.SpanExporter. It returns no error, because the SDK would log
// each.
func (e watchedSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.owner.waiting.Add(-int64(len(spans)))
	e.owner.watch.exported(len(spans), err)
	return nil
}

// pointsOfExport bounds the data points of one export of metrics. A collector refuses a message of
// more than 4 MiB, the default of gRPC servers. The metrics of 10,000 tools have more in sum, and
// the largest point, a histogram with 160 buckets and long names, has less than 1 KiB.
const pointsOfExport = 3000

// givesUp is the time after a failed export in which watchedMetrics makes no other one. The parts
// of a collection follow each other without a pause, and collections follow each other after a
// second at least.
const givesUp = 500 * time.Millisecond

// watchedMetrics exports metrics and records the results. The next export contains the metrics of a
// failed one, so one failed export counts as one dropped item.
//
// The SDK divides a collection into parts, and calls Export for each. If a collector does not
// answer, the first part takes the whole timeout. watchedMetrics leaves out the other parts:
// otherwise many parts would wait one after the other, and the values would be old when the
// collector is back.
type watchedMetrics struct {
	sdkmetric.Exporter
	watch  *watch
	failed time.Time // the last failure; the SDK makes one export at a time
}

// Export implements sdkmetric.Exporter. It returns no error, because the SDK would log each.
func (e *watchedMetrics) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	if time.Since(e.failed) < givesUp {
		return nil
	}
	err := e.Exporter.Export(ctx, data)
	if err != nil {
		e.failed = time.Now()
	}
	e.watch.exported(1, err)
	return nil
}

// exponential is the aggregation of exact histograms.
func exponential(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	if kind == sdkmetric.InstrumentKindHistogram {
		return sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	}
	return sdkmetric.DefaultAggregationSelector(kind)
}
