package dashboards_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/deploy/dashboards"
)

var update = flag.Bool("update", false, "write the files in deploy/grafana")

// The files that operators import are what the package renders.
func TestFiles(t *testing.T) {
	names := map[string]bool{}
	for _, d := range dashboards.All() {
		got, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(d.UID, "toolhost-") + ".json"
		names[name] = true
		path := filepath.Join("..", "grafana", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
			t.Errorf("%s is not what the package renders (%v); write it with\n\n\tgo test ./dashboards -update", path, err)
		}
	}
	files, err := filepath.Glob("../grafana/*.json")
	if err != nil || len(files) != len(names) {
		t.Errorf("the files are %v, want %d (%v)", files, len(names), err)
	}
}

// board is the part of a dashboard that Grafana needs to show it.
type board struct {
	UID, Title    string
	SchemaVersion int
	Panels        []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []struct{ RefID, Expr string }
	}
}

// Grafana shows every panel: ids are unique, no panel covers another one or leaves the grid, and
// each says what it shows.
func TestLayout(t *testing.T) {
	uids := map[string]bool{}
	for _, d := range dashboards.All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var b board
		if err := json.Unmarshal(text, &b); err != nil {
			t.Fatal(err)
		}
		if b.SchemaVersion != 39 || b.Title == "" || len(b.UID) > 40 || uids[b.UID] {
			t.Errorf("%q has the uid %q and schema version %d", b.Title, b.UID, b.SchemaVersion)
		}
		uids[b.UID] = true
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range b.Panels {
			if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
				t.Errorf("%s: the panel %q has the id %d, the description %q and %d queries", b.UID, p.Title, p.ID, p.Description, len(p.Targets))
			}
			ids[p.ID] = true
			at := p.GridPos
			if at.X < 0 || at.X+at.W > 24 || at.W < 1 || at.H < 1 {
				t.Errorf("%s: the panel %q is at %+v, outside of the grid", b.UID, p.Title, at)
			}
			for x := at.X; x < at.X+at.W; x++ {
				for y := at.Y; y < at.Y+at.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" {
						t.Fatalf("%s: the panels %q and %q cover each other", b.UID, other, p.Title)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}
