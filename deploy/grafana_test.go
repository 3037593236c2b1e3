package deploy

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/deploy/dashboards"
)

// A reader chooses the values of variables from these labels. Their number is bounded by the number
// of processes and by the catalog.
var choices = []string{"job", "instance", "plugin"}

var variable = regexp.MustCompile(`\$(?:\{(\w+)\}|(\w+))`)

// Every query of a dashboard is valid PromQL, and uses only metrics and labels that exist, and
// variables that the dashboard has.
func TestDashboards(t *testing.T) {
	all := known(t)
	for _, d := range dashboards.All() {
		values := map[string]string{"__rate_interval": "1m"}
		for _, v := range d.Variables {
			checkQuery(t, all, d.UID+", variable "+v.Name, replaced(t, d.UID, v.Metric+"{"+v.Selector+"}", values))
			if !slices.Contains(choices, v.Label) {
				t.Errorf("%s: the values of the variable %s have no bound", d.UID, v.Name)
			}
			values[v.Name] = "value"
		}
		queries := 0
		for _, row := range d.Rows {
			for _, p := range row.Panels {
				for _, q := range p.Queries {
					queries++
					place := d.UID + ", " + p.Title
					checkQuery(t, all, place, replaced(t, place, q.Expr, values))
					checkLegend(t, place, q)
				}
			}
		}
		if queries < 10 {
			t.Errorf("%s has %d queries", d.UID, queries)
		}
	}
}

// replaced returns a query with values in place of Grafana's variables.
func replaced(t *testing.T, place, query string, values map[string]string) string {
	t.Helper()
	return variable.ReplaceAllStringFunc(query, func(name string) string {
		value, ok := values[strings.Trim(name, "${}")]
		if !ok {
			t.Errorf("%s uses %s, which the dashboard does not have", place, name)
		}
		return value
	})
}

var field = regexp.MustCompile(`{{(\w+)}}`)

// checkLegend checks that a legend shows only labels that the series of the query have. A label that
// an aggregation drops would show nothing.
func checkLegend(t *testing.T, place string, q dashboards.Query) {
	t.Helper()
	for _, m := range field.FindAllStringSubmatch(q.Legend, -1) {
		by := regexp.MustCompile(`by \([^)]*\b` + m[1] + `\b`).MatchString(q.Expr)
		if strings.Contains(q.Expr, "sum") && !by {
			t.Errorf("%s: the legend shows %s, which the query does not keep", place, m[1])
		}
	}
}
