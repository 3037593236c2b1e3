package arguments_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// editSchema declares other names at two levels.
const editSchema = `{"type":"object","properties":{
	"path":{"type":"string","x-toolhost-aliases":["file_path","filename"]},
	"edits":{"type":"array","items":{"$ref":"#/$defs/edit"},"x-toolhost-aliases":["*"]},
	"limit":{"type":["integer","null"],"default":5,"x-toolhost-aliases":["max"]}},
	"required":["path"],"additionalProperties":false,
	"$defs":{"edit":{"type":"object","properties":{
		"old_text":{"type":"string","x-toolhost-aliases":["old_string"]},
		"new_text":{"type":"string","x-toolhost-aliases":["new_string"]}},
		"required":["old_text","new_text"],"additionalProperties":false}}}`

// TestAliases checks which arguments get the declared name of a property.
func TestAliases(t *testing.T) {
	const open = `{"properties":{"path":{"type":"string","x-toolhost-aliases":["file_path","filename"]},"note":{"type":"string"}}}`
	for name, row := range map[string][3]string{ // the schema, what is sent, what the tool gets
		"another name":                       {editSchema, `{"file_path":"a"}`, `{"limit":5,"path":"a"}`},
		"two with one value":                 {editSchema, `{"file_path":"a","filename":"a"}`, `{"limit":5,"path":"a"}`},
		"two with different values":          {editSchema, `{"file_path":"a","filename":"b","limit":5}`, "="},
		"beside the declared name":           {editSchema, `{"path":"a","file_path":"a","limit":5}`, "="},
		"a value to repair":                  {editSchema, `{"path":"a","max":"7"}`, `{"limit":7,"path":"a"}`},
		"null":                               {editSchema, `{"path":"a","max":null}`, `{"limit":null,"path":"a"}`},
		"items":                              {editSchema, `{"path":"a","limit":1,"edits":[{"old_string":"x","new_text":"y"}]}`, `{"edits":[{"new_text":"y","old_text":"x"}],"limit":1,"path":"a"}`},
		"in one object in place of a list":   {editSchema, `{"path":"a","limit":1,"edits":{"old_string":"x","new_string":"y"}}`, `{"edits":[{"new_text":"y","old_text":"x"}],"limit":1,"path":"a"}`},
		"in text that holds JSON":            {editSchema, `{"path":"a","limit":1,"edits":"[{\"old_string\":\"x\",\"new_string\":\"y\"}]"}`, `{"edits":[{"new_text":"y","old_text":"x"}],"limit":1,"path":"a"}`},
		"an item in place of its list":       {editSchema, `{"file_path":"a","limit":1,"old_string":"x","new_text":"y"}`, `{"edits":[{"new_text":"y","old_text":"x"}],"limit":1,"path":"a"}`},
		"an item beside its list":            {editSchema, `{"path":"a","limit":1,"edits":[],"old_text":"x","new_text":"y"}`, "="},
		"a property that both have":          {`{"properties":{"a":{"type":"integer"},"l":{"type":"array","items":{"properties":{"a":{},"b":{"type":"integer"}}},"x-toolhost-aliases":["*"]}}}`, `{"a":1,"b":"2","c":3}`, `{"a":1,"c":3,"l":[{"b":2}]}`},
		"an item where others have a schema": {`{"properties":{"l":{"type":"array","items":{"properties":{"b":{}}},"x-toolhost-aliases":["*"]}},"additionalProperties":{"type":"integer"}}`, `{"b":1}`, `{"l":[{"b":1}]}`},
		"an item of a list behind a ref":     {`{"properties":{"l":{"$ref":"#/$defs/l","x-toolhost-aliases":["*"]}},"$defs":{"l":{"type":"array","items":{"properties":{"b":{}}}}}}`, `{"b":1}`, `{"l":[{"b":1}]}`},
		"an item too few":                    {`{"properties":{"l":{"type":"array","minItems":2,"items":{"properties":{"b":{}}},"x-toolhost-aliases":["*"]}}}`, `{"b":1}`, "="},
		"a name that is a star":              {editSchema, `{"path":"a","limit":1,"*":[]}`, "="},
		"an item of a list without a name":   {`{"properties":{"":{"type":"array","items":{"properties":{"b":{}}}}}}`, `{"b":1}`, "="},
		"no list":                            {`{"properties":{"l":{"type":"string","x-toolhost-aliases":["*"]}}}`, `{"b":1}`, "="},
		"another level's name":               {editSchema, `{"path":"a","limit":1,"old_string":"x"}`, "="},
		"other properties are allowed":       {open, `{"file_path":"a"}`, `{"path":"a"}`},
		"in place of a null":                 {open, `{"path":null,"file_path":"a"}`, `{"path":"a"}`},
		"a value that does not fit":          {open, `{"file_path":1}`, "="},
		"another part declares the name":     {`{"allOf":[` + open + `,{"properties":{"file_path":{"type":"string"}}}]}`, `{"file_path":"a"}`, "="},
		"the schema declares the name":       {`{"properties":{"a":{"x-toolhost-aliases":["b"]},"b":{}}}`, `{"b":1}`, "="},
		"two properties have the name":       {`{"properties":{"a":{"x-toolhost-aliases":["c"]},"b":{"x-toolhost-aliases":["c"]}}}`, `{"c":1}`, "="},
		"others have a schema":               {`{"properties":{"a":{"x-toolhost-aliases":["b"]}},"additionalProperties":{"type":"integer"}}`, `{"b":1}`, `{"a":1}`},
		"beside a reference":                 {`{"properties":{"a":{"$ref":"#/$defs/t","x-toolhost-aliases":["b"]}},"$defs":{"t":{"type":"string"}}}`, `{"b":"x"}`, `{"a":"x"}`},
		"in draft-07":                        {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/t","x-toolhost-aliases":["b"]}},"definitions":{"t":{"type":"string"}}}`, `{"b":"x"}`, `{"a":"x"}`},
		"in the alternative for objects":     {`{"properties":{"v":{"anyOf":[{"type":"null"},{"type":"object","properties":{"a":{"x-toolhost-aliases":["b"]}}}]}}}`, `{"v":{"b":1}}`, `{"v":{"a":1}}`},
		"in the alternative that it fits":    {`{"oneOf":[{"properties":{"a":{"x-toolhost-aliases":["c"]}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`, `{"c":1}`, `{"a":1}`},
		"in two alternatives":                {`{"oneOf":[{"properties":{"a":{"x-toolhost-aliases":["c"]}},"required":["a"]},{"properties":{"b":{"x-toolhost-aliases":["c"]}},"required":["b"]}]}`, `{"c":1}`, "="},
		"of a property that is allowed null": {`{"properties":{"a":{"type":"string","nullable":true,"x-toolhost-aliases":["b"]}}}`, `{"b":null}`, `{"a":null}`},
		"it would not fit":                   {`{"properties":{"a":{"x-toolhost-aliases":["b"]}},"required":["b"]}`, `{"b":1}`, "="},
		"a name with characters of pointers": {`{"properties":{"a/~ %":{"properties":{"c":{"x-toolhost-aliases":["d"]}}}}}`, `{"a/~ %":{"d":1}}`, `{"a/~ %":{"c":1}}`},
		"with an identifier":                 {`{"$id":"https://example.com/s","properties":{"a":{"x-toolhost-aliases":["b"]}}}`, `{"b":1}`, `{"a":1}`},
		"the keyword as a property":          {`{"properties":{"x-toolhost-aliases":{"type":"object","properties":{"a":{}}}}}`, `{"x-toolhost-aliases":{"b":1}}`, "="},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := compile(t, row[0]), parsed(t, row[1])
			want := row[2]
			if want == "=" {
				want = string(p.Canonical())
			}
			if got, _ := s.Repair(p); string(got.Canonical()) != want {
				t.Errorf("got %s, want %s", got.Canonical(), want)
			}
			checkLaws(t, s, p)
		})
	}
}

// TestAliasesAreListed checks that the list of repairs names the other name, and the changes of the
// value apart from it.
func TestAliasesAreListed(t *testing.T) {
	_, repairs := compile(t, editSchema).Repair(parsed(t, `{"file_path":"a","filename":"a","max":"7","edits":{"old_string":"x","new_text":"y"}}`))
	want := []arguments.Repair{
		{Path: "edits", From: []byte(`{"new_text":"y","old_string":"x"}`), To: []byte(`[{"new_text":"y","old_text":"x"}]`), Why: "it was one object, where the schema says array of objects"},
		{Path: "edits[0].old_text", From: []byte(`"x"`), To: []byte(`"x"`), Why: `it was sent as "old_string", another name of it`},
		{Path: "limit", From: []byte(`"7"`), To: []byte(`"7"`), Why: `it was sent as "max", another name of it`},
		{Path: "limit", From: []byte(`"7"`), To: []byte(`7`), Why: "it was a string that holds a number, where the schema says number or integer"},
		{Path: "path", From: []byte(`"a"`), To: []byte(`"a"`), Why: `it was sent as "file_path", "filename", another name of it`},
	}
	if diff := cmp.Diff(want, repairs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestGatheredItemsAreListed checks that the list of repairs names a list whose item was sent in
// its place, and the names within the item.
func TestGatheredItemsAreListed(t *testing.T) {
	_, repairs := compile(t, editSchema).Repair(parsed(t, `{"file_path":"a","limit":1,"old_string":"x","new_text":"y"}`))
	want := []arguments.Repair{
		{Path: "edits", From: []byte(`{"new_text":"y","old_string":"x"}`), To: []byte(`[{"new_text":"y","old_text":"x"}]`), Why: "the properties of its only item were sent in its place"},
		{Path: "edits[0].old_text", From: []byte(`"x"`), To: []byte(`"x"`), Why: `it was sent as "old_string", another name of it`},
		{Path: "path", From: []byte(`"a"`), To: []byte(`"a"`), Why: `it was sent as "file_path", another name of it`},
	}
	if diff := cmp.Diff(want, repairs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestContradictingAliases checks that arguments with two values for one property are refused, with
// both names, whether or not the property is required.
func TestContradictingAliases(t *testing.T) {
	const want = `: "file_path", "filename" are other names of "path", and their values differ; send "path" alone`
	for _, schema := range []string{editSchema, strings.Replace(editSchema, `"required":["path"],"additionalProperties":false,`, "", 1)} {
		s := compile(t, schema)
		p, _ := s.Repair(parsed(t, `{"file_path":"a","filename":"b"}`))
		if err := s.Validate(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
}

// TestWithoutAliases checks that the keyword is removed where it is one, and that all else stays in
// its order.
func TestWithoutAliases(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"b":{"x-toolhost-aliases":["c"],"type":"string"}, "a":{"type":"integer" , "x-toolhost-aliases" : ["d"]}, "e":{"x-toolhost-aliases":[]}}}`: `{"properties":{"b":{"type":"string"},"a":{"type":"integer"},"e":{}}}`,
		`{"anyOf":[{"properties":{"a":{"x\u002dtoolhost-aliases":["d"],"maximum":1.50,"default":{"x-toolhost-aliases":1}}}},true]}`:                               `{"anyOf":[{"properties":{"a":{"maximum":1.50,"default":{"x-toolhost-aliases":1}}}},true]}`,
		`{"properties":{"x-toolhost-aliases":{"type":"string"}} }`:                                                                                                `{"properties":{"x-toolhost-aliases":{"type":"string"}} }`,
		`{"description":"\u00e4" }`: `{"description":"\u00e4" }`,
		`{"x-toolhost-aliases":`:    `{"x-toolhost-aliases":`,
		``:                          ``,
	} {
		if got := arguments.WithoutAliases(json.RawMessage(schema)); string(got) != want {
			t.Errorf("%s became %s, want %s", schema, got, want)
		}
	}
}

// TestUnusableAliases checks that the author of a schema is told which property has no list of
// names.
func TestUnusableAliases(t *testing.T) {
	for _, names := range []string{`"b"`, `[1]`, `{}`, `null`} {
		_, err := arguments.Compile(json.RawMessage(`{"properties":{"a":{"x-toolhost-aliases":` + names + `}}}`))
		if want := "/properties/a: x-toolhost-aliases must be a list of names"; err == nil || err.Error() != want {
			t.Errorf("%s: got %v", names, err)
		}
	}
}

// TestAliasesLeaveArgumentsSettled checks that a schema with other names still recognizes arguments
// that need no repair without the validator.
func TestAliasesLeaveArgumentsSettled(t *testing.T) {
	s := compile(t, editSchema)
	for text, want := range map[string]bool{
		`{"path":"a","limit":1,"edits":[{"old_text":"x","new_text":"y"}]}`:   true,
		`{"path":"a","limit":1,"edits":[{"old_string":"x","new_text":"y"}]}`: false,
	} {
		if got := s.Settled(parsed(t, text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
