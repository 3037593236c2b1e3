//go:build !race

package arguments_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fitting are arguments that fit the schemas in testdata/sdk. The SDKs generate those schemas for
// the same parameters; a test in server/internal/e2e/languages keeps them current.
const fitting = `{"count":7,"price":1.5,"color":"red","resolution":150,"code":"abc","tags":["t"],"address":{"street":"s","zip":"12345"},` +
	`"labels":{"l":1},"urgent":true,"when":"2026-02-28T15:04:05Z"}`

// sdkParameter is a parameter of the schemas in testdata/sdk. It lists the types that the parameter
// accepts, the names that a message about any other type must contain, and values of the right type
// that do not fit, each with the names that the message must contain.
type sdkParameter struct {
	path   string
	types  []string
	says   []string
	values map[string][]string
}

var sdkParameters = []sdkParameter{
	{"count", []string{"integer"}, []string{"integer", "at least 1", "at most 100"}, map[string][]string{`0`: {"0", "at least 1"}, `101`: {"101", "at most 100"}, `7.5`: {"7.5", "integer"}}},
	{"price", []string{"number", "integer"}, []string{"number", "at least 0.5"}, map[string][]string{`0.25`: {"0.25", "at least 0.5"}}},
	{"color", []string{"string"}, []string{`"red"`, `"green"`, `"blue"`}, map[string][]string{`"rad"`: {`"rad"`, `["red","green","blue"]`}}},
	{"resolution", []string{"number", "integer"}, []string{"72", "150", "300"}, map[string][]string{`151`: {"151", "[150,72,300]"}}},
	{"code", []string{"string"}, []string{"string", "^[a-z]+$"}, map[string][]string{`"A"`: {`"A"`, "^[a-z]+$"}}},
	{"tags", []string{"array"}, []string{"array", "at least 1 item", "at most 3 item"}, map[string][]string{
		`[]`: {"[]", "at least 1 item"}, `["a","b","c","d"]`: {`["a","b","c","d"]`, "at most 3 item"},
	}},
	{"tags[0]", []string{"string"}, []string{"string"}, nil},
	{"address", []string{"object"}, []string{"object", `"street"`, `"zip"`}, map[string][]string{
		`{"street":"s"}`: {`missing "zip"`}, `{"street":"s","zip":"12345","cite":"c"}`: {`unknown "cite"`, `"street", "zip"`},
	}},
	{"address.street", []string{"string"}, []string{"string", "at least 1 character"}, map[string][]string{`""`: {`""`, "at least 1 character"}}},
	{"address.zip", []string{"string"}, []string{"string", "^[0-9]{5}$"}, map[string][]string{`"1"`: {`"1"`, "^[0-9]{5}$"}}},
	{"labels", []string{"object"}, []string{"object"}, nil},
	{"labels.l", []string{"integer"}, []string{"integer"}, map[string][]string{`1.5`: {"1.5", "integer"}}},
	{"urgent", []string{"boolean"}, []string{"boolean"}, nil},
	{"when", []string{"string"}, []string{"string", "date-time", "2026-02-28T15:04:05Z"}, map[string][]string{`"2026-02-30"`: {`"2026-02-30"`, "date-time", "2026-02-28T15:04:05Z"}}},
	{"note", []string{"string"}, []string{"string", "at most 20 character"}, map[string][]string{`"123456789012345678901"`: {`"123456789012345678901"`, "at most 20 character"}}},
	{"parent", []string{"integer", "null"}, []string{"integer", "null"}, map[string][]string{`7.5`: {"7.5", "integer", "null"}}},
}

// TestSchemasOfSDKsAreExplained checks for the schemas of the three SDKs, with values of all wrong
// types and others that do not fit, that the message names the path, the value, and what is
// allowed.
func TestSchemasOfSDKsAreExplained(t *testing.T) {
	for _, language := range []string{"go", "python", "typescript"} {
		schema, err := os.ReadFile(filepath.Join("testdata", "sdk", language+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := compile(t, string(schema)).Validate(parsed(t, fitting)); err != nil {
			t.Errorf("%s: %v", language, err)
		}
		for _, p := range sdkParameters {
			for name, example := range examples {
				if !slices.Contains(p.types, name) {
					refuses(t, language, string(schema), p.path, example.value, append([]string{example.shown}, p.says...))
				}
			}
			for value, says := range p.values {
				refuses(t, language, string(schema), p.path, decoded(value), says)
			}
		}
		for name := range decoded(fitting).(map[string]any) {
			given := maps.Clone(decoded(fitting).(map[string]any))
			delete(given, name)
			checkRefusal(t, language, string(schema), given, []string{"- arguments: ", "missing", `"` + name + `"`})
		}
	}
}

// refuses checks the message for arguments that fit but for the value at a path.
func refuses(t *testing.T, language, schema, path string, value any, says []string) {
	t.Helper()
	given := decoded(fitting)
	given.(map[string]any)["note"], given.(map[string]any)["parent"] = "n", nil
	put(given, strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), "."), value)
	checkRefusal(t, language, schema, given, append([]string{"- " + path + ": "}, says...))
}

// put replaces the value at a path.
func put(v any, path []string, value any) {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			v[path[0]] = value
			return
		}
		put(v[path[0]], path[1:], value)
	case []any:
		v[0] = value
	}
}

func checkRefusal(t *testing.T, language, schema string, given any, says []string) {
	t.Helper()
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	err = compile(t, schema).Validate(parsed(t, string(text)))
	if err == nil {
		t.Errorf("%s: %s fits", language, text)
		return
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q in the message for %s:\n%v", language, want, text, err)
		}
	}
}
