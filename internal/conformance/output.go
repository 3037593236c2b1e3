package conformance

import (
	"context"
	"log/slog"
	"sync"
)

// output counts what a plugin prints on standard output after its handshake. It is safe for
// concurrent use.
type output struct {
	mu    sync.Mutex
	lines int
	first string
}

// handler returns the log handler for the plugin's process.
func (o *output) handler() slog.Handler { return outputHandler{to: o} }

func (o *output) seen() (lines int, first string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines, o.first
}

func (o *output) note(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lines++; o.first == "" {
		o.first = text
	}
}

// outputHandler recognizes lines of standard output by an attribute that internal/plugin/process
// sets.
type outputHandler struct{ to *output }

// Enabled implements slog.Handler.
func (h outputHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h outputHandler) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "stream" || a.Value.String() != "stdout" {
			return true
		}
		h.to.note(r.Message)
		return false
	})
	return nil
}

// WithAttrs implements slog.Handler.
func (h outputHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h outputHandler) WithGroup(string) slog.Handler { return h }
