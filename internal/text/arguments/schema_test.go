package arguments_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

const schema = `{
	"type": "object",
	"properties": {
		"city": {"type": "string", "minLength": 1},
		"days": {"type": "integer", "minimum": 1, "maximum": 14},
		"units": {"enum": ["metric", "imperial"]},
		"places": {"type": "array", "items": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
		"code": {"type": "string", "pattern": "^[a-z]+$"}
	},
	"required": ["city"],
	"additionalProperties": false
}`

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct{ text, canonical, problem string }{
		"empty means an empty object":   {"", `{}`, ""},
		"keys are sorted":               {` {"b": 1.50, "a": {"d":1,"c":"<"}} `, `{"a":{"c":"<","d":1},"b":1.50}`, ""},
		"cut short":                     {`{"a": "x`, "", "ends too early, after 8 bytes"},
		"single quotes":                 {`{'a': 1}`, "", "double-quoted keys"},
		"an array":                      {`[1]`, "", "must be a JSON object such as {\"name\": \"value\"}, not an array"},
		"null":                          {`null`, "", "not null"},
		"two objects":                   {`{} {}`, "", "something follows the object"},
		"nested deeper than any model":  {strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), "", "nested deeper than 10000 levels"},
		"nested too deep and cut short": {`{"a":` + strings.Repeat("[", 10000), "", "nested deeper than 10000 levels"},
		"brackets in a text are text":   {`{"a":"\"` + strings.Repeat("[", 20000) + `"]`, "", "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := arguments.Parse([]byte(tc.text))
			check(t, err, tc.problem)
			if string(got.Canonical()) != tc.canonical {
				t.Errorf("canonical form %s, want %s", got.Canonical(), tc.canonical)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	compiled, err := arguments.Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ text, problem string }{
		"fits":           {`{"city":"Oslo","days":14,"units":"metric","places":[{"lat":1}],"code":"a"}`, ""},
		"missing":        {`{}`, `arguments: missing "city"`},
		"unknown":        {`{"city":"Oslo","town":"x"}`, `arguments: unknown "town"; allowed are only "city", "code", "days", "places", "units"`},
		"wrong type":     {`{"city":7}`, `city: must be string (at least 1 character(s)), but is number 7; send "7"`},
		"not an integer": {`{"city":"a","days":1.5}`, `days: must be integer (at least 1, at most 14), but is number 1.5`},
		"too large":      {`{"city":"a","days":15}`, `days: must be at most 14, but is 15`},
		"too small":      {`{"city":"a","days":0}`, `days: must be at least 1, but is 0`},
		"enum":           {`{"city":"a","units":"si"}`, `units: must be one of ["metric","imperial"], but is "si"`},
		"deep":           {`{"city":"a","places":[{"lat":1},{"lat":"x"}]}`, `places[1].lat: must be number, but is string "x"`},
		"pattern":        {`{"city":"a","code":"A"}`, "code: must match the pattern ^[a-z]+$, but is \"A\""},
		"several":        {`{"days":0}`, "arguments: missing \"city\"\n- days: must be"},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := arguments.Parse([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			check(t, compiled.Validate(parsed), tc.problem)
		})
	}
}

func TestEveryKeywordHasItsSentence(t *testing.T) {
	for schema, tc := range map[string]struct{ given, problem string }{
		`{"minLength":1}`:                         {`""`, `x: must have at least 1 character(s), but is ""`},
		`{"maxLength":1}`:                         {`"ab"`, `x: must have at most 1 character(s), but is "ab"`},
		`{"minItems":2}`:                          {`[1]`, `x: must have at least 2 item(s), but is [1]`},
		`{"maxItems":1}`:                          {`[1,2]`, `x: must have at most 1 item(s), but is [1,2]`},
		`{"minProperties":1}`:                     {`{}`, `x: must have at least 1 member(s), but is {}`},
		`{"maxProperties":0}`:                     {`{"a":1}`, `x: must have at most 0 member(s), but is {"a":1}`},
		`{"uniqueItems":true}`:                    {`[1,2,1]`, `x: must have no item twice, but [0] and [2] are equal in [1,2,1]`},
		`{"multipleOf":5}`:                        {`7`, `x: must be a multiple of 5, but is 7`},
		`{"exclusiveMinimum":1}`:                  {`1`, `x: must be more than 1, but is 1`},
		`{"exclusiveMaximum":1}`:                  {`1`, `x: must be less than 1, but is 1`},
		`{"oneOf":[{"minimum":1},{"minimum":2}]}`: {`3`, `x: must fit exactly one of the schema's alternatives (oneOf), not several, but is 3`},
		`{"not":{"const":1}}`:                     {`1`, `x: must not be what the schema excludes (not), but is 1`},
		`{"const":1}`:                             {`2`, `x: must be 1, but is 2`},
		`{"dependentRequired":{"a":["b"]}}`:       {`{"a":1}`, `x: missing "b", which must be there when "a" is`},
		`{"format":"email"}`:                      {`"me"`, `x: must be a valid email such as name@example.com, but is "me"`},
		`{"anyOf":[{"maximum":2},{"minimum":9,"multipleOf":5}]}`:       {`7`, "x: must fit one of the schema's alternatives: either x: must be at most 2, but is 7; or x: must be a multiple of 5, but is 7 and x: must be at least 9, but is 7"},
		`{"anyOf":[{"type":"null"},{"minimum":9,"multipleOf":5}]}`:     {`7`, "x: must be a multiple of 5, but is 7\n- x: must be at least 9, but is 7"},
		`{"oneOf":[{"type":"string"},{"type":["boolean","null"]}]}`:    {`7`, "x: must be string or null or boolean, but is number 7"},
		`{"contains":{"type":"string"}}`:                               {`[7,8]`, "x: must have an item that fits what the schema says of one (contains), but is [7,8]"},
		`{"contains":{"type":"string"},"minContains":2}`:               {`["a"]`, `x: must have at least 2 item(s) that fit what the schema says of them (contains), but is ["a"]`},
		`{"contains":{"type":"string"},"maxContains":1}`:               {`["a","b"]`, `x: must have at most 1 item(s) that fit`},
		`{"propertyNames":{"pattern":"^[a-z]+$"}}`:                     {`{"A":1}`, `x: the name of the property "A" must match the pattern ^[a-z]+$`},
		`{"propertyNames":false}`:                                      {`{"A":1}`, `x: a property may not have the name "A"`},
		`{"prefixItems":[true],"items":false}`:                         {`[1,2]`, `x[1]: nothing may be here, but there is 2; leave it out`},
		`{"unevaluatedProperties":false}`:                              {`{"b":2}`, `x.b: nothing may be here, but there is 2; leave it out`},
		`{"dependencies":{"a":["b"]}}`:                                 {`{"a":1}`, `x: missing "b", which must be there when "a" is`},
		`{"items":[true],"additionalItems":false}`:                     {`[1,2]`, `x: must have 1 item(s) less, but is [1,2]`},
		`{"additionalProperties":false}`:                               {`{"b":2}`, `x: unknown "b"; none is allowed`},
		`{"properties":{"a":true},"additionalProperties":false}`:       {`{"b":2}`, `x: unknown "b"; allowed are only "a"`},
		`{"patternProperties":{"^x":{}},"additionalProperties":false}`: {`{"b":2}`, `x: unknown "b"; allowed are only names that match ^x`},
	} {
		t.Run(schema, func(t *testing.T) {
			dialect := "https://json-schema.org/draft/2020-12/schema"
			// Only older drafts have these keywords.
			if strings.Contains(schema, "format") || strings.Contains(schema, "dependencies") || strings.Contains(schema, "additionalItems") {
				dialect = "http://json-schema.org/draft-07/schema#"
			}
			compiled, err := arguments.Compile(json.RawMessage(`{"$schema":"` + dialect + `","properties":{"x":` + schema + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := arguments.Parse([]byte(`{"x":` + tc.given + `}`))
			if err != nil {
				t.Fatal(err)
			}
			check(t, compiled.Validate(parsed), tc.problem)
		})
	}
}

// TestNamesAreRefusedWhereTheyAre checks that an error of propertyNames names the object that has
// the property, whatever else is validated after it.
func TestNamesAreRefusedWhereTheyAre(t *testing.T) {
	schema, err := arguments.Compile(json.RawMessage(`{"properties":{
		"list":{"items":{"$ref":"#/$defs/lower"}},
		"map":{"additionalProperties":{"anyOf":[{"$ref":"#/$defs/lower"},{"type":"string"}]}}
	},"$defs":{"lower":{"propertyNames":{"pattern":"^[a-z]$"},"additionalProperties":{"$ref":"#/$defs/lower"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := arguments.Parse(json.RawMessage(`{"list":[{"A":1},{"b":2},{"C":{"d":{"E":3}}},{"f":4}],"map":{"x":"y","z":{"G":5},"zz":{"h":6}}}`))
	if err != nil {
		t.Fatal(err)
	}
	problems := strings.Split(schema.Validate(parsed).Error(), "\n- ")[1:]
	const words = `: the name of the property "%s" must match the pattern ^[a-z]$`
	want := []string{fmt.Sprintf("list[0]"+words, "A"), fmt.Sprintf("list[2]"+words, "C"), fmt.Sprintf("list[2].C.d"+words, "E"), fmt.Sprintf("map.z"+words, "G")}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ schema, problem string }{
		"no JSON":            {`{`, "not JSON"},
		"a wrong keyword":    {`{"type":"objekt"}`, "type"},
		"a broken reference": {`{"$ref":"#/$defs/none"}`, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := arguments.Compile(json.RawMessage(tc.schema))
			check(t, err, tc.problem)
		})
	}
}

// TestCompileLoadsNothing checks that Compile asks neither the network nor a file for a reference,
// although both would answer.
func TestCompileLoadsNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked for", r.URL)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{
		`{"$ref":"` + server.URL + `/schema.json"}`,
		`{"properties":{"a":{"$dynamicRef":"` + server.URL + `/schema.json#x"}}}`,
		`{"$schema":"` + server.URL + `/dialect.json"}`,
		`{"$id":"` + server.URL + `/a.json","properties":{"a":{"$ref":"b.json"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"` + server.URL + `/schema.json"}}`,
		`{"$ref":"file://` + filepath.ToSlash(file) + `"}`,
		`{"$ref":"other.json"}`,
	} {
		t.Run(schema, func(t *testing.T) {
			_, err := arguments.Compile(json.RawMessage(schema))
			check(t, err, "a schema must stand alone")
		})
	}
}

func TestCompileEmptyAllowsNothing(t *testing.T) {
	compiled, err := arguments.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := arguments.Parse([]byte(`{"a":1}`))
	check(t, compiled.Validate(parsed), `unknown "a"`)
}

// check fails the test unless err contains problem. An empty problem means no error.
func check(t *testing.T, err error, problem string) {
	t.Helper()
	switch {
	case problem == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case problem != "" && err == nil:
		t.Errorf("no error, want one that says %q", problem)
	case problem != "" && !strings.Contains(err.Error(), problem):
		t.Errorf("the error says\n%v\nwant %q in it", err, problem)
	}
}

// TestErrorsNameWhatIsAllowed checks that a message lists the allowed values, also for a value of
// another type and for a long list.
func TestErrorsNameWhatIsAllowed(t *testing.T) {
	thousand := each(1000, func(i int) string { return fmt.Sprint(i * 10) })
	cities := each(1000, func(i int) string { return fmt.Sprintf(`"city-%d"`, i*7) })
	for _, tc := range []struct{ schema, given, want string }{
		{`{"type":"integer","enum":[72,150,300]}`, `"96"`, `v: must be integer (one of [72,150,300]), but is string "96"`},
		{`{"type":"integer","enum":[300,72,150]}`, `"96"`, `v: must be integer (one of [72,150,300]), but is string "96"`},
		{`{"type":"integer","enum":[300,150,72]}`, `96`, `v: must be one of [72,150,300], but is 96`},
		{`{"enum":["True","False"]}`, `true`, `v: must be one of ["True","False"], but is boolean true`},
		{`{"type":"boolean","enum":["True","False"]}`, `"maybe"`, `v: must be boolean (one of ["False","True"]), but is string "maybe"`},
		{`{"type":"string","const":"metric"}`, `7`, `v: must be string ("metric"), but is number 7`},
		{`{"type":"integer","allOf":[{"enum":[1,2]},{"minimum":1}]}`, `"x"`, `v: must be integer (one of [1,2]), but is string "x"`},
		{`{"anyOf":[{"type":"integer","enum":[72,150]},{"type":"null"}]}`, `"x"`, `v: must be integer (one of [72,150]) or null, but is string "x"`},
		{`{"type":"integer","enum":[` + thousand + `]}`, `5004`, `v: must be one of [5000,5010,4990,5020,4980,5030,4970,5040,4960,5050,4950,5060,4940,5070,4930,5080,4920,5090,4910,5100 and 980 more], but is 5004`},
		{`{"enum":[` + cities + `]}`, `"city-491o"`, `v: must be one of ["city-4914","city-49","city-91",`},
		{`{"type":"array","items":{"type":"string"}}`, `"x"`, `v: must be array, but is string "x"; for one item, send ["x"]`},
		{`{"type":"array","items":{"type":"string"}}`, `"[ ] x"`, `v: must be array, but is string "[ ] x"; for one item, send ["[ ] x"]`},
		{`{"type":"array","items":{"type":"string"}}`, `"['x',]"`, `v: must be array, but is string "['x',]"; send the array itself, as JSON and without quotes around it`},
		{`{"type":["array","object"]}`, `"{x: 1}"`, `v: must be array or object, but is string "{x: 1}"; send the object itself, as JSON and without quotes around it`},
		{`{"type":["array","string"]}`, `{}`, `v: must be string or array, but is object {}; for one item, send [{}]`},
		{`{"type":"object"}`, `["x"]`, `v: must be object, but is array ["x"]`},
		{`{"type":"string"}`, `1.5`, `v: must be string, but is number 1.5; send "1.5"`},
	} {
		s := compile(t, `{"properties":{"v":`+tc.schema+`}}`)
		repaired, _ := s.Repair(parsed(t, `{"v":`+tc.given+`}`))
		check(t, s.Validate(repaired), tc.want)
	}
}

// TestRefusedSchemasSayWhatIsWrong checks that the message names the location in the schema and not
// the validator's document.
func TestRefusedSchemasSayWhatIsWrong(t *testing.T) {
	for _, schema := range []string{`{"properties":{"a":{"type":"text"}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"minLength":-1}}}`} {
		_, err := arguments.Compile(json.RawMessage(schema))
		if err == nil {
			t.Fatalf("%s is accepted", schema)
		}
		if text := err.Error(); !strings.HasPrefix(text, "it is not a valid JSON Schema: at '/properties/a/") || strings.Contains(text, "metaschema") || strings.Contains(text, "##") {
			t.Errorf("%s: %s", schema, text)
		}
	}
}
