package arguments_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

func TestUndeclared(t *testing.T) {
	const deck = `{"properties":{"deck_type":{"type":"string","default":"normal"},"count":{"type":"integer"},"limit":{}}}`
	one := func(path, like string) []arguments.Undeclared {
		return []arguments.Undeclared{{Path: path, Like: like}}
	}
	for name, tc := range map[string]struct {
		schema, given string
		want          []arguments.Undeclared
	}{
		"a letter more":                {deck, `{"deck_types":"x"}`, one("deck_types", "deck_type")},
		"camel case":                   {deck, `{"deckType":"x"}`, one("deckType", "deck_type")},
		"swapped letters":              {deck, `{"conut":1}`, one("conut", "count")},
		"both":                         {deck, `{"deck_type":"a","deck_types":"x"}`, nil},
		"resembling none":              {deck, `{"color":"red"}`, nil},
		"nothing undeclared":           {deck, `{"deck_type":"a"}`, nil},
		"behind a reference":           {`{"$ref":"#/$defs/d","$defs":{"d":` + deck + `}}`, `{"deck_types":"x"}`, one("deck_types", "deck_type")},
		"in an object":                 {`{"properties":{"a":` + deck + `}}`, `{"a":{"deck_types":"x"}}`, one("a.deck_types", "deck_type")},
		"in an item":                   {`{"properties":{"a":{"items":` + deck + `}}}`, `{"a":[{},{"limits":1}]}`, one("a[1].limits", "limit")},
		"declared by another part":     {`{"allOf":[` + deck + `,{"properties":{"limits":{}}}]}`, `{"limits":1}`, nil},
		"declared by an alternative":   {`{"anyOf":[` + deck + `,{"properties":{"limits":{}}}]}`, `{"limits":1}`, nil},
		"declared by a condition":      {`{"properties":{"limit":{}},"if":{"required":["x"]},"then":{"properties":{"limits":{}}}}`, `{"limits":1}`, nil},
		"matched by a pattern":         {`{"properties":{"limit":{}},"patternProperties":{"^limits?$":{}}}`, `{"limits":1}`, nil},
		"a map with some known keys":   {`{"properties":{"limit":{}},"additionalProperties":{"type":"integer"}}`, `{"limits":1}`, nil},
		"a closed object":              {`{"properties":{"limit":{}},"additionalProperties":false}`, `{"limits":1}`, nil},
		"open on purpose":              {`{"properties":{"limit":{}},"additionalProperties":true}`, `{"limits":1}`, one("limits", "limit")},
		"a schema that refers to more": {`{"properties":{"limit":{},"next":{"$ref":"#"}}}`, `{"next":{"next":{"limits":1}}}`, one("next.next.limits", "limit")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, compile(t, tc.schema).Undeclared(parsed(t, tc.given))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestErrorsSayWhatWasMisspelled checks the message for a required argument with a misspelled name,
// and for a name that is not allowed.
func TestErrorsSayWhatWasMisspelled(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"deck_type":{}},"required":["deck_type"]}`:                              "deck_types: is not declared; did you mean \"deck_type\"?\n- arguments: missing \"deck_type\"",
		`{"properties":{"deck_type":{}},"required":["deck_type"],"additionalProperties":false}`: `unknown "deck_types", "n"; allowed are only "deck_type"; did you mean "deck_type" instead of "deck_types"?`,
		`{"properties":{"deck_type":{},"n":{"type":"integer"}}}`:                                `deck_types: is not declared; did you mean "deck_type"?`,
	} {
		s := compile(t, schema)
		check(t, s.Validate(parsed(t, `{"deck_types":"x","n":"many"}`)), want)
	}
}

// TestUndeclaredIsBounded checks that many names, many schemas, and schemas that contain themselves
// take bounded work.
func TestUndeclaredIsBounded(t *testing.T) {
	many := `{"properties":{` + each(2000, func(i int) string { return fmt.Sprintf(`"name_%d":{}`, i*1000) }) + `}}`
	s := compile(t, many)
	if got := s.Undeclared(parsed(t, `{"a":0`+manyNames(20_000)+`}`)); len(got) > 20 {
		t.Errorf("%d were found", len(got))
	}
	self := compile(t, branches(8))
	self.Undeclared(parsed(t, nested(`{"a":`, 2000, `{"b":1}`, "}")))
	wrong := `{"x":0`
	for i := range 100 {
		wrong += fmt.Sprintf(`,"nmae_%d":0`, i*1000)
	}
	if got := s.Undeclared(parsed(t, wrong+`}`)); len(got) != 20 {
		t.Errorf("%d were found", len(got))
	}
}
