package toolsearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

func named(name, description string) tool.Info {
	return tool.Info{Spec: tool.Spec{Name: name, Description: description}}
}

// found returns the names of the tools that a query finds, the best first.
func found(infos []tool.Info, query string) []string {
	names := []string{}
	for _, hit := range toolsearch.New(infos).Search(query, nil, 0) {
		names = append(names, infos[hit.Tool].Spec.Name)
	}
	return names
}

func TestWordsMeet(t *testing.T) {
	tests := []struct {
		name, query string
		tool        tool.Info
	}{
		{"plural in the tool", "message", named("list_messages", "")},
		{"plural in the query", "currencies", named("convert_currency", "")},
		{"forms of a verb", "converting", named("t", "Converts units.")},
		{"nouns of a verb", "translation", named("translate", "")},
		{"a doubled letter", "running", named("run_query", "")},
		{"camel case", "file", named("readFile", "")},
		{"camel case, joined", "readfile", named("readFile", "")},
		{"a brand in humps", "github", named("t", "Opens an issue on GitHub.")},
		{"an abbreviation in front", "http server", named("startHTTPServer", "")},
		{"dashes", "web", named("fetch-web-page", "")},
		{"apart in the query", "web hook", named("t", "Calls a webhook.")},
		{"apart in the name", "webhook", named("call_web_hook", "")},
		{"case", "PDF", named("t", "merges pdf documents")},
		{"accents in the tool", "resume", named("t", "Writes a résumé.")},
		{"accents in the query", "Größe", named("t", "die GROSSE")},
		{"a beginning", "trans", named("translate", "")},
		{"Chinese", "翻译文本", named("t", "把文本翻译成英文")},
		{"the display name", "weather", tool.Info{Spec: tool.Spec{Name: "t", DisplayName: "Weather"}}},
		{"a tag", "finance", tool.Info{Spec: tool.Spec{Name: "t", Tags: []string{"finance"}}}},
		{"the category", "files", tool.Info{Spec: tool.Spec{Name: "t", Category: "files"}}},
		{"the plugin", "slack", tool.Info{Spec: tool.Spec{Name: "t"}, Plugin: "slack"}},
		{"a parameter", "latitude", tool.Info{Spec: tool.Spec{Name: "t", InputSchema: []byte(`{"properties":{"at":{"anyOf":[{"properties":{"latitude":{}}}]}}}`)}}},
		{"a parameter's description", "celsius", tool.Info{Spec: tool.Spec{Name: "t", InputSchema: []byte(`{"properties":{"u":{"items":{"description":"In Celsius."}}}}`)}}},
		{"a parameter's values", "celsius", tool.Info{Spec: tool.Spec{Name: "t", InputSchema: []byte(`{"properties":{"u":{"enum":[1,"celsius"]}}}`)}}},
	}
	others := []tool.Info{named("other", "Does something else."), named("zzz", "")}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{test.tool.Spec.Name}, found(append(others, test.tool), test.query)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", test.query, diff)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	category := tool.Info{Spec: tool.Spec{Name: "c", Category: "mail"}}
	parameter := tool.Info{Spec: tool.Spec{Name: "p", InputSchema: []byte(`{"properties":{"mail":{}}}`)}}
	text := tool.Info{Spec: tool.Spec{Name: "x", InputSchema: []byte(`{"properties":{"a":{"description":"mail"}}}`)}}
	tests := []struct {
		name, query string
		infos       []tool.Info
		want        []string
	}{
		{
			"where a word stands", "mail",
			[]tool.Info{text, parameter, named("d", "mail"), category, {Spec: tool.Spec{Name: "t", Tags: []string{"mail"}}}, {Spec: tool.Spec{Name: "n", DisplayName: "mail"}}, named("mail_a", "")},
			[]string{"mail_a", "n", "t", "c", "d", "p", "x"},
		},
		{"a whole word before a beginning", "read", []tool.Info{named("readme", ""), named("read_it", "")}, []string{"read_it", "readme"}},
		{
			"the name itself first", " FAX", []tool.Info{{Spec: tool.Spec{Name: "fax_fax", DisplayName: "Fax", Tags: []string{"fax"}}}, named("fax", "")},
			[]string{"fax", "fax_fax"},
		},
		{
			"a frequent word before a rare one that begins so", "read", []tool.Info{named("b", "Reads."), named("c", "Reads."), named("d", "Reads."), named("e", "Reads."), named("a", "Readmission.")},
			[]string{"b", "c", "d", "e", "a"},
		},
		{"a short name before a long one", "read file", []tool.Info{named("read_file_metadata_now", ""), named("read_file", "")}, []string{"read_file", "read_file_metadata_now"}},
		{"rare words before frequent ones", "list invoices", []tool.Info{named("list_a", ""), named("list_b", ""), named("get_invoice", "")}, []string{"get_invoice", "list_a", "list_b"}},
		{"all words before one of them twice", "send fax", []tool.Info{named("a", "send send send"), named("b", "Can send a letter or a fax.")}, []string{"b", "a"}},
		{"equals by name", "same", []tool.Info{named("same_c", ""), named("same_a", ""), named("same_b", "")}, []string{"same_a", "same_b", "same_c"}},
		{"function words do not count", "how do I use the fax tool", []tool.Info{named("how_to", "Use the tool for this."), named("fax", "")}, []string{"fax"}},
		{"function words alone do", "how to", []tool.Info{named("how_to", ""), named("fax", "")}, []string{"how_to"}},
		{"nothing", "zebra", []tool.Info{named("a", "")}, []string{}},
		{"no words", " -- !? ", []tool.Info{named("a", "")}, []string{}},
		{"no tools", "a", nil, []string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, found(test.infos, test.query)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Reverse(test.infos)
			if diff := cmp.Diff(test.want, found(test.infos, test.query)); diff != "" {
				t.Errorf("of the same in another order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMostAndKeep(t *testing.T) {
	var infos []tool.Info
	for i := range 20 {
		infos = append(infos, named(fmt.Sprintf("file_%02d", i), strings.Repeat("file ", i%5)))
	}
	x := toolsearch.New(infos)
	all := x.Search("file", nil, 0)
	if len(all) != 20 {
		t.Fatalf("%d hits", len(all))
	}
	for most := 1; most <= 25; most++ {
		if diff := cmp.Diff(all[:min(most, 20)], x.Search("file", nil, most)); diff != "" {
			t.Errorf("the best %d (-want +got):\n%s", most, diff)
		}
	}
	odd := func(i int) bool { return i%2 == 1 }
	want := slices.DeleteFunc(slices.Clone(all), func(h toolsearch.Hit) bool { return !odd(h.Tool) })
	if diff := cmp.Diff(want[:3], x.Search("file", odd, 3)); diff != "" {
		t.Errorf("with a filter (-want +got):\n%s", diff)
	}
	for i := range all[1:] {
		if all[i].Score < all[i+1].Score || all[i+1].Score <= 0 {
			t.Errorf("the scores do not fall: %v", all)
		}
	}
}

func TestZeroIndexFindsNothing(t *testing.T) {
	if hits := new(toolsearch.Index).Search("file", nil, 3); len(hits) != 0 {
		t.Errorf("found %v", hits)
	}
}

// TestLongQuestions checks that the one word that names a tool counts after a long introduction.
func TestLongQuestions(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "word%d ", i)
	}
	if diff := cmp.Diff([]string{"zebra"}, found([]tool.Info{named("yak", ""), named("zebra", "")}, b.String()+"zebra")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLongQueries(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "word%d ", i)
	}
	x := toolsearch.New([]tool.Info{named("word3", ""), named("zebra", "")})
	if hits := x.Search(b.String()+"zebra", nil, 0); len(hits) != 1 || hits[0].Tool != 0 {
		t.Errorf("found %v", hits)
	}
}

// A description in a script without spaces does not hide a tool from its English name.
func TestNameOutlivesDenseDescription(t *testing.T) {
	infos := []tool.Info{named("calendar_create_event", strings.Repeat("在日历中创建一个新的活动并邀请参加者。", 20))}
	for i := range 30 {
		infos = append(infos, named(fmt.Sprintf("t%d", i), "Shows an event of the system, such as an alarm."))
	}
	infos = append(infos, named("report", "Creates a report about a year."))
	if got := found(infos, "create calendar event"); got[0] != "calendar_create_event" {
		t.Errorf("the first of %q", got[:3])
	}
}
