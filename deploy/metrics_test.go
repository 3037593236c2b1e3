package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// metric is a metric that Prometheus can have: its labels, and the suffixes of its series.
type metric struct {
	labels   []string
	suffixes []string
}

// nameLabel is the label with the name of a metric.
const nameLabel = "__name__"

// added are the labels that Prometheus adds to each series.
var added = []string{"job", "instance"}

// known returns the metrics that toolhost and agentd export, those of Prometheus itself, and the
// recorded ones.
func known(t *testing.T) map[string]metric {
	t.Helper()
	all := map[string]metric{
		"up":                               {suffixes: []string{""}},
		"ALERTS":                           {labels: []string{"alertname", "alertstate", "severity", "plugin", "tool"}, suffixes: []string{""}},
		"agentd:runs_failed:increase30m":   {suffixes: []string{""}},
		"agentd:runs_finished:increase30m": {suffixes: []string{""}},
	}
	for _, file := range []string{"metrics/toolhost.txt", "metrics/agentd.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			words := append(strings.Fields(line), "")
			m := metric{labels: strings.Split(words[2], ","), suffixes: []string{""}}
			if words[1] == "histogram" {
				m.suffixes = []string{"_bucket", "_sum", "_count"}
			}
			all[words[0]] = m
		}
	}
	return all
}

// find returns the metric of a series.
func find(all map[string]metric, series string) (metric, bool) {
	for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
		name, ok := strings.CutSuffix(series, suffix)
		if m, exists := all[name]; ok && exists && slices.Contains(m.suffixes, suffix) {
			return m, true
		}
	}
	return metric{}, false
}

// checkQuery reports the metrics and labels of a query that do not exist, and a syntax that
// Prometheus refuses. Grafana's variables must be replaced before.
func checkQuery(t *testing.T, all map[string]metric, place, query string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v in\n%s", place, err, query)
		return
	}
	possible := slices.Clone(added) // labels of all metrics in the query
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		has := slices.Clone(added)
		for _, m := range metricsOf(t, all, place, selector) {
			has = append(has, m.labels...)
		}
		for _, matcher := range selector.LabelMatchers {
			if matcher.Name != nameLabel && !slices.Contains(has, matcher.Name) {
				t.Errorf("%s: %s has no label %s", place, selector.Name, matcher.Name)
			}
		}
		possible = append(possible, has...)
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if aggregate, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range aggregate.Grouping {
				if !slices.Contains(possible, label) {
					t.Errorf("%s: no metric of the query has the label %s", place, label)
				}
			}
		}
		return nil
	})
}

// metricsOf returns the metrics that a selector selects. It has a name, or matches several names.
func metricsOf(t *testing.T, all map[string]metric, place string, selector *parser.VectorSelector) []metric {
	t.Helper()
	if m, ok := find(all, selector.Name); ok {
		return []metric{m}
	}
	var found []metric
	for _, matcher := range selector.LabelMatchers {
		if matcher.Name != nameLabel || matcher.Type != labels.MatchRegexp {
			continue
		}
		for name, m := range all {
			if matcher.Matches(name) {
				found = append(found, m)
			}
		}
	}
	if len(found) == 0 {
		t.Errorf("%s: neither toolhost nor agentd has the metric %s", place, selector)
	}
	return found
}

// The check of queries finds what it looks for.
func TestCheckQueryFindsMistakes(t *testing.T) {
	all := known(t)
	for query, wrong := range map[string]bool{
		`sum by (tool) (rate(toolhost_calls_total{outcome="ok"}[5m]))`:                           false,
		`histogram_quantile(0.9, sum by (le) (rate(toolhost_call_duration_seconds_bucket[5m])))`: false,
		`{__name__=~"(toolhost|agentd)_telemetry_up", signal="traces"}`:                          false,
		`sum by (tool) (rate(toolhost_calls_total{outcome="ok"}[5m])`:                            true,
		`toolhost_calls`:                          true,
		`toolhost_call_duration_seconds`:          true,
		`toolhost_calls_total{user="x"}`:          true,
		`sum by (session) (toolhost_calls_total)`: true,
		`{__name__=~"toolhosts_.*"}`:              true,
	} {
		t.Run(query, func(t *testing.T) {
			probe := &testing.T{}
			checkQuery(probe, all, "a test", query)
			if probe.Failed() != wrong {
				t.Errorf("mistakes are found: %v, want %v", probe.Failed(), wrong)
			}
		})
	}
}
