package hosttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// selection is a query, and the tools of the suite that it selects, ordered by name.
type selection struct {
	name  string
	query tool.Query
	want  []string
}

// selections has every kind of filter, for all methods that take a query.
func selections() []selection {
	yes, no, cheap, dear := true, false, 1.0, 2.5
	all := []string{}
	for _, offered := range Tools() {
		all = append(all, offered.Spec.Name)
	}
	slices.Sort(all)
	without := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == name })
	}
	calm := []string{"echo", "fail", "inspect", "large", "steps", "sum", "talk", "waiting"}
	return []selection{
		{"all", tool.Query{}, all},
		{"names", tool.Query{Names: []string{"wait", "echo", "absent"}}, []string{"echo", "wait"}},
		{"category", tool.Query{Categories: []string{"danger", "other"}}, []string{"danger"}},
		{"tag", tool.Query{Tags: []string{"calm", "other"}}, calm},
		{"dangerous", tool.Query{Dangerous: &yes}, []string{"danger"}},
		{"not dangerous", tool.Query{Dangerous: &no}, without("danger")},
		{"cost", tool.Query{MaxCostPerUse: &cheap}, without("danger")},
		{"cost, just", tool.Query{MaxCostPerUse: &dear}, all},
		{"count", tool.Query{MaxTools: 3}, all[:3]},
		{"count and tag", tool.Query{Tags: []string{"calm"}, MaxTools: 2}, calm[:2]},
		{"more than there are", tool.Query{MaxTools: 1000}, all},
		{"several", tool.Query{Tags: []string{"calm"}, Names: []string{"echo", "count"}}, []string{"echo"}},
		{"none", tool.Query{Names: []string{"absent"}}, []string{}},
	}
}

// The search is for a word that all tools contain.
func testSearchFilters(t *testing.T, h Host) {
	for _, s := range selections() {
		limit := s.query.MaxTools
		if limit == 0 {
			s.query.MaxTools = 1000
		}
		matches, err := h.SearchTools(bounded(t), "conformance", s.query)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		got := []string{}
		for _, m := range matches {
			got = append(got, m.Spec.Name)
		}
		slices.Sort(got)
		// the query does not say which of them rank highest
		if limit > 0 && len(got) == len(s.want) {
			continue
		}
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

func testSearchTools(t *testing.T, h Host) {
	matches, err := h.SearchTools(bounded(t), "Echo, or something LIKE it", tool.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(matches) != 1 || matches[0].Spec.Name != "echo" || matches[0].Plugin != PluginName || matches[0].PluginVersion != PluginVersion || matches[0].Score <= 0 {
		t.Errorf("got %+v", matches)
	}
	if matches, err = h.SearchTools(bounded(t), "wait", tool.Query{}); err != nil || len(matches) < 2 || matches[0].Spec.Name != "wait" {
		t.Errorf("got %+v, %v", matches, err)
	}
	for i := range len(matches) - 1 {
		if matches[i].Score < matches[i+1].Score {
			t.Errorf("the best are not the first: %+v", matches)
		}
	}
	if matches, err = h.SearchTools(bounded(t), "suite", tool.Query{}); err != nil || len(matches) != 10 {
		t.Errorf("%d tools where nobody said how many, %v", len(matches), err)
	}
	if matches, err = h.SearchTools(bounded(t), "zebra", tool.Query{}); err != nil || len(matches) != 0 {
		t.Errorf("got %+v, %v", matches, err)
	}
	for _, bad := range []struct {
		words string
		most  int
	}{{"", 0}, {"echo", -1}} {
		if _, err := h.SearchTools(bounded(t), bad.words, tool.Query{MaxTools: bad.most}); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func testRenderFilters(t *testing.T, h Host) {
	for _, s := range selections() {
		r, err := h.RenderTools(bounded(t), tool.FormatMarkdown, s.query)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if diff := cmp.Diff(s.want, append([]string{}, r.Tools...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

func testRenderTools(t *testing.T, h Host) {
	const schema = `{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`
	for format, want := range map[tool.Format]string{
		tool.FormatOpenAI:          `[{"type":"function","function":{"name":"echo","description":"The tool echo of the conformance suite.","parameters":` + schema + `}}]`,
		tool.FormatOpenAIResponses: `[{"type":"function","name":"echo","description":"The tool echo of the conformance suite.","parameters":` + schema + `,"strict":false}]`,
		tool.FormatAnthropic:       `[{"name":"echo","description":"The tool echo of the conformance suite.","input_schema":` + schema + `}]`,
		tool.FormatGemini:          `[{"functionDeclarations":[{"name":"echo","description":"The tool echo of the conformance suite.","parametersJsonSchema":` + schema + `}]}]`,
		tool.FormatMCP: `{"tools":[{"name":"echo","description":"The tool echo of the conformance suite.","inputSchema":` + schema +
			`,"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":false},` +
			`"_meta":{"toolhost/plugin":"fixture","toolhost/version":"1.2.3","toolhost/category":"suite","toolhost/tags":["all","calm"]}}]}`,
		tool.FormatMarkdown: "## echo\n\nThe tool echo of the conformance suite.\n\nArguments:\n\n- `text` (string, required)\n",
	} {
		r, err := h.RenderTools(bounded(t), format, tool.Query{Names: []string{"echo"}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(r.Content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
		if media := "application/json"; format == tool.FormatMarkdown && r.MediaType != "text/markdown" || format != tool.FormatMarkdown && r.MediaType != media {
			t.Errorf("%s is of the media type %q", format, r.MediaType)
		}
		if !slices.Equal(r.Tools, []string{"echo"}) {
			t.Errorf("%s has the tools %v", format, r.Tools)
		}
	}
	if _, err := h.RenderTools(bounded(t), "yaml", tool.Query{}); tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "anthropic") {
		t.Errorf("a format that there is not: %v", err)
	}
	if _, err := h.RenderTools(bounded(t), tool.FormatMCP, tool.Query{MaxTools: -1}); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("fewer than no tools: %v", err)
	}
}
