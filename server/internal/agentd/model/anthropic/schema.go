package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// The API enforces a part of JSON Schema, and refuses a request with a schema outside of it. So a
// schema is sent in one or both of two forms. The enforced form has only the keywords of the API.
// It accepts nothing that the original refuses because of its structure, but may accept a number or
// a text that is too large. The text form is the original in the system prompt, for the model to
// read. The agent validates every answer against the original.

// The API's limits of a schema.
const (
	mostOptional = 24 // properties that are not required
	mostUnions   = 16 // anyOf, and lists of types
)

// enforced are the keywords of the API that enforce handles without looking into them, and dropped
// are those that it removes.
var (
	enforced = []string{"type", "title", "description", "default", "const", "required", "enum"}
	dropped  = []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
		"maxItems", "uniqueItems", "minProperties", "maxProperties", "examples", "$schema", "$id", "$comment", "deprecated", "readOnly", "writeOnly",
	}
	formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)

// answerIn makes the response fit a schema as far as the API can.
func (m *Model) answerIn(params *sdk.MessageNewParams, schema json.RawMessage) {
	if len(schema) == 0 || !m.generation.schemas {
		return
	}
	form, exact := enforce(schema)
	if form != nil {
		// The SDK would write the numbers of the map as texts.
		format, _ := json.Marshal(map[string]any{"type": "json_schema", "schema": form}) // decoded JSON
		params.OutputConfig.Format = param.Override[sdk.JSONOutputFormatParam](json.RawMessage(format))
	}
	if !exact {
		var text bytes.Buffer
		if json.Compact(&text, schema) == nil {
			params.System = append(params.System, sdk.TextBlockParam{
				Text: "The text of your final response must be one JSON object that fits this JSON Schema, and nothing else: " + text.String(),
			})
		}
	}
}

// enforce returns the enforced form of a schema, or nil if it has none. exact says that the form
// accepts the same as the original.
func enforce(schema json.RawMessage) (form map[string]any, exact bool) {
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	var root map[string]any
	if decoder.Decode(&root) != nil {
		return nil, false
	}
	e := &enforcing{definitions: make(map[string]any), exact: true}
	for _, keyword := range []string{"$defs", "definitions"} {
		named, _ := root[keyword].(map[string]any)
		for name, definition := range named {
			e.definitions["#/"+keyword+"/"+name] = definition
		}
		if named != nil {
			delete(root, keyword)
			defer func() { root[keyword] = named }()
		}
	}
	ok := e.schema(root, nil)
	for reference := range e.definitions {
		ok = ok && e.reference(map[string]any{}, reference, nil)
	}
	if !ok || e.optional > mostOptional || e.unions > mostUnions {
		return nil, false
	}
	return root, e.exact
}

// enforcing changes a schema in place.
type enforcing struct {
	definitions      map[string]any // by reference
	optional, unions int
	exact            bool
	done             []string // references of the definitions that are changed already
}

// schema changes one schema. path has the references that led to it. It returns false if the schema
// has no enforced form.
func (e *enforcing) schema(value any, path []string) bool {
	s, ok := value.(map[string]any)
	if !ok {
		return false // true and false
	}
	if reference, ok := s["$ref"].(string); ok {
		return e.reference(s, reference, path)
	}
	if variants, ok := s["oneOf"]; ok && s["anyOf"] == nil {
		s["anyOf"], e.exact = variants, false
		delete(s, "oneOf")
	}
	for keyword, inner := range s {
		switch {
		case slices.Contains(dropped, keyword):
			delete(s, keyword)
			e.exact = false
		case slices.Contains(enforced, keyword), keyword == "properties", keyword == "additionalProperties":
		case keyword == "items":
			ok = ok && e.schema(inner, path)
		case keyword == "anyOf", keyword == "allOf":
			ok = ok && e.all(inner, path)
		case keyword == "minItems":
			if n, isNumber := inner.(json.Number); !isNumber || (n != "0" && n != "1") {
				delete(s, keyword)
				e.exact = false
			}
		case keyword == "format":
			if name, isText := inner.(string); !isText || !slices.Contains(formats, name) {
				delete(s, keyword)
				e.exact = false
			}
		default:
			return false
		}
	}
	return ok && e.kind(s, path)
}

// kind checks what the API requires of a type. It closes objects that are open.
func (e *enforcing) kind(s map[string]any, path []string) bool {
	if _, list := s["type"].([]any); list || s["anyOf"] != nil {
		e.unions++
	}
	if s["type"] == nil && s["anyOf"] == nil && s["allOf"] == nil && s["enum"] == nil && s["const"] == nil {
		return false // anything, for which the API has no form
	}
	if s["type"] != "object" && s["properties"] == nil {
		return s["additionalProperties"] == nil
	}
	properties, ok := s["properties"].(map[string]any)
	if additional, given := s["additionalProperties"]; !ok || (given && additional != false) {
		return false // an object with names that the schema does not say
	}
	if s["additionalProperties"] == nil {
		s["additionalProperties"] = false // a narrower schema, so the answer still fits
	}
	required, _ := s["required"].([]any)
	e.optional += max(0, len(properties)-len(required))
	for _, property := range properties {
		if !e.schema(property, path) {
			return false
		}
	}
	return true
}

func (e *enforcing) all(value any, path []string) bool {
	list, ok := value.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !e.schema(one, path) })
}

// reference changes the target of a reference. The API accepts no other keyword beside it, and no
// recursion.
func (e *enforcing) reference(s map[string]any, reference string, path []string) bool {
	definition, ok := e.definitions[reference]
	if !ok || len(s) > 1 || slices.Contains(path, reference) {
		return false
	}
	if slices.Contains(e.done, reference) {
		return true
	}
	e.done = append(e.done, reference)
	return e.schema(definition, append(slices.Clone(path), reference))
}
