package conformance

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// deepest bounds the depth of a value that is made from a schema.
const deepest = 20

// sample makes small arguments from a schema: the required properties, with values that probably
// fit. The caller must validate them.
func sample(schema json.RawMessage) (json.RawMessage, bool) {
	if len(schema) == 0 {
		return json.RawMessage("{}"), true
	}
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return nil, false
	}
	made, err := json.Marshal((&sampler{root: root}).value(root, 0))
	return made, err == nil
}

type sampler struct{ root any }

func (s *sampler) value(schema any, depth int) any {
	m, ok := schema.(map[string]any)
	if !ok || depth > deepest {
		return nil
	}
	if ref, ok := m["$ref"].(string); ok {
		return s.value(s.resolve(ref), depth+1)
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := m[key]; ok {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if list, ok := m[key].([]any); ok && len(list) > 0 {
			return list[0]
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := m[key].([]any); ok && len(list) > 0 && m["properties"] == nil {
			return s.value(list[0], depth+1)
		}
	}
	switch typeOf(m) {
	case "string":
		return s.text(m)
	case "integer":
		return number(m, true)
	case "number":
		return number(m, false)
	case "boolean":
		return false
	case "array":
		return s.list(m, depth)
	case "object":
		return s.object(m, depth)
	default:
		return nil
	}
}

func (s *sampler) resolve(ref string) any {
	at := s.root
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

func (s *sampler) object(m map[string]any, depth int) any {
	made := map[string]any{}
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			made[name] = s.value(properties[name], depth+1)
		}
	}
	return made
}

func (s *sampler) list(m map[string]any, depth int) any {
	made := []any{}
	least, _ := m["minItems"].(float64)
	for range int(min(least, 100)) {
		made = append(made, s.value(m["items"], depth+1))
	}
	return made
}

func (s *sampler) text(m map[string]any) string {
	switch m["format"] {
	case "date":
		return "2024-02-29"
	case "date-time":
		return "2024-02-29T12:00:00Z"
	case "uri", "url":
		return "https://example.com/"
	case "email":
		return "somebody@example.com"
	}
	text := "text"
	if least, ok := m["minLength"].(float64); ok && int(least) > len(text) {
		text = strings.Repeat("x", int(min(least, 1<<16)))
	}
	if most, ok := m["maxLength"].(float64); ok && int(most) < len(text) {
		text = text[:int(max(most, 0))]
	}
	return text
}

func number(m map[string]any, whole bool) any {
	value := 1.0
	if low, ok := m["minimum"].(float64); ok {
		value = max(value, low)
	}
	if low, ok := m["exclusiveMinimum"].(float64); ok && value <= low {
		value = low + 1
	}
	if high, ok := m["maximum"].(float64); ok {
		value = min(value, high)
	}
	if step, ok := m["multipleOf"].(float64); ok && step > 0 {
		value = math.Ceil(value/step) * step
	}
	if whole {
		return int64(math.Ceil(value))
	}
	return value
}

// typeOf returns the first type of a schema that is not null.
func typeOf(m map[string]any) string {
	switch t := m["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	case nil:
		if m["properties"] != nil {
			return "object"
		}
	}
	return ""
}

// withText returns the arguments with that text in the first property that accepts any text, and
// whether there is such a property.
func withText(schema, arguments json.RawMessage, text string) (json.RawMessage, bool) {
	var s struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	var values map[string]any
	if json.Unmarshal(schema, &s) != nil || json.Unmarshal(arguments, &values) != nil {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if typeOf(p) != "string" || p["enum"] != nil || p["const"] != nil || p["pattern"] != nil || p["format"] != nil || p["maxLength"] != nil {
			continue
		}
		values[name] = text
		made, err := json.Marshal(values)
		return made, err == nil
	}
	return nil, false
}
