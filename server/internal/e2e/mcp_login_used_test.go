package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMCPLoginInAUsedFolder adds an MCP server that requires a login to a folder that a toolhost
// has used, in each way that the documentation names. There, a plugin is not started before it is
// trusted, a person cannot log in to a plugin that is not trusted, and the tools cannot be read
// without a login.
func TestMCPLoginInAUsedFolder(t *testing.T) {
	t.Parallel()
	_, resource := loginServer(t)
	h := prepare(t)
	write(t, filepath.Join(h.home, "toolhost.yaml"), `plugin: {docs: {http: {addresses: [127.0.0.1]}}}
tools: {whoami: {dangerous: false}}
new_plugins: ask
`, 0o600)
	h.serve(t)
	c := h.dial(t)
	manifest := "mcp: {url: " + resource.URL + ", oauth: {}}\n"
	for _, way := range []struct {
		name string
		add  func(t *testing.T)
	}{
		{"mcp add", func(t *testing.T) {
			refused := h.do(t, "mcp", "add", "docs", "--plugins", h.plugins, resource.URL)
			refused.exits(t, 3)
			refused.says(t, "HTTP status 401", "--oauth", "--header")
			added := h.do(t, "mcp", "add", "docs", "--oauth", "--plugins", h.plugins, resource.URL)
			added.exits(t, 0)
			added.says(t, "its tools are read after a login", "toolhost mcp login docs")
		}},
		{"trust", func(t *testing.T) {
			folder := filepath.Join(h.plugins, "docs")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, "plugin.yaml"), manifest, 0o600)
			h.do(t, "reload")
			h.do(t, "plugins").says(t, "toolhost trust docs")
			h.do(t, "trust", "--diff", "docs", "--plugins", h.plugins).says(t, "new docs", resource.URL)
			trusted := h.do(t, "trust", "docs", "--plugins", h.plugins)
			trusted.exits(t, 0)
			trusted.says(t, "trusted docs", "toolhost mcp login docs")
		}},
		{"install with a lock file", func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "docs")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, "plugin.yaml"), manifest+"# of another digest\n", 0o600)
			h.do(t, "lock").exits(t, 0)
			installed := h.do(t, "install", folder, "--plugins", h.plugins)
			installed.exits(t, 0)
			installed.says(t, "its tools are read after a login", "toolhost mcp login docs", "allowed in")
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			way.add(t)
			h.do(t, "mcp", "status").says(t, "docs", "not logged in")
			h.withBrowser(t, "", "Olga").exits(t, 0)
			if text, err := whoami(t, c); err != nil || text != "Olga Bearer [secret login at docs]" {
				t.Errorf("the caller is %q, %v", text, err)
			}
			h.do(t, "trust", "--list").says(t, "trusted docs", ": whoami")
			h.do(t, "mcp", "logout", "docs").exits(t, 0)
			h.do(t, "uninstall", "docs", "--plugins", h.plugins).exits(t, 0)
		})
	}
}
