package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// formOf returns the schema of an answer as MCP clients accept it: an object whose properties are
// texts, numbers, booleans, or choices among texts. It keeps the properties as they are, with their
// order, and leaves out other keywords of the object, because toolhost itself checks the answer. It
// returns an error for a schema whose properties a client cannot show.
func formOf(schema json.RawMessage) (json.RawMessage, error) {
	var root struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required,omitempty"`
	}
	if err := json.Unmarshal(schema, &root); err != nil || root.Type != "object" {
		return nil, errors.New("its schema is not of type object")
	}
	if root.Properties == nil {
		root.Properties = json.RawMessage("{}")
	}
	var properties map[string]property
	if err := json.Unmarshal(root.Properties, &properties); err != nil {
		return nil, errors.New("its properties are not schemas with one type")
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if p := properties[name]; !p.shown() {
			return nil, fmt.Errorf("the property %q is neither a text, a number, a boolean nor a choice among texts", name)
		}
	}
	return json.Marshal(root)
}

// property is what decides whether a client can show a property.
type property struct {
	Type       string            `json:"type"`
	Enum       []json.RawMessage `json:"enum"`
	OneOf      []choice          `json:"oneOf"`
	AnyOf      []json.RawMessage `json:"anyOf"`
	Ref        string            `json:"$ref"`
	Properties json.RawMessage   `json:"properties"`
	Items      *struct {
		Type  string   `json:"type"`
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
}

// choice is one of several texts, with a title.
type choice struct {
	Const *string `json:"const"`
}

func (p *property) shown() bool {
	if p.Ref != "" || p.Properties != nil || p.AnyOf != nil {
		return false
	}
	switch p.Type {
	case "string":
		return texts(p.Enum) && choices(p.OneOf)
	case "number", "integer", "boolean":
		return p.Enum == nil && p.OneOf == nil
	case "array":
		return p.Items != nil && (p.Items.Type == "string" && len(p.Items.Enum) > 0 || len(p.Items.AnyOf) > 0 && choices(p.Items.AnyOf))
	default:
		return false
	}
}

func texts(values []json.RawMessage) bool {
	return !slices.ContainsFunc(values, func(v json.RawMessage) bool { return len(v) == 0 || v[0] != '"' })
}

func choices(all []choice) bool {
	return !slices.ContainsFunc(all, func(c choice) bool { return c.Const == nil })
}
