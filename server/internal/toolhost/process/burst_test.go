package process

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
)

// All lines that a plugin prints at once are logged, up to the configured bound.
func TestABurstIsLoggedWhole(t *testing.T) {
	for name, tc := range map[string]struct{ perSecond, printed, logged int }{
		"within the bound": {1000, 800, 800},
		"beyond it":        {100, 800, 100},
	} {
		t.Run(name, func(t *testing.T) {
			var seen countingHandler
			o := newOutput(slog.New(&seen), tc.perSecond, 8<<10)
			for range tc.printed {
				o.stderrLine(strings.Repeat("x", 80))
			}
			o.close()
			if got := int(seen.lines.Load()); got < tc.logged || got > tc.logged+tc.logged/2 {
				t.Errorf("%d of %d lines were logged, want about %d", got, tc.printed, tc.logged)
			}
		})
	}
}

// countingHandler counts the lines of plugins.
type countingHandler struct{ lines atomic.Int64 }

func (h *countingHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h *countingHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *countingHandler) WithGroup(string) slog.Handler            { return h }
func (h *countingHandler) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "xxx") {
		h.lines.Add(1)
	}
	return nil
}
