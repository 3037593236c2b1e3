package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/text/render"
)

// Names that Anthropic's API refuses have others, which differ from each other and from all names
// that the tool has. References follow.
func TestParameterNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	for name, test := range map[string]struct {
		schema, want string
		names        map[string]string
	}{
		"good":   {`{"type":"object","properties":{"a.b-c_1":{}}}`, `{"type":"object","properties":{"a.b-c_1":{}}}`, nil},
		"nested": {`{"type":"object","properties":{"a":{"properties":{"$b":{}}}}}`, `{"type":"object","properties":{"a":{"properties":{"$b":{}}}}}`, nil},
		"alike": {
			`{"type":"object","properties":{"$top":{},"@top":{},"_top":{},"größe":{},"":{},"` + long + `":{}},"required":["@top","_top"]}`,
			`{"type":"object","properties":{"_top2":{},"_top3":{},"_top":{},"gr__e":{},"_":{},"` + long[:60] + `":{}},"required":["_top3","_top"]}`,
			map[string]string{"$top": "_top2", "@top": "_top3", "größe": "gr__e", "": "_", long: long[:60]},
		},
		"references": {
			`{"type":"object","properties":{"$top":{"type":"integer"},"skip":{"$ref":"#/properties/$top"}}}`,
			`{"type":"object","properties":{"_top":{"type":"integer"},"skip":{"$ref":"#/$defs/_top"}},"$defs":{"_top":{"type":"integer"}}}`,
			map[string]string{"$top": "_top"},
		},
		"alternatives": {
			`{"oneOf":[{"properties":{"$top":true},"required":["$top"]}]}`, `{"type":"object","properties":{"_top":{}},"required":["_top"]}`,
			map[string]string{"$top": "_top"},
		},
	} {
		info := spec(test.schema)
		d, err := render.ForAnthropic(&info.Spec)
		if err != nil || string(d.Schema) != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, d.Schema, test.want)
		}
		if diff := cmp.Diff(test.names, d.Names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRenamed(t *testing.T) {
	names := map[string]string{"a": "b"}
	for _, test := range []struct{ arguments, want string }{
		{`{"a":{"a":1.0},"c":2}`, `{"b":{"a":1.0},"c":2}`},
		{`{ "c": 2 }`, `{ "c": 2 }`},
		{`{"a":1,"b":2}`, `{"a":1,"b":2}`},
		{`{"a":1`, `{"a":1`},
		{`["a"]`, `["a"]`},
		{``, ``},
	} {
		if got := render.Renamed(json.RawMessage(test.arguments), names); string(got) != test.want {
			t.Errorf("%s became %s, want %s", test.arguments, got, test.want)
		}
	}
}
