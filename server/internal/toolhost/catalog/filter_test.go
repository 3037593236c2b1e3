package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// filtering returns the content of a plugin with filters.
func filtering(name string, tools []tool.Spec, filters ...tool.Filter) string {
	data, err := json.Marshal(tool.Description{Name: name, Version: "1", Tools: tools, Filters: filters})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func filter(name string) tool.Filter { return tool.Filter{Name: name, Before: true} }

func filterNames(p *catalog.Plugin) []string {
	var names []string
	for _, f := range p.Filters {
		names = append(names, f.Spec.Name)
	}
	return names
}

func TestFilters(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", filtering("a", []tool.Spec{spec("one")}, filter("redact"), filter("audit")), 0o755)
	write(t, dir, "b", filtering("b", nil, filter("alone")), 0o755)
	write(t, dir, "c", filtering("c", []tool.Spec{spec("alone"), spec("two")},
		filter("redact"), filter("one"), filter("two"), filter("twice"), filter("twice"), filter("a b"), tool.Filter{Name: "idle"}), 0o755)
	write(t, dir, "d", filtering("d", nil, tool.Filter{Name: "idle"}), 0o755)
	s := settled(t, open(t, stateDir(t), &fakePlugins{}, dir))
	for name, want := range map[string][]string{"a": {"audit", "redact"}, "b": {"alone"}, "c": {"twice"}} {
		if diff := cmp.Diff(want, filterNames(s.Plugin(name))); diff != "" {
			t.Errorf("filters of %s (-want +got):\n%s", name, diff)
		}
	}
	for _, want := range []string{
		`the tool "alone" is left out: the plugin "b" ships a filter of that name`,
		`the filter "redact" is left out: the plugin "a" ships`,
		`the filter "one" is left out: the plugin "a" ships`,
		`the filter "two" is left out: the plugin has a tool`,
		`the filter "twice" is left out: the plugin has a tool`,
		`the filter "a b" is left out: the name`,
		`the filter "idle" is left out: it is asked neither`,
	} {
		if warnings := strings.Join(s.Plugin("c").Warnings, "\n"); !strings.Contains(warnings, want) {
			t.Errorf("no warning says %q:\n%s", want, warnings)
		}
	}
	if f := s.Filter("alone"); f == nil || f.Plugin != s.Plugin("b") || s.Tool("alone") != nil || s.Filter("one") != nil {
		t.Errorf("the filter alone is %+v", f)
	}
	if s.Plugin("d") != nil {
		t.Error("a plugin whose only filter is left out can be used")
	}
}

// No later tool or filter takes the name of a filter in use.
func TestFiltersKeepTheirNames(t *testing.T) {
	r := newRig(t)
	r.write("one", filtering("one", nil, filter("f")))
	r.reload()
	r.activate(r.candidate())
	r.write("a-first", filtering("early", []tool.Spec{spec("f"), spec("x")}, filter("g")))
	r.write("a-second", filtering("second", []tool.Spec{spec("y")}, filter("f")))
	if s := r.reload(); s.Filter("f").Plugin.Info.Name != "one" || s.Tool("f") != nil {
		t.Error("the filter lost its name to a plugin that came later")
	}
	r.write("one", filtering("one", []tool.Spec{spec("x")}, filter("f"), filter("g")))
	r.reload()
	c := r.candidate()
	if diff := cmp.Diff([]string{"f"}, filterNames(c)); diff != "" || len(c.Tools) != 0 || len(c.Warnings) != 2 {
		t.Errorf("the candidate has the tools %v, the warnings %q and the filters (-want +got):\n%s", c.Tools, c.Warnings, diff)
	}
	r.activate(c)
	if s := r.Snapshot(); s.Filter("f").Plugin.Info.Name != "one" || s.Filter("g").Plugin.Info.Name != "early" {
		t.Error("the filters changed hands")
	}
}
