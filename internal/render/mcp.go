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

// mcpAnnotations are hints. All are said, because the protocol's own defaults are the worst that a tool may do.
type mcpAnnotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"` // clients ask a person then, which is what dangerous means
	Idempotent  bool `json:"idempotentHint"`
}

// mcpMeta is what the protocol has no words for.
type mcpMeta struct {
	Plugin        string       `json:"toolhost/plugin"`
	Version       string       `json:"toolhost/version,omitempty"`
	Category      string       `json:"toolhost/category,omitempty"`
	Tags          []string     `json:"toolhost/tags,omitempty"`
	InputExamples []mcpExample `json:"toolhost/inputExamples,omitempty"`
	// Metadata is what the author says besides.
	Metadata map[string]json.RawMessage `json:"toolhost/metadata,omitempty"`
}

type mcpExample struct {
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

// mcp renders the result of tools/list, in one page.
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
	input, _ := schemaRules{}.fit(spec.InputSchema)
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

// usableValues returns those values that are JSON.
func usableValues(values map[string]json.RawMessage) map[string]json.RawMessage {
	usable := map[string]json.RawMessage{}
	for key, value := range values {
		if json.Valid(value) {
			usable[key] = value
		}
	}
	return usable
}

// mcpOutput returns the schema of a structured result if the protocol has a place for it: it must be that of an object,
// and to say so of another would be a promise that the tool does not keep.
func mcpOutput(schema json.RawMessage) json.RawMessage {
	o, _ := parseObject(schema)
	if string(o.get("type")) != `"object"` {
		return nil
	}
	return schema
}
