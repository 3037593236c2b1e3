package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPAddURL checks that `mcp add` and `mcp import` make a server at a URL a plugin, and keep
// the values of its headers as secrets.
func TestMCPAddURL(t *testing.T) {
	t.Parallel()
	const token = "the-token-of-a-test"
	behind := mcp.NewServer(&mcp.Implementation{Name: "behind", Version: "1"}, nil)
	mcp.AddTool(behind, &mcp.Tool{Name: "greet", Description: "Greet the caller."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello over HTTP"}}}, nil, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return behind }, nil)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	h := prepare(t)
	h.env = []string{"GREETER=" + token}
	config, client := filepath.Join(h.home, "toolhost.yaml"), filepath.Join(h.home, "mcp.json")
	write(t, config, "", 0o600)
	h.serve(t)

	refused := h.addMCP(t, "greeter", "--header", "Authorization: Bearer "+token, site.URL)
	refused.exits(t, 3)
	refused.says(t, "--address")
	h.addMCP(t, "greeter", "--prefix", "g_", "--address", "127.0.0.1", "--header", "Authorization: Bearer "+token, site.URL).says(t,
		"added greeter: 1 tool, g_greet", "connects to "+site.URL, "in service")
	if out, _ := h.callJSON(t, "--approve", "g_greet", "{}"); out.Text != "hello over HTTP" {
		t.Errorf("the call says %+v", out)
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"again": map[string]any{
		"type": "http", "url": site.URL, "headers": map[string]string{"Authorization": "Bearer ${GREETER}"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, client, string(text), 0o600)
	imported := h.do(t, "mcp", "import", "--plugins", h.plugins, "--config", config, client)
	imported.exits(t, 3) // its address is not public, and a file grants nothing
	imported.says(t, "skipped again")
	for _, kept := range []string{filepath.Join(h.plugins, "greeter", "plugin.yaml"), config} {
		if text := textOf(kept); strings.Contains(text, token) || strings.Contains(text, "again") {
			t.Errorf("%s has %s", kept, text)
		}
	}
}
