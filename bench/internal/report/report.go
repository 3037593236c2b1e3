// Package report has the results of the benchmark and writes them as a table, as JSON and as plots.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
)

// Results are the results of one run of the benchmark.
type Results struct {
	Machine Machine
	Rounds  int
	Turn    time.Duration // the length of a turn
	Tables  []Table
	Cold    Cold
	Curves  []Curve
	Memory  map[string]map[string]int64 // by contender and process name, resident bytes after the load
}

// Title is the name of a contender for people.
type Title struct{ Key, Text string }

// Table has the samples for one size of answers and one number of callers: one per round by
// contender.
type Table struct {
	Title         string // what is measured, if it is not calls of toolhost against its peers
	Size, Callers int
	Baseline      string  // the key of the contender that all others are compared with
	Titles        []Title // of the contenders, in order
	Samples       map[string][]load.Sample
}

// Cold has the measurements of single calls, one per round.
type Cold struct {
	Bare, Toolhost   []time.Duration // the first call of a plugin without a process
	Shared, Isolated []time.Duration // calls with pauses: the median of each round
}

// Curve shows how a figure grows. Each round measures all points.
type Curve struct {
	Title, Unit string
	Points      []Point // the first point is the reference
	Flat        float64 // the largest allowed ratio to the first point; 0: no limit
	Most        float64 // the largest allowed figure; 0: no limit
}

// Point is one point of a curve.
type Point struct {
	Title   string
	Figures []float64 // one per round
}

// Machine describes the machine of a run.
type Machine struct {
	OS, Arch, Go string
	Processors   int
}

// ThisMachine describes the present machine.
func ThisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(), Processors: runtime.NumCPU()}
}

// Spread is the median of some figures with their minimum and maximum.
type Spread struct{ Median, Min, Max float64 }

// String formats a spread for tables.
func (s Spread) String() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max) }

func spread(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	return Spread{Median: sorted[len(sorted)/2], Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// Of returns the spread of one figure of a contender.
func (t Table) Of(key string, figure func(load.Sample) float64) Spread {
	var all []float64
	for _, s := range t.Samples[key] {
		all = append(all, figure(s))
	}
	return spread(all)
}

// Ratio returns the spread of the ratio of a figure of two contenders. It divides figures of the
// same round.
func (t Table) Ratio(key, to string, figure func(load.Sample) float64) Spread {
	var all []float64
	for i, s := range t.Samples[key] {
		if i < len(t.Samples[to]) {
			all = append(all, figure(s)/figure(t.Samples[to][i]))
		}
	}
	return spread(all)
}

// The figures of a sample.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
func p50(s load.Sample) float64      { return micros(s.P50) }
func p99(s load.Sample) float64      { return micros(s.P99) }
func rate(s load.Sample) float64     { return s.Rate }
func cpu(s load.Sample) float64      { return s.CPU.Seconds() }

// Write writes the results to a folder, and the table to out too.
func (r Results) Write(dir string, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making the folder for the results: %w", err)
	}
	var text strings.Builder
	r.table(&text)
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	machine, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the results: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "results.txt"), []byte(text.String()), 0o666),
		os.WriteFile(filepath.Join(dir, "results.json"), append(machine, '\n'), 0o666),
		r.plots(dir))
}
