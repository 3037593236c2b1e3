package render

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// mcpTool is a Tool of the Model Context Protocol, revisions 2025-06-18 and 2025-11-25.
type mcpTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  mcpAnnotations  `json:"annotations"`
	Meta         mcpMeta         `json:"_meta"`
}

// mcpAnnotations are hints for clients. All are set, because the protocol's defaults describe the
// most dangerous tool.
type mcpAnnotations struct {
	ReadOnly bool `json:"readOnlyHint"`
	// Clients ask for approval of such a tool, as for Dangerous.
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
}

// mcpMeta holds the properties of a tool for which the protocol has no field.
type mcpMeta struct {
	Plugin        string       `json:"toolhost/plugin"`
	Version       string       `json:"toolhost/version,omitempty"`
	Category      string       `json:"toolhost/category,omitempty"`
	Tags          []string     `json:"toolhost/tags,omitempty"`
	InputExamples []mcpExample `json:"toolhost/inputExamples,omitempty"`
	// Metadata is the metadata that the author declares.
	Metadata map[string]json.RawMessage `json:"toolhost/metadata,omitempty"`
}

type mcpExample struct {
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

// mcp renders the result of tools/list as one page.
func mcp(infos []tool.Info) (tool.Rendered, error) {
	result := struct {
		Tools []json.RawMessage `json:"tools"`
	}{[]json.RawMessage{}}
	names := []string{}
	for i := range infos {
		text, err := encode(newMCPTool(&infos[i]))
		if err != nil {
			return tool.Rendered{}, fmt.Errorf("encoding the tool %q: %w", infos[i].Spec.Name, err)
		}
		result.Tools, names = append(result.Tools, text), append(names, infos[i].Spec.Name)
	}
	content, err := encode(result)
	return tool.Rendered{Content: content, Tools: names}, err
}

func newMCPTool(info *tool.Info) mcpTool {
	spec := &info.Spec
	input, _, _ := schemaRules{}.fit(spec.InputSchema)
	t := mcpTool{
		Name:         spec.Name,
		Title:        spec.DisplayName,
		Description:  spec.Description,
		InputSchema:  input,
		OutputSchema: mcpOutput(spec.OutputSchema),
		Annotations:  mcpAnnotations{ReadOnly: spec.ReadOnly, Destructive: spec.Dangerous, Idempotent: spec.Idempotent},
		Meta: mcpMeta{
			Plugin: info.Plugin, Version: cmp.Or(spec.Version, info.PluginVersion), Category: spec.Category, Tags: spec.Tags,
			Metadata: usableValues(spec.Metadata),
		},
	}
	for _, e := range spec.InputExamples {
		t.Meta.InputExamples = append(t.Meta.InputExamples, mcpExample{e.Description, orEmpty(e.Arguments)})
	}
	return t
}

// usableValues returns the values that are JSON.
func usableValues(values map[string]json.RawMessage) map[string]json.RawMessage {
	usable := map[string]json.RawMessage{}
	for key, value := range values {
		if json.Valid(value) {
			usable[key] = value
		}
	}
	return usable
}

// mcpOutput returns the schema of a structured result if it is that of an object. The protocol has
// no place for results of other types.
func mcpOutput(schema json.RawMessage) json.RawMessage {
	o, _ := parseObject(schema)
	if string(o.get("type")) != `"object"` {
		return nil
	}
	return withoutBooleans(schema)
}
