package render

import (
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// gemini renders `tools` of the Gemini API: one tool that has all functions, or none.
func gemini(infos []tool.Info) (tool.Rendered, error) {
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"parametersJsonSchema"`
	}
	rendered, err := encodeEach(infos, func(spec *tool.Spec) (any, error) {
		d, err := ForGemini(spec)
		return definition{d.Name, d.Description, d.Schema}, err
	})
	if err != nil || len(rendered.Tools) == 0 {
		return rendered, err
	}
	rendered.Content, err = encode([]any{map[string]json.RawMessage{"functionDeclarations": rendered.Content}})
	return rendered, err
}
