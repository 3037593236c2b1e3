package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

func TestYAML(t *testing.T) {
	for _, m := range []*manifest.Manifest{
		{MCP: &manifest.MCP{Command: []string{"node"}}},
		{MCP: &manifest.MCP{URL: "https://a.example/mcp?x=y", Headers: map[string]string{"Authorization": "Bearer ${secret token}"}, Trace: true}},
		{
			Description: "a: \"b\"\n# <c>",
			MCP: &manifest.MCP{
				Command: []string{"node", "server.js", "--x={y}", "yes", "ä\u2028"}, Secrets: map[string]string{"TOKEN": "token", "no": "x"},
				Prefix: "p_", Annotations: manifest.AnnotationsTrusted, Protocol: "2025-11-25",
			},
			Env:         manifest.Env{Set: map[string]string{"A": "null", "B": ""}},
			Permissions: manifest.Permissions{Network: true, Workspace: manifest.AccessRead, Read: []string{"/a b"}, Write: []string{"/c"}},
		},
	} {
		text := m.YAML()
		got, err := manifest.Parse("f", text)
		m.Command = m.MCP.Command
		if err != nil || !cmp.Equal(got, m) {
			t.Errorf("%v\n%s\n%s", err, text, cmp.Diff(m, got))
		}
	}
}
