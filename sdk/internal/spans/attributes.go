package spans

import (
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"github.com/toolhost/toolhost/internal/wire/trace"
)

// set returns the attributes with more added, at most most. A key that exists gets the new value.
func set(attributes []slog.Attr, more []attribute.KeyValue, most int) []slog.Attr {
	for _, kv := range more {
		if !kv.Valid() {
			continue
		}
		converted := slog.Attr{Key: trace.Cut(string(kv.Key), trace.MaxName), Value: valueOf(kv.Value)}
		at := slices.IndexFunc(attributes, func(a slog.Attr) bool { return a.Key == converted.Key })
		switch {
		case at >= 0:
			attributes[at] = converted
		case len(attributes) < most:
			attributes = append(attributes, converted)
		}
	}
	return attributes
}

// valueOf converts a value to one of the four kinds of the contract. Lists and maps become JSON
// text.
func valueOf(v attribute.Value) slog.Value {
	switch v.Type() {
	case attribute.BOOL:
		return slog.BoolValue(v.AsBool())
	case attribute.INT64:
		return slog.Int64Value(v.AsInt64())
	case attribute.FLOAT64:
		return slog.Float64Value(v.AsFloat64())
	case attribute.STRING:
		return slog.StringValue(trace.Cut(v.AsString(), trace.MaxText))
	default:
		return slog.StringValue(trace.Cut(v.String(), trace.MaxText))
	}
}
