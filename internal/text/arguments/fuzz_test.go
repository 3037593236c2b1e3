package arguments_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// FuzzPipeline passes any text through parsing, repair and validation by any schema. Nothing may
// panic, the invariants of parsing and repair must hold, and a refusal must be short, valid text.
func FuzzPipeline(f *testing.F) {
	for _, row := range readTable(f) {
		f.Add(`{"properties":{"v":`+row[0]+`}}`, `{"v":`+row[1]+`}`)
	}
	f.Add(`{"properties":{"a":{"$ref":"#","default":{}}},"allOf":[{"required":["a"]}]}`, `{"a":null}`)
	f.Add(branches(2), nested(`{"a":`, 3, "1", "}"))
	f.Add(`{"$defs":{"a":{"$dynamicAnchor":"x","type":"integer"}},"properties":{"a":{"$dynamicRef":"#x"}},"unevaluatedProperties":false}`, `{"a":"1","b":1e400}`)
	f.Add(`{"propertyNames":{"maxLength":1},"dependentSchemas":{"a":{"contains":{"const":1}}}}`, `{"a":"\ud83d\ude00","bb":[[],{}]}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"not":{}}},"items":[{}],"additionalItems":false}`, `{"a":1,"c":NaN}`)
	f.Add(`{"properties":{"a":{"enum":[{"b":[1,2]}],"format":"date","multipleOf":0.1,"uniqueItems":true}}}`, "{\"a\":[1,1.0,\"\xff\"]}")
	f.Add(editSchema, `{"file_path":"a","max":"1","edits":{"old_string":"x","new_string":null}}`)
	f.Add(editSchema, `{"filename":"a","file_path":"a","old_string":"x","new_text":"y"}`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		p, err := arguments.Parse([]byte(text))
		checkWords(t, err)
		s, bad := arguments.Compile(json.RawMessage(schema))
		if err != nil || bad != nil {
			return
		}
		checkLaws(t, s, p)
		repaired, _ := s.Repair(p)
		checkWords(t, s.Validate(p))
		checkWords(t, s.Validate(repaired))
	})
}

// checkWords checks an error that is written for a model.
func checkWords(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	words := err.Error()
	if !utf8.ValidString(words) || len(words) > 16<<10 {
		t.Fatalf("the error has %d bytes: %.300q", len(words), words)
	}
	if strings.Contains(words, "the validator gave up") || strings.HasSuffix(words, "\n- ") {
		t.Fatalf("the error says: %s", words)
	}
}
