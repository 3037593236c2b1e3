package logbuffer

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/toolhost/toolhost/tool"
)

// Handler returns a slog.Handler that writes into the book what is logged of a plugin, and hands it
// on to next. The attributes `plugin` and `instance` say whose line it is; a record without
// `plugin` is only handed on.
func (b *Book) Handler(next slog.Handler) slog.Handler { return &handler{book: b, next: next} }

type handler struct {
	book  *Book
	next  slog.Handler
	attrs []slog.Attr // without groups: plugins' lines have none
}

// Enabled implements slog.Handler: the book takes every level.
func (h *handler) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	all := append(append([]slog.Attr(nil), h.attrs...), attrs...)
	return &handler{book: h.book, next: h.next.WithAttrs(attrs), attrs: all}
}

// WithGroup implements slog.Handler. The book does not keep groups.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{book: h.book, next: h.next.WithGroup(name), attrs: h.attrs}
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	line := tool.LogLine{Record: tool.LogRecord{Time: r.Time, Level: level(r.Level), Message: r.Message}}
	take := func(a slog.Attr) bool {
		switch a.Key {
		case "plugin":
			line.Plugin = a.Value.String()
		case "instance":
			line.Instance = a.Value.String()
		default:
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
	if line.Plugin != "" {
		h.book.Append(line)
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

// asJSON returns a value as JSON; what has no JSON form as its text.
func asJSON(v slog.Value) json.RawMessage {
	v = v.Resolve()
	var value any = v.Any()
	if err, ok := value.(error); ok {
		value = err.Error()
	}
	data, err := json.Marshal(value)
	if err != nil {
		data, _ = json.Marshal(v.String()) // a string always has one
	}
	return data
}
