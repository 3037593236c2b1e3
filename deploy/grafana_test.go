package deploy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// board is what the tests read of a dashboard: what Grafana needs to show it, and its queries.
type board struct {
	UID, Title    string
	SchemaVersion int
	Tags          []string
	Panels        []panel
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []target
}

type target struct{ RefID, Expr, LegendFormat string }

// dashboards reads the dashboards. The UID of each says the name of its file.
func dashboards(t *testing.T) map[string]*board {
	t.Helper()
	files, err := filepath.Glob("grafana/*.json")
	if err != nil || len(files) != 4 {
		t.Fatalf("the dashboards are %v: %v", files, err)
	}
	boards := map[string]*board{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		b := &board{}
		if err == nil {
			err = json.Unmarshal(text, b)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if want := "toolhost-" + strings.TrimSuffix(filepath.Base(file), ".json"); b.UID != want {
			t.Errorf("%s has the uid %q, want %q", file, b.UID, want)
		}
		boards[file] = b
	}
	return boards
}

// A reader chooses the values of variables from these labels. Their number is bounded by the number
// of processes and by the catalog.
var choices = []string{"job", "instance", "plugin"}

// values is the definition of a variable: its selector and its label.
var values = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// Every query of a dashboard is valid PromQL, and uses only metrics and labels that exist, and
// variables that the dashboard has.
func TestDashboards(t *testing.T) {
	all := known(t)
	for file, b := range dashboards(t) {
		chosen := map[string]string{"__rate_interval": "1m"}
		for _, v := range b.Templating.List {
			if v.Type != "query" {
				continue
			}
			place := file + ", the variable " + v.Name
			m := values.FindStringSubmatch(v.Definition)
			if m == nil || !slices.Contains(choices, m[2]) {
				t.Fatalf("%s: the values of %q have no bound", place, v.Definition)
			}
			checkQuery(t, all, place, replaced(t, place, m[1], chosen))
			chosen[v.Name] = "value"
		}
		queries := 0
		for _, p := range b.Panels {
			for _, q := range p.Targets {
				queries++
				place := file + ", " + p.Title
				checkQuery(t, all, place, replaced(t, place, q.Expr, chosen))
				checkLegend(t, place, q)
			}
		}
		if queries < 10 {
			t.Errorf("%s has %d queries", file, queries)
		}
	}
}

// Grafana 10.4 and later show every panel and find every dashboard: ids are unique, no panel covers
// another one or leaves the grid, and each says what it shows.
func TestLayout(t *testing.T) {
	for file, b := range dashboards(t) {
		if b.SchemaVersion != 39 || b.Title == "" || !slices.Contains(b.Tags, "toolhost") {
			t.Errorf("%s has the title %q, the schema version %d and the tags %q", file, b.Title, b.SchemaVersion, b.Tags)
		}
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range b.Panels {
			if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
				t.Errorf("%s: the panel %q has the id %d, the description %q and %d queries", file, p.Title, p.ID, p.Description, len(p.Targets))
			}
			ids[p.ID] = true
			at := p.GridPos
			if at.X < 0 || at.X+at.W > 24 || at.W < 1 || at.H < 1 {
				t.Errorf("%s: the panel %q is at %+v, outside of the grid", file, p.Title, at)
			}
			for x := at.X; x < at.X+at.W; x++ {
				for y := at.Y; y < at.Y+at.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" {
						t.Fatalf("%s: the panels %q and %q cover each other", file, other, p.Title)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}

var variable = regexp.MustCompile(`\$(?:\{(\w+)\}|(\w+))`)

// replaced returns a query with values in place of Grafana's variables.
func replaced(t *testing.T, place, query string, chosen map[string]string) string {
	t.Helper()
	return variable.ReplaceAllStringFunc(query, func(name string) string {
		value, ok := chosen[strings.Trim(name, "${}")]
		if !ok {
			t.Errorf("%s uses %s, which the dashboard does not have", place, name)
		}
		return value
	})
}

var field = regexp.MustCompile(`{{(\w+)}}`)

// checkLegend checks that a legend shows only labels that the series of the query have. A label
// that an aggregation drops would show nothing.
func checkLegend(t *testing.T, place string, q target) {
	t.Helper()
	for _, m := range field.FindAllStringSubmatch(q.LegendFormat, -1) {
		by := regexp.MustCompile(`by \([^)]*\b` + m[1] + `\b`).MatchString(q.Expr)
		if strings.Contains(q.Expr, "sum") && !by {
			t.Errorf("%s: the legend shows %s, which the query does not keep", place, m[1])
		}
	}
}
