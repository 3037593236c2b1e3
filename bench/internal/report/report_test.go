package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/bench/internal/report"
)

func samples(micros ...int) []load.Sample {
	var all []load.Sample
	for _, m := range micros {
		all = append(all, load.Sample{Calls: 1, P50: time.Duration(m) * time.Microsecond, P99: time.Millisecond, Rate: 1e6 / float64(m)})
	}
	return all
}

// A machine that is slow in one round is slow for all contenders of that round.
func TestRatiosAreOfTheSameRound(t *testing.T) {
	table := report.Table{Size: 1, Callers: 1, Samples: map[string][]load.Sample{
		"base": samples(100, 1000, 200), "other": samples(50, 500, 100)}}
	p50 := func(s load.Sample) float64 { return float64(s.P50 / time.Microsecond) }
	if got, want := table.Ratio("other", "base", p50), (report.Spread{Median: .5, Min: .5, Max: .5}); got != want {
		t.Errorf("ratio %v, want %v", got, want)
	}
	if got, want := table.Of("base", p50), (report.Spread{Median: 200, Min: 100, Max: 1000}); got != want {
		t.Errorf("figures %v, want %v", got, want)
	}
}

func TestTable(t *testing.T) {
	r := report.Results{
		Rounds: 1, Turn: time.Second,
		Tables: []report.Table{
			{Size: 1024, Callers: 1, Baseline: "base", Titles: []report.Title{{Key: "base", Text: "the base"}, {Key: "other", Text: "another way"}},
				Samples: map[string][]load.Sample{"base": samples(100), "other": samples(50)}},
			{Title: "MCP over pigeons", Size: 1024, Callers: 64, Baseline: "mcp-proxy", Titles: []report.Title{{Key: "mcp-proxy", Text: "a proxy"}, {Key: "mcp-behind", Text: "ours"}},
				Samples: map[string][]load.Sample{"mcp-proxy": samples(100), "mcp-behind": samples(80)}},
		},
		Memory: map[string]map[string]int64{"other": {"toolhost": 30 << 20}},
		Cold:   report.Cold{Bare: []time.Duration{time.Second}, Toolhost: []time.Duration{3 * time.Second}},
		Curves: []report.Curve{{Title: "Call, tools known", Unit: "µs", Flat: 1.2,
			Points: []report.Point{{Title: "10 tools", Figures: []float64{4}}, {Title: "1000 tools", Figures: []float64{5}}}}},
	}
	var out bytes.Buffer
	if err := r.Write(t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"another way", "0.50 (0.50–0.50)", "toolhost 30", "× 3.00", "Call, tools known, µs", "× 1.25 (1.25–1.25)",
		"\nTargets\n", "× go-plugin alone", "at most 2.2  3.00 (3.00–3.00)  missed", "1000 tools × 10 tools",
		"MCP over pigeons. Answers of 1024 bytes, callers at once: 64. × is the ratio to \"a proxy\"", "to an MCP server, 64 callers: calls/s × proxy", "at least 1   1.25 (1.25–1.25)  met"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, &out)
		}
	}
}
