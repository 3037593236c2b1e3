package render

import (
	"bytes"
	"encoding/json"
)

// The keywords whose values are schemas, by the form of their value. The list is that of JSON
// Schema 2020-12 (https://json-schema.org/draft/2020-12/schema) and of draft-07. The booleans of
// additionalProperties, additionalItems, unevaluatedProperties and unevaluatedItems stay: they are
// what authors write there, and every client knows them.
var (
	schemaKeywords     = words("items", "contains", "propertyNames", "contentSchema", "not", "if", "then", "else")
	schemaListKeywords = words("items", "prefixItems", "allOf", "anyOf", "oneOf")
	schemaMapKeywords  = words("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions")
	descended          = words("additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems")
)

func words(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// maxPlainDepth bounds how deep withoutBooleans looks for schemas. Each level reads its text again,
// so that the time and the memory for a hostile schema would grow with the square of its size. No
// client is known that refuses a boolean below the first level.
const maxPlainDepth = 32

// withoutBooleans returns a schema in which each schema that is true or false has its equal as an
// object, {} or {"not":{}}. JSON Schema has both forms, and clients refuse the first: the
// TypeScript SDK of MCP then refuses the whole list of tools (go-sdk#894). A schema without such
// schemas, and what is deeper than maxPlainDepth, stays as it is.
func withoutBooleans(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte("true")) && !bytes.Contains(schema, []byte("false")) {
		return schema
	}
	if plain, changed := plainSchema(schema, maxPlainDepth); changed {
		return plain
	}
	return schema
}

// plainSchema returns the schema in the form of an object, and whether that is another text. depth
// is how many levels below it are looked at.
func plainSchema(schema json.RawMessage, depth int) (plain json.RawMessage, changed bool) {
	switch string(bytes.TrimSpace(schema)) {
	case "true":
		return json.RawMessage("{}"), true
	case "false":
		return json.RawMessage(`{"not":{}}`), true
	}
	if depth == 0 {
		return schema, false
	}
	o, ok := parseObject(schema)
	if !ok {
		return schema, false
	}
	for i, m := range o {
		value, other := m.value, false
		switch first := bytes.TrimSpace(m.value)[0]; {
		case schemaMapKeywords[m.name] && first == '{':
			value, other = plainMembers(m.value, depth-1)
		case schemaListKeywords[m.name] && first == '[':
			value, other = plainItems(m.value, depth-1)
		case schemaKeywords[m.name], descended[m.name] && first == '{':
			value, other = plainSchema(m.value, depth-1)
		}
		if other {
			o[i].value, changed = value, true
		}
	}
	if !changed {
		return schema, false
	}
	return o.text(), true
}

// plainMembers is plainSchema for each member of an object.
func plainMembers(text json.RawMessage, depth int) (json.RawMessage, bool) {
	o, ok := parseObject(text)
	changed := false
	for i := range o {
		var other bool
		o[i].value, other = plainSchema(o[i].value, depth)
		changed = changed || other
	}
	if !ok || !changed {
		return text, false
	}
	return o.text(), true
}

// plainItems is plainSchema for each item of an array.
func plainItems(text json.RawMessage, depth int) (json.RawMessage, bool) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return text, false
	}
	changed := false
	for i := range list {
		var other bool
		list[i], other = plainSchema(list[i], depth)
		changed = changed || other
	}
	if !changed {
		return text, false
	}
	return append(append(json.RawMessage{'['}, bytes.Join(raw(list), []byte{','})...), ']'), true
}

func raw(list []json.RawMessage) [][]byte {
	texts := make([][]byte, len(list))
	for i, item := range list {
		texts[i] = item
	}
	return texts
}
