// Package report holds what the benchmark measured and shows it: a table for people, JSON for programs, plots.
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

// Results are all that one run of the benchmark measured.
type Results struct {
	Machine  Machine
	Rounds   int
	Turn     time.Duration // how long one turn of a contender took
	Baseline string        // the key of the contender that the others are compared with
	Titles   []Title
	Tables   []Table
	Cold     Cold
	Curves   []Curve
	Memory   map[string]map[string]int64 // by contender and process name, resident bytes after the load
}

// Title names a contender for people.
type Title struct{ Key, Text string }

// Table is what was measured for one size of answers and one number of callers: a sample per round by contender.
type Table struct {
	Size, Callers int
	Samples       map[string][]load.Sample
}

// Cold is what was measured of single calls, once per round.
type Cold struct {
	Bare, Toolhost   []time.Duration // the first call of a plugin that does not run
	Shared, Isolated []time.Duration // calls with pauses: the median of a round
}

// Curve is one figure at several points, measured side by side in each round: how it grows.
type Curve struct {
	Title, Unit string
	Points      []Point // the others are compared with the first
	Flat        float64 // how many times the first the others may be; 0: nobody says
	Most        float64 // what each may be; 0: nobody says
}

// Point is one point of a curve.
type Point struct {
	Title   string
	Figures []float64 // one per round
}

// Machine is where it was measured.
type Machine struct {
	OS, Arch, Go string
	Processors   int
}

// ThisMachine returns what there is to know of this machine.
func ThisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(), Processors: runtime.NumCPU()}
}

// Spread is the median of a few figures, with the least and the most.
type Spread struct{ Median, Min, Max float64 }

// String writes a spread as it stands in tables.
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

// Ratio returns the spread of a figure of one contender as a part of another's in the same round.
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

// Write writes the results into a folder, and the table to out as well.
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
