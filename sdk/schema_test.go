package sdk_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
)

// inputOf returns the input schema of a function.
func inputOf[In any](t *testing.T) string {
	t.Helper()
	tool := sdk.Func(sdk.Spec{Name: "x", Description: "x"}, func(context.Context, In) (string, error) { return "", nil })
	if err := (sdk.Plugin{Name: "p", Tools: []sdk.Tool{tool}}).Validate(); err != nil {
		t.Fatal(err)
	}
	return string(tool.Spec().InputSchema)
}

type nested struct {
	Lat float64 `json:"lat" minimum:"-90" maximum:"90"`
	Lon float64 `json:"lon"`
}

type embedded struct {
	Page int `json:"page,omitempty" default:"1"`
}

func TestInputSchema(t *testing.T) {
	tests := map[string]struct{ got, want string }{
		"no properties": {inputOf[struct{}](t), `{"type":"object","properties":{},"additionalProperties":false}`},
		"order, description, required, optional": {
			inputOf[struct {
				Z string `json:"z" jsonschema:"the last letter, <b>"`
				A int    `json:"a,omitempty"`
				M bool   `json:"m,omitzero"`
				H string `json:"-"`
				_ string
			}](t),
			`{"type":"object","properties":{"z":{"type":"string","description":"the last letter, <b>"},"a":{"type":"integer"},"m":{"type":"boolean"}},"required":["z"],"additionalProperties":false}`,
		},
		"tags": {
			inputOf[struct {
				Days  int      `json:"days" default:"1" minimum:"1" maximum:"14"`
				Units string   `json:"units" enum:"metric,imperial" default:"metric"`
				Code  string   `json:"code" pattern:"^[a-z]+$" minLength:"2" maxLength:"5" examples:"ab,cd"`
				Tags  []string `json:"tags,omitempty" minItems:"1" maxItems:"3" enum:"[\"a,b\",\"c\"]" default:"[\"c\"]"`
				Level int      `json:"level,omitempty" enum:"1,2,3"`
				Mail  string   `json:"mail,omitempty" format:"email" aliases:"e-mail,address"`
			}](t),
			`{"type":"object","properties":{` +
				`"days":{"type":"integer","default":1,"minimum":1,"maximum":14},` +
				`"units":{"type":"string","default":"metric","enum":["metric","imperial"]},` +
				`"code":{"type":"string","examples":["ab","cd"],"minLength":2,"maxLength":5,"pattern":"^[a-z]+$"},` +
				`"tags":{"type":"array","items":{"type":"string","enum":["a,b","c"]},"default":["c"],"minItems":1,"maxItems":3},` +
				`"level":{"type":"integer","enum":[1,2,3]},` +
				`"mail":{"type":"string","format":"email","x-toolhost-aliases":["e-mail","address"]}},` +
				`"required":["code"],"additionalProperties":false}`,
		},
		"nested, at every depth": {
			inputOf[struct {
				Places map[string][]nested `json:"places"`
				embedded
			}](t),
			`{"type":"object","properties":{"places":{"type":"object","additionalProperties":{"type":"array","items":` +
				`{"type":"object","properties":{"lat":{"type":"number","minimum":-90,"maximum":90},"lon":{"type":"number"}},"required":["lat","lon"],"additionalProperties":false}}},` +
				`"page":{"type":"integer","default":1}},"required":["places"],"additionalProperties":false}`,
		},
		"other types": {
			inputOf[struct {
				When time.Time        `json:"when"`
				Any  json.RawMessage  `json:"any"`
				Opt  *int             `json:"opt,omitempty"`
				May  *json.RawMessage `json:"may,omitempty"`
				Raw  []byte           `json:"raw"`
				Addr netip.Addr       `json:"addr"`
				Free any              `json:"free"`
				Map  map[string]int   `json:"map"`
				Pair [2]int           `json:"pair"`
			}](t),
			`{"type":"object","properties":{"when":{"type":"string","format":"date-time"},"any":true,"opt":{"type":["null","integer"]},"may":true,` +
				`"raw":{"type":"string","contentEncoding":"base64"},"addr":{"type":"string"},"free":true,` +
				`"map":{"type":"object","additionalProperties":{"type":"integer"}},"pair":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}},` +
				`"required":["when","any","raw","addr","free","map","pair"],"additionalProperties":false}`,
		},
		"a pointer":   {inputOf[*embedded](t), `{"type":"object","properties":{"page":{"type":"integer","default":1}},"additionalProperties":false}`},
		"raw":         {inputOf[json.RawMessage](t), `{"type":"object"}`},
		"a map":       {inputOf[map[string]any](t), `{"type":"object","additionalProperties":true}`},
		"typed twice": {inputOf[struct{ A, B nested }](t), `{"type":"object","properties":{"A":` + nestedSchema + `,"B":` + nestedSchema + `},"required":["A","B"],"additionalProperties":false}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(ordered(t, tt.want), ordered(t, tt.got)); diff != "" {
				t.Errorf("schema (-want +got):\n%s\n%s", diff, tt.got)
			}
		})
	}
}

const nestedSchema = `{"type":"object","properties":{"lat":{"type":"number","minimum":-90,"maximum":90},"lon":{"type":"number"}},"required":["lat","lon"],"additionalProperties":false}`

// ordered returns a schema in a form that shows the order of its properties. The SDK promises that
// order; the order of keywords is the library's.
func ordered(t *testing.T, schema string) string {
	t.Helper()
	text := canonical(t, schema)
	if strings.Contains(schema, `"properties":{`) {
		text = strings.Join(propertyNames(t, schema), "\n") + "\n" + text
	}
	return text
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// propertyNames returns the names in the outermost "properties", in order.
func propertyNames(t *testing.T, schema string) []string {
	t.Helper()
	var s struct{ Properties json.RawMessage }
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(s.Properties)))
	var names []string
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func TestOutputSchema(t *testing.T) {
	type out struct {
		List []string       `json:"list"`
		Map  map[string]int `json:"map,omitempty"`
		P    *int           `json:"p"`
	}
	spec := sdk.Spec{Name: "x", Description: "x"}
	withStruct := sdk.Func(spec, func(context.Context, struct{}) (*out, error) { return nil, nil })
	want := `{"type":"object","properties":{"list":{"type":["null","array"],"items":{"type":"string"}},` +
		`"map":{"type":["null","object"],"additionalProperties":{"type":"integer"}},"p":{"type":["null","integer"]}},"required":["list","p"],"additionalProperties":false}`
	if diff := cmp.Diff(canonical(t, want), canonical(t, string(withStruct.Spec().OutputSchema))); diff != "" {
		t.Error(diff)
	}
	for name, tool := range map[string]sdk.Tool{
		"string":  sdk.Func(spec, func(context.Context, struct{}) (string, error) { return "", nil }),
		"Result":  sdk.Func(spec, func(context.Context, struct{}) (*sdk.Result, error) { return nil, nil }),
		"Content": sdk.Func(spec, func(context.Context, struct{}) (sdk.Content, error) { return sdk.Content{}, nil }),
		"nothing": sdk.Func(spec, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }),
		"time":    sdk.Func(spec, func(context.Context, struct{}) (time.Time, error) { return time.Time{}, nil }),
	} {
		if got := tool.Spec().OutputSchema; got != nil {
			t.Errorf("%s: output schema %s, want none", name, got)
		}
	}
}
