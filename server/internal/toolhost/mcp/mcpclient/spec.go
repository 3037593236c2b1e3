package mcpclient

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

const maxName = 64 // bytes of the name of a tool

// specOf returns a tool of the server as the catalog knows tools. Names, titles and descriptions
// are the server's text, which every reader treats as foreign.
func (c *Conn) specOf(t *mcp.Tool) tool.Spec {
	spec := tool.Spec{
		Name:                   c.cfg.Prefix + nameOf(t.Name, maxName-len(c.cfg.Prefix)),
		DisplayName:            t.Title,
		Description:            t.Description,
		InputSchema:            schemaOf(t.InputSchema),
		OutputSchema:           schemaOf(t.OutputSchema),
		Dangerous:              true,
		RequiresAuth:           c.cfg.Secrets,
		ProgressExtendsTimeout: true,
	}
	var said tool.MCPMetadata
	if a := t.Annotations; a != nil {
		spec.DisplayName = cmp.Or(spec.DisplayName, a.Title)
		if c.cfg.TrustAnnotations {
			spec.ReadOnly, spec.Idempotent = a.ReadOnlyHint, a.IdempotentHint
			spec.Dangerous = !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
		}
		said.ReadOnlyHint = a.ReadOnlyHint && !spec.ReadOnly
	}
	if strings.TrimSpace(spec.Description) == "" {
		spec.Description = cmp.Or(strings.TrimSpace(spec.DisplayName), t.Name) + " (the MCP server describes it no further)"
	}
	if spec.Name != c.cfg.Prefix+t.Name {
		said.Name = t.Name
	}
	said.Set(&spec)
	return spec
}

// schemaOf returns the text of a schema; nil if there is none.
func schemaOf(schema any) json.RawMessage {
	if schema = withoutNulls(schema); schema == nil {
		return nil
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return json.RawMessage("false") // it fits nothing
	}
	return text
}

// withoutNulls returns a schema without the keywords whose value is null. Libraries write null for
// a keyword that is not set (claude-code#44364), and JSON Schema and the model providers refuse it.
// It changes the schema.
func withoutNulls(schema any) any {
	switch schema := schema.(type) {
	case []any:
		for i := range schema {
			schema[i] = withoutNulls(schema[i])
		}
	case map[string]any:
		for keyword, value := range schema {
			switch keyword {
			case "default", "const", "enum", "example", "examples": // data
				if value == nil && keyword == "enum" {
					delete(schema, keyword)
				}
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
				named, _ := value.(map[string]any)
				for name, sub := range named {
					if named[name] = withoutNulls(sub); sub == nil {
						named[name] = map[string]any{} // anything
					}
				}
				if value == nil {
					delete(schema, keyword)
				}
			default:
				if schema[keyword] = withoutNulls(value); value == nil {
					delete(schema, keyword)
				}
			}
		}
	}
	return schema
}

// nameOf returns the name of a tool in the characters that every model provider accepts. MCP also
// allows dots, slashes and a digit at the beginning.
func nameOf(name string, most int) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '_', r == '-', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		case '0' <= r && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	text := b.String()
	if text != "" && (text[0] < 'A' || text[0] == '_') {
		text = "t" + text
	}
	return text[:min(len(text), most)]
}
