//go:build !race

package arguments_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

var propertySeed = flag.Uint64("seed", 0, "the seed of the generated schemas and values; 0: a random one")

// misfit is a schema, and a value that does not fit it.
type misfit struct {
	schema map[string]any
	value  any
	at     string   // the path of the problem below the value, such as ".a" or "[1]"
	say    []string // what the message must contain: the value, or the name, and what is allowed
}

// drafts lists the drafts under test with the name of the schema that selects each.
var drafts = map[string]string{
	"draft-07": "http://json-schema.org/draft-07/schema#",
	"2020-12":  "https://json-schema.org/draft/2020-12/schema",
}

// examples holds a value of each type, and how a message shows it.
var examples = map[string]struct {
	value any
	shown string
}{
	"array":   {[]any{"x1", "x2", "x3"}, `["x1","x2","x3"]`},
	"boolean": {true, "true"},
	"integer": {json.Number("77"), "77"},
	"null":    {nil, "null"},
	"number":  {json.Number("7.75"), "7.75"},
	"object":  {map[string]any{"x1": "y1"}, `{"x1":"y1"}`},
	"string":  {"seventy", `"seventy"`},
}

// keyword makes misfits of one keyword. It applies to the drafts listed, or to both if there are
// none.
type keyword struct {
	name   string
	drafts []string
	make   func(r *rand.Rand) misfit
}

// fixed returns a keyword with one schema, given as JSON, and one value.
func fixed(name, schema, value, at string, say ...string) keyword {
	return keyword{name: name, make: func(*rand.Rand) misfit {
		return misfit{schema: decoded(schema).(map[string]any), value: decoded(value), at: at, say: say}
	}}
}

func in(draft string, k keyword) keyword {
	k.drafts = []string{draft}
	return k
}

func decoded(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

// keywords are all keywords of the drafts that can refuse a value.
func keywords() []keyword {
	return slices.Concat(numbers(), texts(), lists(), objects(), combinations())
}

func numbers() []keyword {
	limit := func(name string, wrong int, word string) keyword {
		return keyword{name: name, make: func(r *rand.Rand) misfit {
			n := r.IntN(1000)
			value := fmt.Sprint(n + wrong)
			return misfit{schema: map[string]any{name: n}, value: json.Number(value), say: []string{value, fmt.Sprintf("%s %d", word, n)}}
		}}
	}
	return []keyword{
		limit("minimum", -1, "at least"), limit("maximum", 1, "at most"),
		limit("exclusiveMinimum", 0, "more than"), limit("exclusiveMaximum", 0, "less than"),
		fixed("multipleOf", `{"multipleOf":7}`, `50`, "", "50", "multiple of 7"),
	}
}

func texts() []keyword {
	all := []keyword{
		fixed("minLength", `{"minLength":5}`, `"abc"`, "", `"abc"`, "at least 5 character"),
		fixed("maxLength", `{"maxLength":2}`, `"abc"`, "", `"abc"`, "at most 2 character"),
		fixed("pattern", `{"pattern":"^[0-9]+$"}`, `"abc"`, "", `"abc"`, "^[0-9]+$"),
	}
	for _, format := range []string{
		"date-time", "date", "time", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uri-template",
		"json-pointer", "relative-json-pointer", "regex",
	} {
		all = append(all, fixed("format "+format, `{"format":"`+format+`"}`, `"% <[ {"`, "", `"% <[ {"`, "valid "+format))
	}
	for _, format := range []string{"duration", "uuid"} {
		all = append(all, in("2020-12", fixed("format "+format, `{"format":"`+format+`"}`, `"% <[ {"`, "", `"% <[ {"`, "valid "+format)))
	}
	return all
}

func lists() []keyword {
	return []keyword{
		fixed("minItems", `{"minItems":2}`, `["a"]`, "", `["a"]`, "at least 2 item"),
		fixed("maxItems", `{"maxItems":1}`, `["a","b"]`, "", `["a","b"]`, "at most 1 item"),
		fixed("uniqueItems", `{"uniqueItems":true}`, `["a","b","a"]`, "", `["a","b","a"]`, "[0] and [2]"),
		fixed("contains", `{"contains":{"const":"z"}}`, `["a","b"]`, "", `["a","b"]`, `"z"`),
		fixed("items", `{"items":{"maximum":3}}`, `[1,9]`, "[1]", "9", "at most 3"),
		in("draft-07", fixed("items of a tuple", `{"items":[{"type":"string"},{"maximum":3}]}`, `["a",9]`, "[1]", "9", "at most 3")),
		in("draft-07", fixed("additionalItems", `{"items":[{}],"additionalItems":{"maximum":3}}`, `["a",9]`, "[1]", "9", "at most 3")),
		in("draft-07", fixed("additionalItems false", `{"items":[{}],"additionalItems":false}`, `["a",9]`, "", `["a",9]`, "1 item(s) less")),
		in("2020-12", fixed("prefixItems", `{"prefixItems":[{},{"maximum":3}]}`, `["a",9]`, "[1]", "9", "at most 3")),
		in("2020-12", fixed("items false", `{"prefixItems":[{}],"items":false}`, `["a",9]`, "[1]", "9", "nothing may be here")),
		in("2020-12", fixed("minContains", `{"contains":{"const":"z"},"minContains":2}`, `["z","b"]`, "", `["z","b"]`, `at least 2 item`)),
		in("2020-12", fixed("maxContains", `{"contains":{"const":"z"},"maxContains":1}`, `["z","z"]`, "", `["z","z"]`, `at most 1 item`)),
		in("2020-12", fixed("unevaluatedItems", `{"prefixItems":[{}],"unevaluatedItems":false}`, `["a",9]`, "[1]", "9", "nothing may be here")),
	}
}

func objects() []keyword {
	return []keyword{
		fixed("minProperties", `{"minProperties":2}`, `{"a":1}`, "", `{"a":1}`, "at least 2 member"),
		fixed("maxProperties", `{"maxProperties":1}`, `{"a":1,"b":2}`, "", `{"a":1,"b":2}`, "at most 1 member"),
		fixed("required", `{"required":["needed"]}`, `{"a":1}`, "", `missing "needed"`),
		fixed("properties", `{"properties":{"a":{"maximum":3}}}`, `{"a":9}`, ".a", "9", "at most 3"),
		fixed("properties false", `{"properties":{"a":false}}`, `{"a":9}`, ".a", "9", "nothing may be here"),
		fixed("patternProperties", `{"patternProperties":{"^x":{"maximum":3}}}`, `{"xy":9}`, ".xy", "9", "at most 3"),
		fixed("additionalProperties", `{"properties":{"a":{}},"additionalProperties":{"maximum":3}}`, `{"b":9}`, ".b", "9", "at most 3"),
		fixed("additionalProperties false", `{"properties":{"aa":{}},"additionalProperties":false}`, `{"zz":9}`, "", `unknown "zz"`, `"aa"`),
		fixed("propertyNames", `{"propertyNames":{"maxLength":2}}`, `{"long":9}`, "", `"long"`, "at most 2 character"),
		fixed("propertyNames pattern", `{"propertyNames":{"pattern":"^[a-z]$"}}`, `{"Long":9}`, "", `"Long"`, "^[a-z]$"),
		in("draft-07", fixed("dependencies", `{"dependencies":{"a":["needed"]}}`, `{"a":1}`, "", `missing "needed"`, `"a"`)),
		in("draft-07", fixed("dependencies of a schema", `{"dependencies":{"a":{"properties":{"b":{"maximum":3}}}}}`, `{"a":1,"b":9}`, ".b", "9", "at most 3")),
		in("2020-12", fixed("dependentRequired", `{"dependentRequired":{"a":["needed"]}}`, `{"a":1}`, "", `missing "needed"`, `"a"`)),
		in("2020-12", fixed("dependentSchemas", `{"dependentSchemas":{"a":{"properties":{"b":{"maximum":3}}}}}`, `{"a":1,"b":9}`, ".b", "9", "at most 3")),
		in("2020-12", fixed("unevaluatedProperties", `{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"zz":9}`, ".zz", "9", "nothing may be here")),
	}
}

func combinations() []keyword {
	all := []keyword{
		fixed("enum", `{"enum":["red","green",7]}`, `"blue"`, "", `"blue"`, `"red"`, `"green"`, "7"),
		fixed("const", `{"const":"red"}`, `"blue"`, "", `"blue"`, `"red"`),
		fixed("allOf", `{"allOf":[{"minimum":3},{"maximum":5}]}`, `9`, "", "9", "at most 5"),
		fixed("anyOf", `{"anyOf":[{"type":"string"},{"type":"integer","maximum":5}]}`, `true`, "", "true", "string", "integer", "at most 5"),
		fixed("oneOf none", `{"oneOf":[{"type":"string"},{"type":"integer","maximum":5}]}`, `9`, "", "9", "at most 5"),
		fixed("oneOf several", `{"oneOf":[{"minimum":1},{"maximum":5}]}`, `3`, "", "3", "exactly one"),
		fixed("not", `{"not":{"type":"string"}}`, `"blue"`, "", `"blue"`, "not"),
		fixed("if then", `{"if":{"type":"integer"},"then":{"maximum":5}}`, `9`, "", "9", "at most 5"),
		fixed("if else", `{"if":{"type":"string"},"else":{"maximum":5}}`, `9`, "", "9", "at most 5"),
		fixed("if then of an object", `{"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["needed"]}}`, `{"k":"a"}`, "", `missing "needed"`),
	}
	for name := range examples {
		for other, example := range examples {
			if name == other || name == "number" && other == "integer" {
				continue
			}
			all = append(all, keyword{name: "type " + name + " of " + other, make: func(*rand.Rand) misfit {
				return misfit{schema: map[string]any{"type": name}, value: example.value, say: []string{"must be " + name, example.shown}}
			}})
		}
	}
	return all
}

// besides are keywords that narrow a type, and the words that must be in a message on a value of
// another type.
var besides = []struct{ kind, schema, say string }{
	{"integer", `{"minimum":3}`, "at least 3"}, {"integer", `{"maximum":3}`, "at most 3"}, {"number", `{"exclusiveMinimum":3}`, "more than 3"},
	{"number", `{"exclusiveMaximum":3}`, "less than 3"}, {"integer", `{"multipleOf":3}`, "multiple of 3"},
	{"integer", `{"enum":[72,150,300]}`, "[72,150,300]"}, {"number", `{"const":4.5}`, "4.5"},
	{"string", `{"enum":["a","b"]}`, `["a","b"]`}, {"string", `{"const":"c"}`, `"c"`}, {"string", `{"minLength":9}`, "at least 9 character"},
	{"string", `{"maxLength":9}`, "at most 9 character"}, {"string", `{"pattern":"^x$"}`, "^x$"}, {"string", `{"format":"date"}`, "2026-02-28"},
	{"array", `{"minItems":4}`, "at least 4 item"}, {"array", `{"maxItems":4}`, "at most 4 item"}, {"object", `{"required":["needed"]}`, `"needed"`},
	{"boolean", `{"const":false}`, "false"},
}

// wrong returns the combinations of a narrowed type with values of all other types.
func wrong() []keyword {
	var all []keyword
	for _, b := range besides {
		for name, example := range examples {
			if name == b.kind || b.kind == "number" && name == "integer" {
				continue
			}
			all = append(all, keyword{name: b.kind + " " + b.schema + " of " + name, make: func(*rand.Rand) misfit {
				schema := decoded(b.schema).(map[string]any)
				schema["type"] = b.kind
				return misfit{schema: schema, value: example.value, say: []string{b.kind, example.shown, b.say}}
			}})
		}
	}
	return all
}

// placed is a misfit inside arguments: the schema of an object, and an object whose property does
// not fit.
type placed struct {
	root map[string]any // with $defs
	defs map[string]any
	misfit
	path string
}

// place puts a misfit at a random place: below properties, items, references and combinations.
func place(r *rand.Rand, m misfit) placed {
	p := placed{defs: map[string]any{}, misfit: m}
	schema, value := any(m.schema), m.value
	for range 1 + r.IntN(4) {
		switch r.IntN(6) {
		case 0:
			schema, value = map[string]any{"type": "array", "items": schema}, []any{value}
			p.path = "[0]" + p.path
		case 1:
			name := fmt.Sprintf("def%d", len(p.defs))
			p.defs[name], schema = schema, map[string]any{"$ref": "#/definitions/" + name}
		case 2:
			schema = map[string]any{"allOf": []any{schema, map[string]any{"title": "any"}}}
		case 3:
			schema = map[string]any{"if": map[string]any{}, "then": schema}
		default:
			name := []string{"a", "some_name", "größe", "two words"}[r.IntN(4)]
			schema, value = map[string]any{"type": "object", "properties": map[string]any{name: schema}}, map[string]any{name: value}
			p.path = token(name) + p.path
		}
	}
	name := "arg"
	p.root = map[string]any{"type": "object", "properties": map[string]any{name: schema}, "definitions": p.defs}
	p.value, p.path = map[string]any{name: value}, name+p.path+m.at
	return p
}

func token(name string) string {
	if strings.Contains(name, " ") {
		return `["` + name + `"]`
	}
	return "." + name
}

// TestEveryKeywordIsExplained checks for each keyword of both drafts, with values of all wrong
// types and at random places, that the message names the path, the value, and what is allowed.
func TestEveryKeywordIsExplained(t *testing.T) {
	seed := *propertySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -seed %d", seed)
	for draft, uri := range drafts {
		for i, k := range slices.Concat(keywords(), wrong()) {
			if len(k.drafts) > 0 && !slices.Contains(k.drafts, draft) {
				continue
			}
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range 8 {
				p := place(r, k.make(r))
				p.root["$schema"] = uri
				explained(t, draft+" "+k.name, p)
			}
		}
	}
}

func explained(t *testing.T, name string, p placed) {
	t.Helper()
	schema, err := json.Marshal(p.root)
	if err != nil {
		t.Fatal(err)
	}
	given, err := json.Marshal(p.value)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := arguments.Compile(schema)
	if err != nil {
		t.Fatalf("%s: %v in %s", name, err, schema)
	}
	parsed, err := arguments.Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	err = compiled.Validate(parsed)
	if err == nil {
		t.Errorf("%s: %s fits %s", name, given, schema)
		return
	}
	for _, text := range append([]string{"- " + p.path + ": "}, p.say...) {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: want %q in the message for %s by %s:\n%v", name, text, given, schema, err)
		}
	}
}

// TestKeywordsAreComplete compares the list of keywords with those that the metaschemas of both
// drafts define.
func TestKeywordsAreComplete(t *testing.T) {
	tested := map[string]bool{}
	for _, k := range keywords() {
		for name := range k.make(rand.New(rand.NewPCG(1, 1))).schema {
			tested[name] = true
		}
	}
	// These keywords refuse no value by themselves.
	other := "$schema $id $ref $defs $anchor $comment $vocabulary $dynamicRef $dynamicAnchor definitions title description default examples " +
		"readOnly writeOnly deprecated contentEncoding contentMediaType contentSchema"
	for draft, all := range map[string]string{
		"draft-07": "$id $schema $ref $comment title description default readOnly writeOnly examples multipleOf maximum exclusiveMaximum minimum " +
			"exclusiveMinimum maxLength minLength pattern additionalItems items maxItems minItems uniqueItems contains maxProperties minProperties " +
			"required additionalProperties definitions properties patternProperties dependencies propertyNames const enum type format " +
			"contentMediaType contentEncoding if then else allOf anyOf oneOf not",
		"2020-12": "$id $schema $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs prefixItems items contains additionalProperties " +
			"properties patternProperties dependentSchemas propertyNames if then else allOf anyOf oneOf not unevaluatedItems unevaluatedProperties " +
			"type const enum multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems " +
			"maxContains minContains maxProperties minProperties required dependentRequired title description default deprecated readOnly writeOnly " +
			"examples format contentEncoding contentMediaType contentSchema",
	} {
		for _, name := range strings.Fields(all) {
			if !tested[name] && !slices.Contains(strings.Fields(other), name) {
				t.Errorf("%s: the keyword %s is not tested", draft, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tested)) {
		if slices.Contains(strings.Fields(other), name) {
			t.Errorf("the keyword %s is tested", name)
		}
	}
}
