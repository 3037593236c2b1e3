package e2e_test

import (
	"path/filepath"
	"testing"
)

// TestVerifyMCPServer checks that `toolhost verify` examines the session and the tools of an MCP
// server, and calls only the tool that is named.
func TestVerifyMCPServer(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	h.addServer(t, "former", "mcp: {command: [./mcpserver], secrets: {API_TOKEN: token}}\n")
	h.addServer(t, "modern", "mcp: {command: [./mcpserver, modern], annotations: trusted}\n")
	write(t, filepath.Join(h.home, "token"), "the-token-of-a-test", 0o600)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "secrets: {token: {plugins: [former], file: token}}\n", 0o600)
	h.trust(t, "toolhost.yaml")
	verify := func(name string, args ...string) result {
		return h.do(t, append([]string{"verify", "--plugins", h.plugins, "--config", filepath.Join(h.home, "toolhost.yaml"), "-v", name}, args...)...)
	}
	for _, name := range []string{"former", "modern"} {
		good := verify(name)
		good.exits(t, 0)
		good.says(t, "3 tools", "begins a session and lists its tools in time", "declares the same tools at each start", "a tool of an MCP server is called only if --tool names it")
	}
	printed := verify("former", "--tool", "do", "--arguments", `{"text":"print"}`)
	printed.exits(t, 1)
	printed.says(t, "called: do", "FAIL    stdout", "which is no message")
	crashed := verify("modern", "--tool", "do", "--arguments", `{"text":"crash"}`)
	crashed.exits(t, 1)
	crashed.says(t, "FAIL    call")
	verify("former", "--tool", "none").exits(t, 2)
}
