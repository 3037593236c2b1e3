package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	one := &Summary{Version: "1", Plugins: map[string]string{"a": "x", "b": "y"}, Settings: map[string]string{"policy": "p"}}
	two := &Summary{Version: "2", Plugins: map[string]string{"a": "x"}, Settings: map[string]string{"policy": "q"}}
	for name, test := range map[string]struct {
		nodes []Listed
		want  []Difference
	}{
		"none":  {nil, []Difference{}},
		"alike": {[]Listed{{ID: "1", State: Up, Summary: one}, {ID: "2", State: Up, Summary: one}, {ID: "3", State: Gone, Summary: two}}, []Difference{}},
		"different": {[]Listed{{ID: "1", State: Up, Summary: one}, {ID: "2", State: Up, Summary: two}, {ID: "3", State: Up, Summary: one}}, []Difference{
			{"plugin b", []Value{{"", []string{"2"}}, {"y", []string{"1", "3"}}}},
			{"setting policy", []Value{{"p", []string{"1", "3"}}, {"q", []string{"2"}}}},
			{"version", []Value{{"1", []string{"1", "3"}}, {"2", []string{"2"}}}},
		}},
		"one is silent": {[]Listed{{ID: "1", State: Up, Summary: one}, {ID: "2", State: Silent, Summary: two}}, []Difference{
			{"state", []Value{{"silent", []string{"2"}}, {"up", []string{"1"}}}},
		}},
		"one says nothing": {[]Listed{{ID: "1", State: Up, Summary: one}, {ID: "2", State: Up}}, []Difference{
			{"summary", []Value{{"", []string{"1"}}, {"none that this version can read", []string{"2"}}}},
		}},
	} {
		if diff := cmp.Diff(test.want, Differences(test.nodes)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A summary is bounded, whatever plugins there are, and a text that is none is not read.
func TestSummaryIsBounded(t *testing.T) {
	large := func(last string) Summary {
		s := Summary{Version: "1", Plugins: map[string]string{}, Settings: map[string]string{"policy": "p"}}
		for i := range 5000 {
			s.Plugins[fmt.Sprint("plugin-", i)] = "sha256:0123456789ab"
		}
		s.Plugins["plugin-4999"] = last
		return s
	}
	a, b := readSummary(large("a").text()), readSummary(large("b").text())
	if a == nil || b == nil || len(a.Plugins) != 1 || a.Plugins[allPlugins] == b.Plugins[allPlugins] || a.Settings["policy"] != "p" {
		t.Errorf("large summaries: %+v and %+v", a, b)
	}
	for _, text := range []string{"", "{", `{"plugins":7}`, `{"version":"` + strings.Repeat("v", maxSummary) + `"}`} {
		if s := readSummary(text); s != nil {
			t.Errorf("%.20q is read as %+v", text, s)
		}
	}
	if s := readSummary(`{"version":"9","later":{"x":1}}`); s == nil || s.Version != "9" {
		t.Errorf("a summary of a later version: %+v", s)
	}
}
