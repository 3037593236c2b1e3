package arguments

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CompileDraft is Compile with another default draft, and with a loader of other documents.
func CompileDraft(schema json.RawMessage, draft *jsonschema.Draft, loader jsonschema.URLLoader) (*Schema, error) {
	return compile(schema, draft, loader)
}

// ParsedValue is any value as Parse would hold it.
func ParsedValue(value any) Parsed {
	return Parsed{value: value}
}

// Thorough returns the schema without its quick form, so that the validator and the repairer look at all arguments.
func (s *Schema) Thorough() *Schema {
	thorough := *s
	thorough.quick = nil
	return &thorough
}
