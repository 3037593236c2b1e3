package textform

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// types is a set of JSON types.
type types uint8

const (
	typeString types = 1 << iota
	typeNumber
	typeBoolean
	typeNull
	typeArray
	typeObject

	typeAny = 1<<iota - 1
)

var typeNames = map[string]types{
	"string": typeString, "number": typeNumber, "integer": typeNumber, "boolean": typeBoolean, "null": typeNull,
	"array": typeArray, "object": typeObject,
}

// argumentTypes returns the types of the arguments that a tool's schema declares. Arguments that it
// does not declare are missing.
func argumentTypes(schema json.RawMessage) map[string]types {
	var root node
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	root.resolved = make(map[string]types)
	all := make(map[string]types, len(root.Properties))
	// In order, because the first use of circular definitions decides about them.
	for _, name := range slices.Sorted(maps.Keys(root.Properties)) {
		all[name] = root.typesOf(root.Properties[name], 0)
	}
	return all
}

// node has the keywords of a schema that decide on the type of a value.
type node struct {
	Type       json.RawMessage            `json:"type"`
	Enum       []json.RawMessage          `json:"enum"`
	Const      json.RawMessage            `json:"const"`
	Ref        string                     `json:"$ref"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
	AllOf      []json.RawMessage          `json:"allOf"`
	Properties map[string]json.RawMessage `json:"properties"`
	Defs       map[string]json.RawMessage `json:"$defs"`
	Older      map[string]json.RawMessage `json:"definitions"` // $defs of older drafts

	// resolved has the types of the definitions that were read, by reference. Only the root has it.
	// A plugin writes the schema: without it, definitions that name each other many times would take
	// hours.
	resolved map[string]types
}

// maxDepth bounds the nesting of schemas in an argument or a definition.
const maxDepth = 8

// typesOf returns the types that a schema permits. It permits any type as far as it does not say.
func (root *node) typesOf(schema json.RawMessage, depth int) types {
	var n node
	if depth > maxDepth || json.Unmarshal(schema, &n) != nil {
		return typeAny
	}
	permitted := types(typeAny)
	if declared := declaredTypes(n.Type); declared != 0 {
		permitted &= declared
	}
	if n.Const != nil {
		n.Enum = append(n.Enum, n.Const)
	}
	if len(n.Enum) > 0 {
		var listed types
		for _, value := range n.Enum {
			listed |= typeOf(value)
		}
		permitted &= listed
	}
	permitted &= root.resolve(n.Ref)
	for _, alternatives := range [][]json.RawMessage{n.AnyOf, n.OneOf} {
		var union types
		for _, alternative := range alternatives {
			union |= root.typesOf(alternative, depth+1)
		}
		if len(alternatives) > 0 {
			permitted &= union
		}
	}
	for _, part := range n.AllOf {
		permitted &= root.typesOf(part, depth+1)
	}
	if permitted == 0 {
		return typeAny // a contradiction: no value fits, and toolhost says why
	}
	return permitted
}

// resolve returns the types that the definition of a reference permits. It reads each definition
// once. A definition that refers to itself permits any type there.
func (root *node) resolve(ref string) types {
	target, ok := root.target(ref)
	if !ok {
		return typeAny
	}
	permitted, ok := root.resolved[ref]
	if !ok {
		root.resolved[ref] = typeAny
		permitted = root.typesOf(target, 0)
		root.resolved[ref] = permitted
	}
	return permitted
}

// target returns the schema that a reference to a definition of the root names.
func (root *node) target(ref string) (json.RawMessage, bool) {
	for prefix, definitions := range map[string]map[string]json.RawMessage{"#/$defs/": root.Defs, "#/definitions/": root.Older} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			target, ok := definitions[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
			return target, ok
		}
	}
	return nil, false
}

// declaredTypes reads the keyword type. 0 means that it is missing or unknown.
func declaredTypes(keyword json.RawMessage) (declared types) {
	var names []string
	var name string
	if json.Unmarshal(keyword, &name) == nil {
		names = []string{name}
	} else if json.Unmarshal(keyword, &names) != nil {
		return 0
	}
	for _, name := range names {
		declared |= typeNames[name]
	}
	return declared
}

// typeOf returns the type of valid JSON.
func typeOf(value []byte) types {
	text := strings.TrimLeft(string(value), " \t\r\n")
	if text == "" {
		return 0
	}
	switch text[0] {
	case '"':
		return typeString
	case '{':
		return typeObject
	case '[':
		return typeArray
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	return typeNumber
}
