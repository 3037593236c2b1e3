package render

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// OpenAIDescription is how many characters OpenAI's own servers let a function's description have. Others that speak its
// protocol take more.
const OpenAIDescription = 1024

// Definition is a tool as an API of models takes it.
type Definition struct {
	Name        string
	Description string          // with what the API has no other place for; may be empty
	Schema      json.RawMessage // of the arguments; has the type object
}

// ForOpenAI returns a tool as OpenAI's APIs take functions that are not strict, and servers that speak their protocol. The
// description has at most longest characters; 0 is no bound. fits is false for a tool that they refuse however it is put.
func ForOpenAI(spec *tool.Spec, longest int) (d Definition, fits bool) {
	if !usable(spec) {
		return Definition{}, false
	}
	schema, refused := openAIRules.fit(spec.InputSchema)
	return Definition{spec.Name, describe(spec, refused, spec.InputExamples, longest), schema}, true
}

// ForAnthropic returns a tool as Anthropic's Messages API takes it, without its examples, which have a place of their
// own. fits is false for a tool that it refuses however it is put.
func ForAnthropic(spec *tool.Spec) (d Definition, fits bool) {
	if !usable(spec) {
		return Definition{}, false
	}
	schema, refused := anthropicRules.fit(spec.InputSchema)
	if !acceptable(schema) {
		return Definition{}, false
	}
	return Definition{spec.Name, describe(spec, refused, nil, 0), schema}, true
}

// usable reports whether a tool has a name that every API takes and a schema that is none or JSON.
func usable(spec *tool.Spec) bool {
	return tool.CheckName(spec.Name) == nil && (len(spec.InputSchema) == 0 || json.Valid(spec.InputSchema))
}

// acceptable reports whether Anthropic's API takes the names of a schema's arguments.
func acceptable(schema json.RawMessage) bool {
	root, _ := parseObject(schema)
	properties, _ := parseObject(root.get("properties"))
	return !slices.ContainsFunc(properties, func(m member) bool { return !anthropicProperty.MatchString(m.name) })
}
