package report

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
)

// target is a limit that toolhost should reach.
type target struct {
	name   string
	bound  float64
	atMost bool // false: at least
	seen   Spread
}

// The sizes and numbers of callers with targets.
const (
	small, large         = 1 << 10, 64 << 10
	alone, some, crowded = 1, 16, 64
)

// targets returns the targets that the run measured.
func (r Results) targets() []target {
	var all []target
	beside := func(name string, bound float64, atMost bool, size, callers int, key, to string, figure func(load.Sample) float64) {
		for _, t := range r.Tables {
			if t.Title == "" && t.Size == size && t.Callers == callers && len(t.Samples[key]) > 0 && len(t.Samples[to]) > 0 {
				all = append(all, target{name, bound, atMost, t.Ratio(key, to, figure)})
			}
		}
	}
	beside("connect, 1 caller, 1 KiB: p50 × relay", 0.95, true, small, alone, "connect", "relay", p50)
	beside("call, 1 caller, 1 KiB: p50 × relay", 1.15, true, small, alone, "call", "relay", p50)
	beside("connect, 16 callers, 1 KiB: calls/s × relay", 1.2, false, small, some, "connect", "relay", rate)
	beside("connect, 64 callers, 1 KiB: calls/s × relay", 1.5, false, small, crowded, "connect", "relay", rate)
	beside("connect, 64 callers, 1 KiB: calls/s × mcp-proxy", 18, false, small, crowded, "connect", "mcp-proxy", rate)
	beside("connect, 64 callers, 64 KiB: calls/s × relay", 1, false, large, crowded, "connect", "relay", rate)
	beside("connect, 64 callers, 64 KiB: calls/s × mcp-proxy", 15, false, large, crowded, "connect", "mcp-proxy", rate)
	beside("connect, 64 callers, 1 KiB: CPU × relay", 0.65, true, small, crowded, "connect", "relay", cpu)
	for _, key := range []string{"connect", "call"} {
		for _, size := range []int{small, large} {
			beside(fmt.Sprintf("%s, 1 caller, %d KiB: p50 × before", key, size>>10), 1.05, true, size, alone, key, key+"-before", p50)
			beside(fmt.Sprintf("%s, 64 callers, %d KiB: calls/s × before", key, size>>10), 0.95, false, size, crowded, key, key+"-before", rate)
			beside(fmt.Sprintf("%s, 64 callers, %d KiB: CPU × before", key, size>>10), 1.05, true, size, crowded, key, key+"-before", cpu)
		}
	}
	for _, t := range r.Tables {
		all = append(all, t.mcpTargets()...)
	}
	single := func(name string, bound float64, took, than []time.Duration) {
		if len(took) > 0 {
			all = append(all, target{name, bound, true, spread(ratios(millis(took), millis(than)))})
		}
	}
	single("first call of a cold plugin × go-plugin alone", 2.2, r.Cold.Toolhost, r.Cold.Bare)
	single("a process for each call, 50 ms apart: p50 × shared", 2, r.Cold.Isolated, r.Cold.Shared)
	for _, c := range r.Curves {
		for i, p := range c.Points {
			switch {
			case c.Most > 0:
				all = append(all, target{c.Title + ", " + c.Unit, c.Most, true, spread(p.Figures)})
			case c.Flat > 0 && i > 0:
				all = append(all, target{c.Title + ": " + p.Title + " × " + c.Points[0].Title, c.Flat, true, spread(ratios(p.Figures, c.Points[0].Figures))})
			}
		}
	}
	return all
}

// mcpTargets returns the targets of a table whose calls came from an MCP client.
func (t Table) mcpTargets() []target {
	var all []target
	beside := func(callers int, key, name string, bound float64, atMost bool, figure func(load.Sample) float64) {
		if t.Baseline == "mcp-proxy" && t.Callers == callers && len(t.Samples[key]) > 0 {
			all = append(all, target{t.Title + ", " + name + " × proxy", bound, atMost, t.Ratio(key, t.Baseline, figure)})
		}
	}
	beside(crowded, "mcp-behind", "to an MCP server, 64 callers: calls/s", 1, false, rate)
	beside(crowded, "mcp-native", "to a plugin, 64 callers: calls/s", 1.3, false, rate)
	beside(alone, "mcp-native", "to a plugin, 1 caller: p50", 0.7, true, p50)
	return all
}

func (t target) String() string {
	word, met := "at least", t.seen.Median >= t.bound
	if t.atMost {
		word, met = "at most", t.seen.Median <= t.bound
	}
	verdict := "missed"
	if met {
		verdict = "met"
	}
	return fmt.Sprintf("%s\t%s %g\t%s\t%s", t.name, word, t.bound, t.seen, verdict)
}

func (r Results) judge(w io.Writer) {
	all := r.targets()
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nTargets")
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range all {
		fmt.Fprintln(tab, t)
	}
	tab.Flush()
}

func millis(all []time.Duration) []float64 {
	figures := make([]float64, len(all))
	for i, d := range all {
		figures[i] = d.Seconds() * 1000
	}
	return figures
}
