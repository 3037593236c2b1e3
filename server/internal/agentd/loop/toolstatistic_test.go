package loop_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// Statistics are rounded to few steps, and calls that did not reach the tool do not count.
func TestRoundStatistic(t *testing.T) {
	for name, test := range map[string]struct {
		stats tool.Stats
		want  string // empty: too few calls
	}{
		"none":       {tool.Stats{}, ""},
		"too few":    {tool.Stats{Succeeded: 19, Failures: map[tool.Kind]uint64{tool.KindDenied: 50, tool.KindCancelled: 50}}, ""},
		"enough":     {tool.Stats{Succeeded: 20}, "Of at least 20 past calls, fewer than 1 % failed."},
		"denied":     {tool.Stats{Succeeded: 99, Failures: map[tool.Kind]uint64{tool.KindDenied: 99, tool.KindRateLimited: 9}}, "Of at least 90 past calls, fewer than 1 % failed."},
		"few fail":   {tool.Stats{Succeeded: 999, ToolErrors: 1}, "Of at least 1000 past calls, fewer than 1 % failed."},
		"some fail":  {tool.Stats{Succeeded: 97, ToolErrors: 3, P50: time.Millisecond}, "Of at least 100 past calls, up to 5 % failed. A call typically takes up to 1s."},
		"all fail":   {tool.Stats{ToolErrors: 240, P50: 3 * time.Minute}, "Of at least 200 past calls, up to 100 % failed. A call typically takes up to 5m0s."},
		"long calls": {tool.Stats{Succeeded: 1 << 62, P50: 9 * time.Hour}, "Of at least 4000000000000000000 past calls, fewer than 1 % failed. A call typically takes up to 1h0m0s."},
	} {
		s, ok := loop.RoundStatistic(&test.stats)
		r := loop.RunStarted{Statistics: map[string]loop.ToolStatistic{"x": s}}
		if got := r.Described("x", ""); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%s: got %q, %v; want %q", name, got, ok, test.want)
		}
		if got := r.Described("y", "It works."); got != "It works." {
			t.Errorf("another tool has %q", got)
		}
	}
}
