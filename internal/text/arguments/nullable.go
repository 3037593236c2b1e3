package arguments

import (
	"maps"
	"slices"
)

// Schemas that were made from an OpenAPI 3.0 document have its keyword nullable, which JSON Schema
// does not know. An API that they describe sends null, and expects it.

// readNullable makes each part of a schema that has "nullable": true allow null. It changes the
// document.
func readNullable(doc any) {
	eachSchema(doc, "", func(_ string, schema map[string]any) {
		if schema["nullable"] == true {
			allowNull(schema)
		}
	})
}

// allowNull makes a schema allow null beside what it allows.
func allowNull(schema map[string]any) {
	switch kinds := schema["type"].(type) {
	case string:
		if kinds != "null" {
			schema["type"] = []any{kinds, "null"}
		}
	case []any:
		if !slices.Contains(kinds, any("null")) {
			schema["type"] = append(slices.Clip(kinds), "null")
		}
	}
	isNull := func(value any) bool { return value == nil }
	if values, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(values, isNull) {
		schema["enum"] = append(slices.Clip(values), nil)
	}
	allowNullBeside(schema)
}

// moved are the keywords that allowNullBeside moves: those that may refuse null by themselves.
var moved = []string{"$ref", "allOf", "anyOf", "oneOf", "const"}

// allowNullBeside moves keywords that apply other schemas, such as a $ref, to an alternative beside
// null.
func allowNullBeside(schema map[string]any) {
	rest := map[string]any{}
	for _, keyword := range moved {
		if value, ok := schema[keyword]; ok {
			rest[keyword] = value
		}
	}
	if len(rest) == 0 {
		return
	}
	maps.DeleteFunc(schema, func(keyword string, _ any) bool { return slices.Contains(moved, keyword) })
	schema["anyOf"] = []any{map[string]any{"type": "null"}, rest}
}
