package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// LogHandler returns the handler that exports log records; nil if no logs are exported. It never
// blocks. The attribute "trace" becomes the trace id of the record, and the other fixed fields of
// the log get the names that spans use for them.
func (t *Telemetry) LogHandler() slog.Handler {
	if t == nil || t.logs == nil {
		return nil
	}
	return logHandler{t.logs.Logger(scope)}
}

// openLogs opens the export of log records.
func (t *Telemetry) openLogs(ctx context.Context, plan *plan, res *resource.Resource, logger *slog.Logger) error {
	exporter, err := plan.logExporter(ctx)
	if err != nil {
		return err
	}
	w := newWatch("logs", logger)
	t.watches = append(t.watches, w)
	t.logs = sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithAttributeCountLimit(64), sdklog.WithAttributeValueLengthLimit(8<<10),
		sdklog.WithProcessor(newBoundedLogs(exporter, plan.records, w)))
	return nil
}

// boundedLogs passes records to the SDK's batch processor. It drops and counts a record when the
// queue is full, as boundedSpans does for spans.
type boundedLogs struct {
	sdklog.Processor
	most    int64
	waiting atomic.Int64 // records that were let in and not yet exported
	watch   *watch
}

func newBoundedLogs(exporter sdklog.Exporter, q queue, w *watch) *boundedLogs {
	b := &boundedLogs{most: int64(q.most), watch: w}
	b.Processor = sdklog.NewBatchProcessor(watchedLogs{exporter, b}, sdklog.WithMaxQueueSize(q.most), sdklog.WithExportMaxBatchSize(q.batch))
	return b
}

// OnEmit implements sdklog.Processor. It does not block.
func (b *boundedLogs) OnEmit(ctx context.Context, r *sdklog.Record) error {
	if b.waiting.Add(1) > b.most {
		b.waiting.Add(-1)
		b.watch.dropped.Add(1)
		return nil
	}
	return b.Processor.OnEmit(ctx, r)
}

// watchedLogs exports for boundedLogs.
type watchedLogs struct {
	sdklog.Exporter
	owner *boundedLogs
}

// Export implements sdklog.Exporter. It returns no error, because the SDK would log each.
func (e watchedLogs) Export(ctx context.Context, records []sdklog.Record) error {
	err := e.Exporter.Export(ctx, records)
	e.owner.waiting.Add(-int64(len(records)))
	e.owner.watch.exported(len(records), err)
	return nil
}

// logHandler emits records to a logger of OpenTelemetry. It needs no attributes or groups of
// loggers, because package logging passes on whole records.
type logHandler struct{ logger log.Logger }

// Enabled implements slog.Handler.
func (logHandler) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler. Package logging does not use it.
func (h logHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler. Package logging does not use it.
func (h logHandler) WithGroup(string) slog.Handler { return h }

// Handle implements slog.Handler. It does not block.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	var record log.Record
	record.SetTimestamp(r.Time)
	record.SetObservedTimestamp(r.Time)
	record.SetBody(attribute.StringValue(r.Message))
	record.SetSeverity(severity(r.Level))
	record.SetSeverityText(r.Level.String())
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "trace" {
			if id, err := oteltrace.TraceIDFromHex(a.Value.String()); err == nil {
				ctx = oteltrace.ContextWithSpanContext(ctx, oteltrace.NewSpanContext(oteltrace.SpanContextConfig{TraceID: id}))
			}
			return true
		}
		key := a.Key
		if name, ok := attributeNames[key]; ok {
			key = name
		}
		record.AddAttributes(attribute.KeyValue{Key: attribute.Key(key), Value: logValue(a.Value)})
		return true
	})
	h.logger.Emit(ctx, record)
	return nil
}

// attributeNames has the names that spans use for the fixed fields of a log.
var attributeNames = map[string]string{
	"plugin": "toolhost.plugin.name", "instance": "toolhost.instance.id", "run": "agentd.run.id", "tool": "gen_ai.tool.name",
	"call": "gen_ai.tool.call.id", "session": "gen_ai.conversation.id", "principal": "toolhost.principal", "via": "toolhost.delegate", "tenant": "toolhost.tenant", "error": "error.message",
	"subsystem": "log.subsystem",
}

func severity(level slog.Level) log.Severity {
	switch {
	case level >= slog.LevelError:
		return log.SeverityError
	case level >= slog.LevelWarn:
		return log.SeverityWarn
	case level >= slog.LevelInfo:
		return log.SeverityInfo
	}
	return log.SeverityDebug
}

// logValue returns a value in OpenTelemetry's form. A duration is a number of seconds.
func logValue(v slog.Value) attribute.Value {
	switch v.Kind() {
	case slog.KindBool:
		return attribute.BoolValue(v.Bool())
	case slog.KindInt64:
		return attribute.Int64Value(v.Int64())
	case slog.KindUint64:
		return attribute.Int64Value(int64(v.Uint64()))
	case slog.KindFloat64:
		return attribute.Float64Value(v.Float64())
	case slog.KindDuration:
		return attribute.Float64Value(v.Duration().Seconds())
	case slog.KindAny:
		return anyValue(v.Any())
	}
	return attribute.StringValue(v.String())
}

// anyValue returns a value that a plugin sent as JSON.
func anyValue(value any) attribute.Value {
	switch value := value.(type) {
	case string:
		return attribute.StringValue(value)
	case json.RawMessage:
		var text string
		if json.Unmarshal(value, &text) == nil {
			return attribute.StringValue(text)
		}
		return attribute.StringValue(string(value))
	case map[string]any:
		members := make([]attribute.KeyValue, 0, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			members = append(members, attribute.KeyValue{Key: attribute.Key(key), Value: anyValue(value[key])})
		}
		return attribute.MapValue(members...)
	}
	return attribute.StringValue(fmt.Sprint(value))
}
