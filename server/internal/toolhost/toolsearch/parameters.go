package toolsearch

import (
	"encoding/json"
	"maps"
	"slices"
)

// parametersOf returns the names of all properties of a schema, at any depth, and their texts:
// titles, descriptions, and allowed values that are strings.
func parametersOf(schema json.RawMessage) (names, texts []string) {
	var root any
	if len(schema) == 0 || json.Unmarshal(schema, &root) != nil {
		return nil, nil
	}
	return parameters(root, names, texts)
}

// parameters appends the property names and texts of a schema to names and texts. It visits
// keywords in sorted order, so that equal schemas give equal results.
func parameters(schema any, names, texts []string) (allNames, allTexts []string) {
	switch node := schema.(type) {
	case map[string]any:
		for _, keyword := range slices.Sorted(maps.Keys(node)) {
			value := node[keyword]
			switch keyword {
			case "properties", "$defs", "definitions":
				below, _ := value.(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(below)) {
					if keyword == "properties" {
						names = append(names, name)
					}
					names, texts = parameters(below[name], names, texts)
				}
			case "description", "title":
				if text, ok := value.(string); ok {
					texts = append(texts, text)
				}
			case "enum":
				values, _ := value.([]any)
				for _, v := range values {
					if text, ok := v.(string); ok {
						texts = append(texts, text)
					}
				}
			case "items", "prefixItems", "oneOf", "anyOf", "allOf", "additionalProperties", "patternProperties":
				names, texts = parameters(value, names, texts)
			}
		}
	case []any:
		for _, element := range node {
			names, texts = parameters(element, names, texts)
		}
	}
	return names, texts
}
