package secrets_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/secrets"
)

// A text of a span has a bound. If a secret is at the bound, its beginning must not remain.
func TestASecretThatASpanCuts(t *testing.T) {
	const value = "Zq7!kP2m#wX9vB4t"
	var r secrets.Redactor
	r.Learn("KEY", value)
	for kept := range len(value) + 1 {
		text := func(size int) string { return strings.Repeat("-", size-kept) + value + strings.Repeat("+", 100) }
		attributes := []slog.Attr{slog.String(text(trace.MaxName), text(trace.MaxText))}
		span := r.Span(trace.Span{
			ID: trace.NewSpanID(), Name: text(trace.MaxName), Message: text(trace.MaxText), Attributes: attributes,
			Events: []trace.Event{{Name: text(trace.MaxName), Attributes: attributes}},
		}.Clip())
		shown := []string{span.Name, span.Message, span.Events[0].Name}
		for _, a := range append(span.Attributes, span.Events[0].Attributes...) {
			shown = append(shown, a.Key, a.Value.String())
		}
		for i, text := range shown {
			if strings.Contains(text, value[:3]) {
				t.Errorf("%d bytes of the secret were kept, and text %d ends with %q", kept, i, text[len(text)-30:])
			}
		}
	}
}
