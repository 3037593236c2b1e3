package render

import (
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// openAIRules are the rules of both OpenAI APIs for functions that are not strict.
var openAIRules = schemaRules{properties: true, refused: []string{"oneOf", "anyOf", "allOf", "enum", "not"}}

// openAIFunction is the part of a function that both OpenAI APIs share.
type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func newOpenAIFunction(spec *tool.Spec) (openAIFunction, error) {
	d, err := ForOpenAI(spec, OpenAIDescription)
	return openAIFunction{d.Name, d.Description, d.Schema}, err
}

// chatCompletions renders `tools` of the Chat Completions API.
func chatCompletions(infos []tool.Info) (tool.Rendered, error) {
	type definition struct {
		Type     string         `json:"type"`
		Function openAIFunction `json:"function"`
	}
	return encodeEach(infos, func(spec *tool.Spec) (any, error) {
		function, err := newOpenAIFunction(spec)
		return definition{Type: "function", Function: function}, err
	})
}

// responses renders `tools` of the Responses API. In that API a function is strict unless it says
// otherwise, and the schema of a strict function may use only a part of JSON Schema.
func responses(infos []tool.Info) (tool.Rendered, error) {
	type definition struct {
		Type string `json:"type"`
		openAIFunction
		Strict bool `json:"strict"`
	}
	return encodeEach(infos, func(spec *tool.Spec) (any, error) {
		function, err := newOpenAIFunction(spec)
		return definition{Type: "function", openAIFunction: function}, err
	})
}
