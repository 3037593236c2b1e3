package render

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

var (
	anthropicRules = schemaRules{refused: []string{"oneOf", "anyOf", "allOf"}}
	// The API refuses a tool with another parameter name.
	anthropicProperty = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

// anthropic renders `tools` of the Messages API. It omits tools with parameter names that the API
// refuses, and examples that do not fit the schema of their tool, which the API refuses too.
func anthropic(infos []tool.Info) (tool.Rendered, error) {
	type definition struct {
		Name          string            `json:"name"`
		Description   string            `json:"description,omitempty"`
		InputSchema   json.RawMessage   `json:"input_schema"`
		InputExamples []json.RawMessage `json:"input_examples,omitempty"`
	}
	return encodeEach(infos, func(spec *tool.Spec) (any, error) {
		d, err := ForAnthropic(spec)
		if d.Names != nil { // what the model sends goes to toolhost as it is
			err = refusedName(slices.Min(slices.Collect(maps.Keys(d.Names))))
		}
		return definition{d.Name, d.Description, d.Schema, FittingExamples(spec)}, err
	})
}

// FittingExamples returns the arguments of the examples that fit the tool's schema.
func FittingExamples(spec *tool.Spec) []json.RawMessage {
	if len(spec.InputExamples) == 0 {
		return nil
	}
	schema, err := arguments.Compile(spec.InputSchema)
	if err != nil {
		return nil
	}
	var fitting []json.RawMessage
	for _, e := range spec.InputExamples {
		parsed, err := arguments.Parse(e.Arguments)
		if err == nil && schema.Validate(parsed) == nil {
			fitting = append(fitting, orEmpty(e.Arguments))
		}
	}
	return fitting
}
