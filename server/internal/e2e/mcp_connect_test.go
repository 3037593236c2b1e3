package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client that starts what `mcp connect` wrote, with as few variables as Codex gives its servers,
// gets the tools of the profile.
func TestMCPConnect(t *testing.T) {
	h := start(t)
	file := filepath.Join(h.home, ".claude.json")
	write(t, file, "{\"a\": 1} // mine", 0o600)
	h.do(t, "mcp", "connect", "claude", "--name", "calculator", "--dangerous=false").says(t, "added the entry", "gets 1 tool")
	h.do(t, "mcp", "connect").says(t, "connected as toolhost")

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSuffix(string(text), "// mine")), &config); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	entry := config.MCPServers["toolhost"]
	cmd := exec.Command(entry.Command, entry.Args...)
	cmd.Env, cmd.Dir = []string{"HOME=" + h.home, "PATH=/usr/bin:/bin"}, "/"
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("starting %v: %v", cmd, err)
	}
	defer session.Close()
	client := mcpClient{ClientSession: session}
	listed, err := client.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) != 1 {
		t.Errorf("%+v, %v", listed, err)
	}
	if _, text := client.call(t, "calculator", map[string]any{"expression": "6*7"}, nil); !strings.Contains(text, "42") {
		t.Errorf("calculator: %s", text)
	}

	h.do(t, "mcp", "connect", "claude", "--remove").exits(t, 0)
	if text, err := os.ReadFile(file); err != nil || string(text) != "{\"a\": 1} // mine" {
		t.Errorf("after --remove: %s, %v", text, err)
	}
}
