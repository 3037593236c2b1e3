package form_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/terminal/form"
)

const schema = `{"type":"object","required":["name","size"],"properties":{
	"zone":{"type":"string","enum":["north","south"],"title":"Zone","description":"where it is"},
	"name":{"type":"string"},
	"size":{"type":"integer","default":3},
	"ratio":{"type":"number"},
	"sure":{"type":"boolean"},
	"tags":{"type":"array"}}}`

// The inputs have the order of the schema, and each says what to type.
func TestPrompts(t *testing.T) {
	var prompts []string
	for _, f := range form.Fields(json.RawMessage(schema)) {
		prompts = append(prompts, f.Prompt())
	}
	want := []string{
		"zone (Zone), where it is [1 north; 2 south; may be empty]", "name", "size [integer; empty: 3]", "ratio [number; may be empty]",
		"sure [yes or no; may be empty]", "tags [JSON; may be empty]",
	}
	if diff := cmp.Diff(want, prompts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValues(t *testing.T) {
	for _, tc := range []struct{ field, typed, want string }{
		{"zone", "2", `"south"`}, {"zone", "north", `"north"`}, {"zone", "3", ""}, {"zone", "east", ""},
		{"zone", "so", `"south"`}, {"zone", "SOUTH", `"south"`}, {"zone", "southern", ""},
		{"word", "dup", `"duplicate"`}, {"word", "d", ""}, {"word", "du", `"duplicate"`}, {"word", "drop", `"drop"`}, {"word", "drop a", `"drop all"`},
		{"size of", "1", `"100 kB"`}, {"size of", "10", ""}, {"size of", "100", ""}, {"size of", "100 k", `"100 kB"`}, {"size of", "20", `"20"`}, {"size of", "0", ""},
		{"name", ` a "b" `, `"a \"b\""`}, {"name", "", ""},
		{"size", "", "3"}, {"size", "-7", "-7"}, {"size", "1.5", ""},
		{"ratio", "1.5", "1.5"}, {"ratio", "NaN", ""}, {"ratio", "0x10", ""}, {"ratio", "", "null"},
		{"sure", "Yes", "true"}, {"sure", "n", "false"}, {"sure", "perhaps", ""},
		{"tags", `["a"]`, `["a"]`}, {"tags", "a", ""},
	} {
		fields := form.Fields(json.RawMessage(schema))
		for _, f := range append(fields, form.Field{Name: "word", Type: "string", Choices: []string{"duplicate", "drop", "drop all"}},
			form.Field{Name: "size of", Type: "string", Choices: []string{"100 kB", "20", "none"}}) {
			if f.Name != tc.field {
				continue
			}
			value, err := f.Value(tc.typed)
			got := string(value)
			if err == nil && value == nil {
				got = "null"
			}
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("%s: %q became %s (%v), want %q", tc.field, tc.typed, got, err, tc.want)
			}
		}
	}
}

func TestObject(t *testing.T) {
	fields := form.Fields(json.RawMessage(schema))
	got := form.Object(fields, map[string]json.RawMessage{"size": json.RawMessage("3"), "name": json.RawMessage(`"a"`), "sure": nil})
	if string(got) != `{"name":"a","size":3}` {
		t.Errorf("the object is %s", got)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"properties":[]}`, `{"properties":{"a":7}}`} {
		if fields := form.Fields(json.RawMessage(bad)); fields != nil {
			t.Errorf("%q has the fields %v", bad, fields)
		}
	}
	if got := form.Object(nil, nil); string(got) != "{}" {
		t.Errorf("the empty object is %s", got)
	}
}
