//go:build !race

package arguments_test

import (
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// doubled returns a schema that refers to two others, each of which refers to two others, and so
// on.
func doubled(n int) string {
	var b strings.Builder
	b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range n {
		next := `{"$ref":"#/$defs/d` + strconv.Itoa(i+1) + `"}`
		b.WriteString(`"d` + strconv.Itoa(i) + `":{"allOf":[` + next + `,` + next + `]},`)
	}
	return b.String() + `"d` + strconv.Itoa(n) + `":{"type":"integer"}}}`
}

// TestHostileArguments checks that hostile texts and schemas get a correct or clear answer, after
// bounded work and in bounded memory.
func TestHostileArguments(t *testing.T) {
	const tree = `{"properties":{"a":{"$ref":"#"}},"type":["object","integer"]}`
	const integers = `{"properties":{"a":{"items":{"type":"integer"}}}}`
	for name, tc := range map[string]struct{ schema, text, problem string }{
		"as deep as can be":                {tree, nested(`{"a":`, 10_000, "1", "}"), ""},
		"deeper":                           {tree, nested(`{"a":`, 10_001, "1", "}"), "nested deeper than 10000 levels"},
		"wrong at the bottom":              {tree, nested(`{"a":`, 200, `"x"`, "}"), "must be integer or object, but is string \"x\""},
		"wrong at the deepest bottom":      {tree, nested(`{"a":`, 9_999, `"x"`, "}"), "does not fit the schema, and is too large to say why"},
		"wrong everywhere":                 {`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, nested(`{"b":1,"a":`, 9_999, `1`, "}"), "does not fit"},
		"arrays that nothing is said of":   {`{}`, `{"a":` + nested("[", 9_999, "", "]") + `}`, ""},
		"alternatives without end":         {branches(8), nested(`{"a":`, 40, "1", "}"), "checking would take too long"},
		"alternatives that all go deeper":  {`{"anyOf":[{"type":"integer"}` + strings.Repeat(`,{"properties":{"a":{"$ref":"#"}},"type":"object"}`, 8) + `]}`, nested(`{"a":`, 40, `"x"`, "}"), "checking would take too long"},
		"a long text counted too often":    {`{"properties":{"a":{"allOf":[{"maxLength":9999999}` + strings.Repeat(`,{"maxLength":9999999}`, 2500) + `]}}}`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "checking would take too long"},
		"a long text looked at too often":  {`{"properties":{"a":{"allOf":[{}` + strings.Repeat(`,{"not":{"type":"integer"}}`, 1200) + `]}}}`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "checking would take too long"},
		"alternatives of some":             {branches(3), nested(`{"a":`, 4, "1", "}"), "must fit one of the schema's alternatives"},
		"a schema that doubles":            {doubled(40), `{"a":1}`, "checking would take too long"},
		"a schema that doubles a little":   {doubled(10), `{"a":"x"}`, "a: must be integer, but is string \"x\""},
		"a large array":                    {integers, `{"a":[1` + strings.Repeat(",1", 1<<15) + `]}`, ""},
		"a large array of wrong items":     {integers, `{"a":["x"` + strings.Repeat(`,"x"`, 1<<16) + `]}`, "a[0]: must be integer, but is string \"x\"\n- a[1]: "},
		"a large array, wrong at its end":  {integers, `{"a":[1` + strings.Repeat(",1", 1<<16-1) + `,"x"]}`, "a[65536]: must be integer, but is string"},
		"a larger array":                   {`{}`, `{"a":[1` + strings.Repeat(",1", 1<<18) + `]}`, "more than 262144 values"},
		"large and all the same":           {`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[` + strings.Repeat(`[1,2,3],`, 1<<15) + `0]}`, "no item twice"},
		"a long text":                      {`{"properties":{"a":{"pattern":"^(a+)+$"}}}`, `{"a":"` + strings.Repeat("a", 1<<18) + `b"}`, "must match the pattern"},
		"a long name":                      {`{"additionalProperties":false}`, `{"` + strings.Repeat("a", 1<<16) + `":1}`, "arguments: unknown \"aaa"},
		"a longer name":                    {`{}`, `{"a":{"` + strings.Repeat("a", 1<<16+1) + `":1}}`, "has more than 65536 bytes; send long texts as values"},
		"many names":                       {`{"additionalProperties":false}`, `{"a":1` + manyNames(20_000) + `}`, "more; none is allowed"},
		"a property twice":                 {`{}`, `{"a":{"b":1,"c":[{"d":":"}],"b":2}}`, `the property "b" stands twice in an object, the second time before byte 31`},
		"a property twice, escaped":        {`{}`, `{"a":1,"\u0061":2}`, `the property "a" stands twice`},
		"one name in two objects":          {`{}`, `{"a":{"a":1},"b":[{"a":1},{"a":":{"}]}`, ""},
		"NaN":                              {`{}`, `{"a":NaN}`, "JSON has no NaN"},
		"Infinity":                         {`{}`, `{"a":-Infinity}`, "JSON has no NaN and no Infinity"},
		"half a character":                 {`{}`, `{"a":"x\ud83d"}`, `\ud83d at byte 7 is half of a surrogate pair`},
		"half a character, the other half": {`{}`, `{"a":"\ude00x"}`, `\ude00 at byte 6 is half of a surrogate pair`},
		"half a character in a name":       {`{}`, `{"\ud83dx":1}`, "at byte 2 is half of a surrogate pair"},
		"two first halves":                 {`{}`, `{"a":"\ud83d\ud83d\ude00"}`, "at byte 6 is half of a surrogate pair"},
		"both halves":                      {`{}`, `{"a":"\ud83d\ude00\uD83D\uDE00 \\ud83d"}`, ""},
		"no UTF-8":                         {`{}`, "{\"a\":\"x\xff\"}", `not valid UTF-8 from byte 7 on: "\xff\"}"`},
		"half of an UTF-8 sequence":        {`{}`, "{\"a\":\"\xe2\x82\"}", "not valid UTF-8 from byte 6 on"},
		"a byte order mark":                {`{}`, "\uFEFF{}", "a byte order mark"},
		"text behind":                      {`{}`, `{"a":1} I hope this helps!`, `something follows the object at byte 7: "I hope this helps!"`},
		"NUL behind":                       {`{}`, "{}\x00", "something follows the object at byte 2"},
		"an exponent":                      {`{"properties":{"a":{"minimum":3}}}`, `{"a":{"b":[0,1e9999999]}}`, "a.b[1]: the number 1e9999999 is"},
		"a tiny exponent":                  {`{"properties":{"a":{"minimum":3}}}`, `{"a":1E-9999999}`, "a: the number 1E-9999999 is"},
		"an exponent beyond exponents":     {`{}`, `{"a":1e99999999999999999999}`, "a: the number 1e99999999999999999999 is"},
		"many digits":                      {`{"properties":{"a":{"minimum":3}}}`, `{"a":` + strings.Repeat("7", 1<<22) + `}`, "more than 2000 digits"},
		"as many digits as may be":         {`{"properties":{"a":{"minimum":3}}}`, `{"a":` + strings.Repeat("7", 308) + `}`, ""},
		"as many digits as may be behind":  {`{"properties":{"a":{"minimum":3}}}`, `{"a":7.` + strings.Repeat("7", 1998) + `}`, ""},
		"more digits":                      {`{"properties":{"a":{"minimum":3}}}`, `{"a":` + strings.Repeat("7", 310) + `}`, "is beyond ±1.8e308"},
		"the largest float64":              {`{}`, `{"a":[1.7976931348623157e308,-1.7976931348623157E+308]}`, ""},
		"a number beyond float64":          {`{}`, `{"a":1.8e308}`, "a: the number 1.8e308 is beyond ±1.8e308"},
		"a number below float64":           {`{}`, `{"a":{"b":[-1e309]}}`, "a.b[0]: the number -1e309 is beyond"},
		"a text of a number beyond":        {`{"properties":{"a":{"type":"number"}}}`, `{"a":"1e309"}`, "a: must be number, but is string \"1e309\""},
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, tc.schema)
			used := allocated(func() {
				p, err := arguments.Parse([]byte(tc.text))
				if err == nil {
					_, _ = s.Repair(p)
					err = s.Validate(p)
				}
				check(t, err, tc.problem)
				if err != nil && len(err.Error()) > 4096 {
					t.Errorf("the error has %d bytes:\n%.300s", len(err.Error()), err)
				}
			})
			if used > 1<<30 {
				t.Errorf("%d MiB of memory were taken", used>>20)
			}
		})
	}
}

// allocated returns the number of bytes that f allocates in total.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileSchemas checks that Compile refuses a schema by which no arguments could be checked.
func TestHostileSchemas(t *testing.T) {
	for name, tc := range map[string]struct{ schema, problem string }{
		"itself":                {`{"$ref":"#"}`, "refers to itself without end"},
		"itself, by two":        {`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[true,{"$ref":"#"}]}}}`, "refers to itself without end"},
		"itself, with an id":    {`{"allOf":[{"$id":"x:y","$ref":"toolhost:///schema.json"}]}`, "refers to itself without end"},
		"itself, dynamically":   {`{"$dynamicAnchor":"x","$dynamicRef":"#x"}`, "refers to itself without end"},
		"itself, recursively":   {`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"$recursiveRef":"#"}`, "refers to itself without end"},
		"a huge bound":          {`{"properties":{"a":{"minimum":1e9999999}}}`, "properties.a.minimum: the number 1e9999999 is too large"},
		"a huge constant":       {`{"const":1e9999999}`, "const: the number 1e9999999 is too large"},
		"a divisor of zero":     {`{"multipleOf":0}`, "exclusiveMinimum"},
		"a pattern without end": {`{"pattern":"("}`, "pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := arguments.Compile(json.RawMessage(tc.schema))
			check(t, err, tc.problem)
		})
	}
}
