package logbuffer

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// Handler returns a slog.Handler that adds the log records about plugins to the buffer, and passes
// every record on to next. The attributes `plugin`, `instance` and `call` name the origin of a
// record, and `tenant` or `principal` its tenant. A record without `plugin` is only passed on.
func (b *Buffer) Handler(next slog.Handler) slog.Handler { return &handler{buffer: b, next: next} }

type handler struct {
	buffer *Buffer
	next   slog.Handler
	attrs  []slog.Attr // not in a group: log lines of plugins have no groups
}

// Enabled implements slog.Handler. The buffer takes every level.
func (h *handler) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	all := append(append([]slog.Attr(nil), h.attrs...), attrs...)
	return &handler{buffer: h.buffer, next: h.next.WithAttrs(attrs), attrs: all}
}

// WithGroup implements slog.Handler. The buffer ignores groups.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{buffer: h.buffer, next: h.next.WithGroup(name), attrs: h.attrs}
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	var principal string
	line := tool.LogLine{Record: tool.LogRecord{Time: r.Time, Level: level(r.Level), Message: r.Message}}
	take := func(a slog.Attr) bool {
		switch a.Key {
		case "plugin":
			line.Plugin = a.Value.String()
		case "instance":
			line.Instance = a.Value.String()
		case "call":
			line.CallID = a.Value.String()
		case "tenant":
			line.Tenant = a.Value.String()
		case loglevel.Key:
		default:
			if a.Key == "principal" {
				principal = a.Value.String()
			}
			if line.Record.Attributes == nil {
				line.Record.Attributes = map[string]json.RawMessage{}
			}
			line.Record.Attributes[a.Key] = asJSON(a.Value)
		}
		return true
	}
	for _, a := range h.attrs {
		take(a)
	}
	r.Attrs(take)
	switch {
	case line.Tenant != "":
	case principal != "":
		line.Tenant = identity.TenantOf(principal)
	case line.Instance != "":
		line.Tenant = identity.DefaultTenant // records about its instances do not name it
	}
	if line.Plugin != "" {
		h.buffer.Append(line)
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

func level(l slog.Level) tool.LogLevel {
	switch {
	case l >= slog.LevelError:
		return tool.LogError
	case l >= slog.LevelWarn:
		return tool.LogWarn
	case l >= slog.LevelInfo:
		return tool.LogInfo
	default:
		return tool.LogDebug
	}
}

// asJSON returns a value in JSON, or its text as a JSON string if the value has no JSON form.
func asJSON(v slog.Value) json.RawMessage {
	v = v.Resolve()
	var value any = v.Any()
	if err, ok := value.(error); ok {
		value = err.Error()
	}
	data, err := json.Marshal(value)
	if err != nil {
		data, _ = json.Marshal(v.String()) // a string never fails
	}
	return data
}
