package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

var mcpVersions = []string{"2025-11-25", "2026-07-28"}

// mcpClient is a client of the SDK with the process of its server.
type mcpClient struct {
	*mcp.ClientSession
	stop func() // kills the server
}

// mcpServe connects a client of the SDK to `toolhost mcp serve`.
func (h *toolhost) mcpServe(t *testing.T, version string, options *mcp.ClientOptions, flags ...string) *mcpClient {
	t.Helper()
	cmd := command(context.Background(), h.home, nil, "toolhost", append([]string{"mcp", "serve", "--addr", h.addr}, flags...)...)
	log := &syncbuf.Buffer{}
	cmd.Stderr = log
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the version is %s, want %s", got, version)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if t.Failed() {
			t.Logf("the log of mcp serve:\n%s", log)
		}
	})
	return &mcpClient{session, func() { _ = cmd.Process.Kill() }}
}

// call calls a tool. The text is all that the result says.
func (c *mcpClient) call(t *testing.T, name string, arguments map[string]any, meta mcp.Meta) (*mcp.CallToolResult, string) {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("calling %s: %v", name, err)
	}
	var all []string
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return result, strings.Join(all, "\n")
}

// A client calls the shipped tools through mcp serve, also after toolhost was restarted.
func TestMCPServe(t *testing.T) {
	h := start(t)
	var clients []*mcpClient
	for _, version := range mcpVersions {
		c := h.mcpServe(t, version, nil)
		clients = append(clients, c)
		listed, err := c.ListTools(t.Context(), nil)
		if err != nil || len(listed.Tools) < 2 {
			t.Fatalf("%+v, %v", listed, err)
		}
		if _, text := c.call(t, "calculator", map[string]any{"expression": "6*7"}, nil); !strings.Contains(text, "42") {
			t.Errorf("calculator: %s", text)
		}
	}
	h.cmd.Process.Signal(syscall.SIGTERM)
	<-h.exited
	for _, c := range clients {
		if r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "calculator", Arguments: map[string]any{"expression": "6*7"}}); err != nil || !r.IsError {
			t.Errorf("a call without a toolhost: %+v, %v", r, err)
		}
	}
	h.serve(t)
	for _, c := range clients {
		if _, text := c.call(t, "calculator", map[string]any{"expression": "6*8"}, nil); !strings.Contains(text, "48") {
			t.Errorf("calculator after the restart: %s", text)
		}
	}
}

// A client whose mcp serve was killed repeats its call with the same id, and nothing is executed
// twice.
func TestMCPCallIDSurvivesItsServer(t *testing.T) {
	h := start(t)
	for i, version := range mcpVersions {
		id := mcp.Meta{"toolhost/callId": fmt.Sprintf("append-%d", i)}
		write := map[string]any{"path": fmt.Sprintf("new-%d.txt", i), "content": "once"}
		first := h.mcpServe(t, version, nil)
		if r, text := first.call(t, "write_file", write, id); r.IsError {
			t.Fatalf("write_file: %s", text)
		}
		first.stop()
		if err := os.Remove(filepath.Join(h.workspace, write["path"].(string))); err != nil {
			t.Fatal(err)
		}
		again, text := h.mcpServe(t, version, nil).call(t, "write_file", write, id)
		if again.IsError || again.Meta["toolhost/replayed"] != true {
			t.Errorf("the repeated call: %s, %v", text, again.Meta)
		}
		if _, err := os.Stat(filepath.Join(h.workspace, write["path"].(string))); err == nil {
			t.Error("the call was executed twice")
		}
	}
}

// Without a toolhost, mcp serve ends and says how to start one.
func TestMCPServeWithoutToolhost(t *testing.T) {
	home := newHome(t)
	r := run(t, command(t.Context(), home, nil, "toolhost", "mcp", "serve", "--addr", "unix://"+filepath.Join(home, "none.sock")))
	r.exits(t, 4)
	r.says(t, "toolhost serve")
	if r.stdout != "" {
		t.Errorf("standard output, which is the protocol's, has %q", r.stdout)
	}
}

// withBearer sends a token.
type withBearer string

func (b withBearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// MCP clients over HTTP have the identities of the server: a token of another tenant calls the one
// tool that it may, and nothing after its revocation.
func TestMCPOverHTTP(t *testing.T) {
	h := prepare(t)
	putConfiguration(t, h, fmt.Sprintf(`listen: %s
mcp:
  listeners: [{address: 127.0.0.1:0, admits: caller}]
auth:
  bindings:
    - {role: admin, principals: ["uid:%d"], tenants: [all]}
    - {role: caller, members_of: [red]}
`, h.addr, os.Getuid()))
	h.grant(t)
	h.allow(t)
	h.trust(t, "toolhost.yaml")
	cmd := command(context.Background(), h.home, nil, "toolhost", "serve", "--plugins", h.plugins, "--state", h.state, "--workspace", h.workspace)
	log := &syncbuf.Buffer{}
	cmd.Stderr = log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		<-exited
		if t.Failed() {
			t.Logf("the log:\n%s", log)
		}
	})
	_, rest, found := strings.Cut(line, ", ")
	url, _, cut := strings.Cut(rest, " for MCP")
	if !found || !cut {
		t.Fatalf("toolhost says %q\n%s", line, log)
	}
	admin := func(args ...string) string {
		t.Helper()
		out, err := command(t.Context(), h.home, nil, "toolhost", append([]string{"token"}, append(args, "--state", h.state)...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	token := admin("create", "ci", "--tenant", "red", "--tools", "calculator")
	var sessions []*mcp.ClientSession
	for _, version := range mcpVersions {
		client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
		transport := &mcp.StreamableClientTransport{Endpoint: "http://" + url + "/mcp", HTTPClient: &http.Client{Transport: withBearer(token)}, MaxRetries: -1}
		session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		t.Cleanup(func() { _ = session.Close() })
		sessions = append(sessions, session)
		c := &mcpClient{ClientSession: session}
		if listed, err := c.ListTools(t.Context(), nil); err != nil || len(listed.Tools) != 1 || listed.Tools[0].Name != "calculator" {
			t.Errorf("the token sees %+v, %v", listed, err)
		}
		if _, text := c.call(t, "calculator", map[string]any{"expression": "6*7"}, nil); !strings.Contains(text, "42") {
			t.Errorf("calculator: %s", text)
		}
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_dir", Arguments: map[string]any{"path": "."}}); err == nil {
			t.Error("the token calls a tool outside of its scope")
		}
	}
	admin("revoke", token)
	for _, session := range sessions {
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "calculator", Arguments: map[string]any{"expression": "1"}}); err == nil {
			t.Error("the revoked token calls a tool")
		}
	}
}
