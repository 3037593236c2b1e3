package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// YAML returns the text of a plugin.yaml of an MCP server, which Parse reads as the same manifest.
// It has the keys of MCP, Description, Env.Set and Permissions, and none below mcp.oauth.
func (m *Manifest) YAML() []byte {
	var b bytes.Buffer
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	if m.Description != "" {
		line("description", quoted(m.Description))
	}
	b.WriteString("mcp:\n")
	if len(m.MCP.Command) > 0 {
		line("  command", list(m.MCP.Command))
	}
	if m.MCP.URL != "" {
		line("  url", quoted(m.MCP.URL))
	}
	if len(m.MCP.Headers) > 0 {
		line("  headers", mapping(m.MCP.Headers))
	}
	if m.MCP.OAuth != nil {
		line("  oauth", "{}")
	}
	if len(m.MCP.Secrets) > 0 {
		line("  secrets", mapping(m.MCP.Secrets))
	}
	if m.MCP.Prefix != "" {
		line("  prefix", quoted(m.MCP.Prefix))
	}
	if m.MCP.Annotations != "" {
		line("  annotations", m.MCP.Annotations)
	}
	if m.MCP.Protocol != "" {
		line("  protocol", quoted(m.MCP.Protocol))
	}
	if m.MCP.Trace {
		line("  trace", "true")
	}
	if len(m.Env.Set) > 0 {
		line("env", "{set: "+mapping(m.Env.Set)+"}")
	}
	var asks []string
	if m.Permissions.Network {
		asks = append(asks, "network: true")
	}
	if m.Permissions.Workspace != "" {
		asks = append(asks, "workspace: "+m.Permissions.Workspace)
	}
	if len(m.Permissions.Read) > 0 {
		asks = append(asks, "read: "+list(m.Permissions.Read))
	}
	if len(m.Permissions.Write) > 0 {
		asks = append(asks, "write: "+list(m.Permissions.Write))
	}
	if len(asks) > 0 {
		line("permissions", "{"+strings.Join(asks, ", ")+"}")
	}
	return b.Bytes()
}

// quoted returns a text as YAML. A JSON string is a YAML string.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // encoding a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

func list(texts []string) string {
	items := make([]string, 0, len(texts))
	for _, text := range texts {
		items = append(items, quoted(text))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func mapping(texts map[string]string) string {
	items := make([]string, 0, len(texts))
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		items = append(items, quoted(key)+": "+quoted(texts[key]))
	}
	return "{" + strings.Join(items, ", ") + "}"
}
