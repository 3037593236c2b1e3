package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

func (r Results) table(w io.Writer) {
	fmt.Fprintf(w, "%d rounds of %s on %s/%s, %d processors, %s. Medians of the rounds (least–most); × is the ratio to the contender that the table names, or to the first line, in the same round.\n",
		r.Rounds, r.Turn, r.Machine.OS, r.Machine.Arch, r.Machine.Processors, r.Machine.Go)
	for _, t := range r.Tables {
		fmt.Fprintln(w)
		if t.Title != "" {
			fmt.Fprintf(w, "%s. ", t.Title)
		}
		fmt.Fprintf(w, "Answers of %d bytes, callers at once: %d. × is the ratio to %q\n", t.Size, t.Callers, t.title(t.Baseline))
		tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tab, "\tp50 µs\t×\tp99 µs\t×\tcalls/s\t×\tCPU s per 10,000\t×")
		for _, c := range t.Titles {
			fmt.Fprintf(tab, "%s\t%.0f\t%s\t%.0f\t%s\t%.0f\t%s\t%.2f\t%s\n", c.Text,
				t.Of(c.Key, p50).Median, t.Ratio(c.Key, t.Baseline, p50),
				t.Of(c.Key, p99).Median, t.Ratio(c.Key, t.Baseline, p99),
				t.Of(c.Key, rate).Median, t.Ratio(c.Key, t.Baseline, rate),
				t.Of(c.Key, cpu).Median, t.Ratio(c.Key, t.Baseline, cpu))
		}
		tab.Flush()
	}
	if len(r.Memory) > 0 {
		r.memory(w)
	}
	if len(r.Cold.Bare) > 0 {
		r.Cold.table(w)
	}
	for _, c := range r.Curves {
		c.table(w)
	}
	r.judge(w)
}

func (r Results) memory(w io.Writer) {
	fmt.Fprintln(w, "\nResident memory after the load, MiB by process")
	for _, key := range slices.Sorted(maps.Keys(r.Memory)) {
		fmt.Fprintf(w, "%s:", r.title(key))
		for _, name := range slices.Sorted(maps.Keys(r.Memory[key])) {
			fmt.Fprintf(w, " %s %.0f", name, float64(r.Memory[key][name])/(1<<20))
		}
		fmt.Fprintln(w)
	}
}

func (c Curve) table(w io.Writer) {
	fmt.Fprintf(w, "\n%s, %s\n", c.Title, c.Unit)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, p := range c.Points {
		fmt.Fprintf(tab, "%s\t%s", p.Title, spread(p.Figures))
		if i > 0 {
			fmt.Fprintf(tab, "\t× %s", spread(ratios(p.Figures, c.Points[0].Figures)))
		}
		fmt.Fprintln(tab)
	}
	tab.Flush()
}

// ratios divides figures of the same round.
func ratios(figures, beside []float64) []float64 {
	var all []float64
	for i := range min(len(figures), len(beside)) {
		all = append(all, figures[i]/beside[i])
	}
	return all
}

func (c Cold) table(w io.Writer) {
	fmt.Fprintln(w, "\nSingle calls, ms")
	row := func(name string, all, beside []time.Duration) {
		fmt.Fprintf(w, "%s: %s", name, spread(millis(all)))
		if len(beside) > 0 {
			fmt.Fprintf(w, ", × %s", spread(ratios(millis(all), millis(beside))))
		}
		fmt.Fprintln(w)
	}
	row("first call, go-plugin alone", c.Bare, nil)
	row("first call of a cold plugin in toolhost", c.Toolhost, c.Bare)
	if len(c.Shared) == 0 {
		return
	}
	row("a call every 50 ms, shared process", c.Shared, nil)
	row("a call every 50 ms, a process for each", c.Isolated, c.Shared)
}

// title returns the name of a contender for people.
func (r Results) title(key string) string {
	for _, t := range r.Tables {
		if text := t.title(key); text != key {
			return text
		}
	}
	return key
}

func (t Table) title(key string) string {
	for _, title := range t.Titles {
		if title.Key == key {
			return title.Text
		}
	}
	return key
}
