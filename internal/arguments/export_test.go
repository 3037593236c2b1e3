package arguments

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CompileDraft is Compile with another default draft, and with a loader of other documents.
func CompileDraft(schema json.RawMessage, draft *jsonschema.Draft, loader jsonschema.URLLoader) (*Schema, error) {
	return compile(schema, draft, loader)
}

// ParsedValue is any value that encoding/json can write, as Parse would hold it.
func ParsedValue(value any) Parsed {
	f, err := formOf(value)
	if err != nil {
		panic(err)
	}
	return Parsed{f}
}

// Thorough returns the schema without its quick form, so that the validator and the repairer look at all arguments.
func (s *Schema) Thorough() *Schema {
	thorough := *s
	thorough.quick = nil
	return &thorough
}

// Wrong says what is wrong with a text, as encoding/json and what is looked at besides it have it.
func Wrong(text []byte) error { return wrong(text) }

// MeaningOfAll is Meaning, for which all numbers are looked at.
func (p Parsed) MeaningOfAll() json.RawMessage { return meaning(p.form.canonical) }
