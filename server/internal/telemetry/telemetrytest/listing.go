package telemetrytest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// CompareListing compares what a program serves at /metrics with a file that lists the metrics. A
// line of the file has the name of a metric, its type and its labels. With update, CompareListing
// writes the file.
//
// The tests of the dashboards and of the alert rules read the file. Their queries may use only the
// metrics and labels in it.
func CompareListing(t *testing.T, path, metrics string, update bool) {
	t.Helper()
	got := strings.Join(listing(metrics), "\n") + "\n"
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the metrics differ from %s; accept the change with\n\n\tgo -C server test ./internal/telemetry/... -update\n\nnow:\n%s", path, got)
	}
}

// listing returns a line for each metric, in order. The three series of a histogram are one metric.
func listing(metrics string) []string {
	types, labels := map[string]string{}, map[string]map[string]bool{}
	for line := range strings.Lines(metrics) {
		if words := strings.Fields(line); len(words) == 4 && words[1] == "TYPE" {
			types[words[2]] = words[3]
			labels[words[2]] = map[string]bool{}
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line[:strings.LastIndex(line, " ")], "{")
		if labels[name] == nil { // a series of a histogram
			name = name[:strings.LastIndex(name, "_")]
		}
		for pair := range strings.SplitSeq(rest, ",") {
			if label, _, ok := strings.Cut(pair, "="); ok {
				labels[name][label] = true
			}
		}
	}
	var lines []string
	for name, kind := range types {
		line := fmt.Sprintf("%s %s %s", name, kind, strings.Join(slices.Sorted(maps.Keys(labels[name])), ","))
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return lines
}
