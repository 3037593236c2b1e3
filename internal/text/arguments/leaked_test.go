package arguments_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

const writing = `{"properties":{"path":{"type":"string"},"content":{"type":"string"},"overwrite":{"type":"boolean","default":false},
	"edits":{"items":{"properties":{"new":{"type":"string"}}}}},"required":["path"]}`

// The first row is anthropics/claude-code#83088. The others are the forms in which the named models
// write parameters.
func TestLeaked(t *testing.T) {
	one := func(name string, declared bool) []arguments.Leaked {
		return []arguments.Leaked{{Path: "content", Name: name, Declared: declared}}
	}
	overwrite := one("overwrite", true)
	const ns = "ant" + "ml:"
	for name, tc := range map[string]struct {
		content string
		want    []arguments.Leaked
	}{
		"closed by its name":         {"a\n</content>\n<@ name=\"overwrite\">true</@>", overwrite},
		"the last tag was consumed":  {"a\n<@ name=\"overwrite\">true", overwrite},
		"a prefix":                   {"a</" + ns + "@>\n<" + ns + "@ name=\"overwrite\">true</" + ns + "@>\n</" + ns + "invoke>", overwrite},
		"MiniMax":                    {"a</@>\n<@ name=\"overwrite\">true</@>\n</invoke>", overwrite},
		"DeepSeek":                   {"a</｜DSML｜@>\n<｜DSML｜@ name=\"overwrite\" string=\"false\">true</｜DSML｜@>", overwrite},
		"Qwen":                       {"a\n</content>\n<@=overwrite>\ntrue\n</@>\n</function>", overwrite},
		"GLM":                        {"a</arg_value>\n<arg_key>overwrite</arg_key>\n<arg_value>true", overwrite},
		"an element":                 {"a</content>\n<overwrite>true</overwrite>", overwrite},
		"single quotes":              {"a</content><@ name='overwrite'>true", overwrite},
		"two parameters":             {"a</content>\n<@ name=\"mode\">5</@>\n<@ name=\"overwrite\">true</@>", overwrite},
		"text behind it":             {"a</content>\n<@ name=\"overwrite\">true</@>\nand more <b>text</b>", overwrite},
		"no such parameter":          {"a\n</content>\n<@ name=\"mode\">644</@>", one("mode", false)},
		"the end of the call":        {"a\n</content>\n</invoke>\n", one("", false)},
		"the end of the calls":       {"a\n</content>\n</" + ns + "invoke>\n</" + ns + "function_calls>", one("", false)},
		"its own closing tag":        {"<content>a</content>", nil},
		"another element":            {"<r><content>a</content>\n<b>c</b></r>", nil},
		"an element that is no end":  {"<overwrite>true</overwrite>", nil},
		"a parameter that was sent":  {"see </content>\n<@ name=\"path\">x</@>", nil},
		"documents of such markup":   {"Models write <@ name=\"mode\">644</@>, and <invoke> around it.\n", nil},
		"the word":                   {"the parameter name=\"overwrite\" of </b>", nil},
		"the name in another string": {"<a @=\"overwrite\">", nil},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := json.Marshal(strings.ReplaceAll(tc.content, "@", "parameter"))
			if err != nil {
				t.Fatal(err)
			}
			given := `{"path":"p","content":` + string(content) + `}`
			got := compile(t, writing).Leaked(parsed(t, given))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", given, diff)
			}
		})
	}
}

// Texts within others count, a default counts as not sent, and a value that was sent does not.
func TestLeakedElsewhere(t *testing.T) {
	leak := func(own, name string) string {
		return `"x</` + own + `>\n<parameter name=\"` + name + `\">y"`
	}
	for given, want := range map[string][]arguments.Leaked{
		`{"path":"p","edits":[{"new":"a"},{"new":` + leak("new", "overwrite") + `}]}`:  {{Path: "edits[1].new", Name: "overwrite", Declared: true}},
		`{"path":"p","overwrite":false,"content":` + leak("b", "overwrite") + `}`:      {{Path: "content", Name: "overwrite", Declared: true}},
		`{"path":"p","overwrite":true,"content":` + leak("content", "overwrite") + `}`: nil,
		`{"path":"p","mode":1,"content":` + leak("content", "mode") + `}`:              nil,
	} {
		if diff := cmp.Diff(want, compile(t, writing).Leaked(parsed(t, given))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", given, diff)
		}
	}
	many := `{"path":"p","edits":[` + strings.Repeat(`{"new":`+leak("new", "overwrite")+`},`, 100) + `{}]}`
	if got := compile(t, writing).Leaked(parsed(t, many)); len(got) != 20 {
		t.Errorf("%d texts are reported", len(got))
	}
}

// A required parameter that leaked is missing: the error says where it is.
func TestLeakedParameterIsMissing(t *testing.T) {
	err := compile(t, writing).Validate(parsed(t, `{"content":"a</content>\n<parameter name=\"path\">b.txt</parameter>"}`))
	const want = `content: holds the markup of a parameter "path", which was not sent; send "path" as a parameter of its own`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
