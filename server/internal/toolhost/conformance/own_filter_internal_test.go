package conformance

import (
	"fmt"
	"slices"
	"testing"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

// TestOwnFilters checks what `toolhost verify` says of filters that a plugin applies to its own
// tools.
func TestOwnFilters(t *testing.T) {
	for name, test := range map[string]struct {
		filters []*pluginv1.FilterSpec
		want    []string // the findings
	}{
		"none":         {[]*pluginv1.FilterSpec{{Name: "f", After: true}}, nil},
		"its own":      {[]*pluginv1.FilterSpec{{Name: "f", After: true, Tools: []string{"read", "write"}}}, nil},
		"another's":    {[]*pluginv1.FilterSpec{{Name: "f", After: true, Tools: []string{"raed"}}}, []string{`f: the filter applies to the tool "raed", which the plugin does not have`}},
		"another case": {[]*pluginv1.FilterSpec{{Name: "f", After: true, Tools: []string{"Read"}}}, []string{`f: the filter applies to the tool "Read", which the plugin does not have`}},
		"twice":        {[]*pluginv1.FilterSpec{{Name: "f", After: true, Tools: []string{"read", "read"}}}, []string{`f: the filter names the tool "read" twice`}},
		"no phase":     {[]*pluginv1.FilterSpec{{Name: "f", Tools: []string{"read"}}}, []string{"f: the filter is asked neither before nor after calls"}},
		"as many":      {many(tool.MaxOwnFilters), nil},
		"too many":     {many(tool.MaxOwnFilters + 1), []string{"read: 9 filters of the plugin apply to the tool, more than 8"}},
	} {
		said := &pluginv1.DescribeResponse{Name: "p", Filters: test.filters}
		for _, name := range []string{"read", "write"} {
			said.Tools = append(said.Tools, &toolv1.ToolSpec{Name: name, Description: "Does it."})
		}
		described := descriptionOf(said)
		judged := declarations{newFindings(), &described}
		judged.judgeNames("")
		var got []string
		for _, f := range judged.of("describe.tools").found {
			got = append(got, f.Tool+": "+f.Problem)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: found %q, want %q", name, got, test.want)
		}
	}
}

// many returns filters that apply to one tool.
func many(count int) (filters []*pluginv1.FilterSpec) {
	for i := range count {
		filters = append(filters, &pluginv1.FilterSpec{Name: fmt.Sprint("f", i), Before: true, Tools: []string{"read"}})
	}
	return filters
}
