package render

import (
	"encoding/json"
	"errors"
	"fmt"

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
// description has at most longest characters; 0 is no bound. The error says why the APIs refuse the tool in every form.
func ForOpenAI(spec *tool.Spec, longest int) (Definition, error) {
	if err := checkUsable(spec); err != nil {
		return Definition{}, err
	}
	schema, refused := openAIRules.fit(spec.InputSchema)
	return Definition{spec.Name, describe(spec, refused, spec.InputExamples, longest), schema}, nil
}

// ForAnthropic returns a tool as Anthropic's Messages API takes it, without its examples: FittingExamples returns those. The
// error says why the API refuses the tool in every form.
func ForAnthropic(spec *tool.Spec) (Definition, error) {
	if err := checkUsable(spec); err != nil {
		return Definition{}, err
	}
	schema, refused := anthropicRules.fit(spec.InputSchema)
	if name, found := unacceptable(schema); found {
		return Definition{}, fmt.Errorf("Anthropic's API refuses the parameter name %q: it accepts 1 to 64 of the characters A-Z a-z 0-9 _ . -", name)
	}
	return Definition{spec.Name, describe(spec, refused, nil, 0), schema}, nil
}

// checkUsable returns an error unless every API accepts the tool's name, and its schema is empty or JSON.
func checkUsable(spec *tool.Spec) error {
	if err := tool.CheckName(spec.Name); err != nil {
		return fmt.Errorf("the API refuses the name of the tool: %w", err)
	}
	if len(spec.InputSchema) > 0 && !json.Valid(spec.InputSchema) {
		return errors.New("its input schema is not JSON")
	}
	return nil
}

// unacceptable returns the first parameter of a schema whose name Anthropic's API refuses.
func unacceptable(schema json.RawMessage) (name string, found bool) {
	root, _ := parseObject(schema)
	properties, _ := parseObject(root.get("properties"))
	for _, m := range properties {
		if !anthropicProperty.MatchString(m.name) {
			return m.name, true
		}
	}
	return "", false
}
