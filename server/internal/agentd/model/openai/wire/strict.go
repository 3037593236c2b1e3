package wire

import (
	"encoding/json"
	"slices"
)

// The limits of a strict schema. OpenAI has raised them over time. These are the smallest ones that
// its servers and Azure's have documented.
const (
	strictDepth      = 5
	strictProperties = 100
	strictValues     = 500 // of all enums together
)

// strictWords are the keywords of a strict schema, apart from those that Strict checks itself.
var strictWords = []string{
	"type", "title", "description", "enum", "const", "pattern", "format", "multipleOf",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
}

// strictTypes are the values of the keyword type.
var strictTypes = []string{"string", "number", "boolean", "integer", "object", "array", "null"}

// strictFormats are the values of the keyword format.
var strictFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// Strict reports whether a schema is in the part of JSON Schema that OpenAI enforces while the
// model writes. A request that asks for it with another schema is refused. Without it, the model
// only reads the schema, and the agent validates the answer.
func Strict(schema json.RawMessage) bool {
	var s strict
	root, ok := asObject(schema)
	return ok && text(root["type"]) == "object" && s.fits(schema, 0) && s.properties <= strictProperties && s.values <= strictValues
}

// strict counts what the limits apply to.
type strict struct{ properties, values int }

func asObject(data json.RawMessage) (map[string]json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data, &fields)
	return fields, err == nil && fields != nil
}

// text returns the value of a JSON string, or an empty text.
func text(data json.RawMessage) string {
	var value string
	_ = json.Unmarshal(data, &value)
	return value
}

func (s *strict) fits(schema json.RawMessage, depth int) bool {
	fields, ok := asObject(schema)
	if !ok || depth > strictDepth {
		return false
	}
	if _, ok := fields["$ref"]; ok {
		return len(fields) == 1
	}
	if _, ok := fields["anyOf"]; !ok && len(fields["type"]) == 0 {
		return false
	}
	for word, value := range fields {
		if !s.fitsWord(word, value, fields, depth) {
			return false
		}
	}
	return s.fitsType(fields)
}

func (s *strict) fitsWord(word string, value json.RawMessage, fields map[string]json.RawMessage, depth int) bool {
	switch word {
	case "properties", "$defs", "definitions":
		return s.fitAll(word == "properties", value, depth)
	case "items":
		return s.fits(value, depth+1)
	case "anyOf":
		var some []json.RawMessage
		return depth > 0 && json.Unmarshal(value, &some) == nil && len(some) > 0 &&
			!slices.ContainsFunc(some, func(one json.RawMessage) bool { return !s.fits(one, depth) })
	case "required", "additionalProperties":
		return len(fields["properties"]) > 0
	case "enum":
		var values []json.RawMessage
		fits := json.Unmarshal(value, &values) == nil && len(values) > 0
		s.values += len(values)
		return fits
	case "format":
		return slices.Contains(strictFormats, text(value))
	}
	return slices.Contains(strictWords, word)
}

// fitAll checks the schemas of an object's values.
func (s *strict) fitAll(count bool, value json.RawMessage, depth int) bool {
	all, ok := asObject(value)
	if !ok {
		return false
	}
	if count {
		s.properties += len(all)
	}
	for _, one := range all {
		if !s.fits(one, depth+1) {
			return false
		}
	}
	return true
}

// fitsType checks what a type requires. An object requires all of its properties and allows no
// others. An array has a schema for its items.
func (s *strict) fitsType(fields map[string]json.RawMessage) bool {
	types := []string{text(fields["type"])}
	if types[0] == "" && len(fields["type"]) > 0 && json.Unmarshal(fields["type"], &types) != nil {
		return false
	}
	if len(fields["type"]) > 0 && slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(strictTypes, t) }) {
		return false
	}
	if slices.Contains(types, "array") && len(fields["items"]) == 0 {
		return false
	}
	if !slices.Contains(types, "object") {
		return len(fields["properties"]) == 0
	}
	properties, ok := asObject(fields["properties"])
	var required []string
	if !ok || string(fields["additionalProperties"]) != "false" || json.Unmarshal(fields["required"], &required) != nil {
		return false
	}
	for name := range properties {
		if !slices.Contains(required, name) {
			return false
		}
	}
	return len(required) == len(properties)
}
