package secrets

import (
	"log/slog"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/wire/trace"
)

// Span returns a span without secrets in its name, its attributes, its events and its message. The
// span has the bounds of package trace. A text that reaches its bound was probably cut there by
// Clip, in toolhost or in the plugin, so Span also removes the beginning of a secret from its end.
func (r *Redactor) Span(s trace.Span) trace.Span {
	if r.load() == nil {
		return s
	}
	s.Name, s.Message = r.bounded(s.Name, trace.MaxName), r.bounded(s.Message, trace.MaxText)
	s.Attributes = r.spanAttributes(s.Attributes)
	events := make([]trace.Event, len(s.Events))
	for i, e := range s.Events {
		events[i] = trace.Event{Name: r.bounded(e.Name, trace.MaxName), Time: e.Time, Attributes: r.spanAttributes(e.Attributes)}
	}
	s.Events = events
	return s
}

func (r *Redactor) spanAttributes(all []slog.Attr) []slog.Attr {
	redacted := make([]slog.Attr, len(all))
	for i, a := range all {
		redacted[i] = slog.Attr{Key: r.bounded(a.Key, trace.MaxName), Value: a.Value}
		if a.Value.Kind() == slog.KindString {
			redacted[i].Value = slog.StringValue(r.bounded(a.Value.String(), trace.MaxText))
		}
	}
	return redacted
}

// bounded returns a text of at most the given size without secrets.
func (r *Redactor) bounded(text string, size int) string {
	return r.Line(text, false, len(text) > size-utf8.UTFMax)
}
