package textform

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestDefinitionsAreReadOnce reads schemas whose definitions name each other many times. A plugin
// writes them. If each reference were followed, the test would take years.
func TestDefinitionsAreReadOnce(t *testing.T) {
	many := func(ref string) string { return strings.Repeat(`{"$ref":"#/$defs/`+ref+`"},`, 200) }
	var chain strings.Builder
	for i := range 8 {
		fmt.Fprintf(&chain, `"d%d":{"anyOf":[%s{"type":"string"}]},`, i, many(fmt.Sprint("d", i+1)))
	}
	for name, defs := range map[string]string{
		"a chain":  chain.String() + `"d8":{"type":"null"}`,
		"a circle": `"d0":{"allOf":[` + many("d0") + `{"type":["string","null"]}]}`,
	} {
		types := argumentTypes(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + defs + `}}`))
		if want := typeString | typeNull; types["a"] != want {
			t.Errorf("%s permits the types %b, want %b", name, types["a"], want)
		}
	}
}
