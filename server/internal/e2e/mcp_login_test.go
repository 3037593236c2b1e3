package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth/authtest"
	"github.com/toolhost/toolhost/tool"
)

// loginServer is an MCP server over HTTP that requires a login. Its tool whoami returns the name of
// the person that the token stands for.
func loginServer(t *testing.T) (*authtest.Server, *authtest.Resource) {
	t.Helper()
	issuer := authtest.New(t)
	resource := authtest.NewResource(t, issuer)
	server := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "whoami", Description: "Who am I?"},
		func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			text := req.Extra.Header.Get("User") + " " + req.Extra.Header.Get("Authorization")
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	resource.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	return issuer, resource
}

// page finds the page that the command login asks a person to open.
var page = regexp.MustCompile(`(?m)^  (http://\S+/authorize\?\S+)$`)

// login logs a principal in: act does what the person does who sees what the command says on
// standard error, and returns true when that is done. token is that of the principal; empty: the
// user of the test.
func (h *toolhost) login(t *testing.T, token string, act func(said string) bool, flags ...string) result {
	t.Helper()
	cmd := command(t.Context(), h.home, h.as(token), "toolhost", append([]string{"mcp", "login", "docs", "--addr", h.addr}, flags...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, said strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines, done := bufio.NewScanner(stderr), false; lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		done = done || act(said.String())
	}
	_ = cmd.Wait()
	return result{stdout: out.String(), stderr: said.String(), code: cmd.ProcessState.ExitCode()}
}

// withBrowser opens the page that the command names, as the browser of a person does.
func (h *toolhost) withBrowser(t *testing.T, token, person string) result {
	t.Helper()
	return h.login(t, token, func(said string) bool {
		found := page.FindStringSubmatch(said)
		if found != nil {
			browse(t, found[1], person)
		}
		return found != nil
	}, "--no-browser")
}

// onDevice enters the code that the command names.
func (h *toolhost) onDevice(t *testing.T, issuer *authtest.Server, token, person string, agrees bool) result {
	t.Helper()
	return h.login(t, token, func(said string) bool {
		_, code, found := strings.Cut(said, "enter the code ")
		if found {
			issuer.Agree(strings.TrimSpace(code), person, agrees)
		}
		return found
	}, "--device")
}

// as returns the environment of a caller with a token.
func (h *toolhost) as(token string) []string {
	if token == "" {
		return nil
	}
	return []string{"TOOLHOST_TOKEN=" + token, "TOOLHOST_ALLOW_PLAIN_TOKEN=1"}
}

// browse opens a page, and follows the redirect to the command that waits for the answer. Before, a
// page of an attacker sends it another answer.
func browse(t *testing.T, page, person string) {
	t.Helper()
	get := func(at string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User", person)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	to, err := get(page).Location()
	if err != nil {
		t.Fatal(err)
	}
	forged := *to
	forged.RawQuery = "code=of-the-attacker&state=guessed"
	if resp := get(forged.String()); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an answer with another state gets %s", resp.Status)
	}
	if resp := get(to.String()); resp.StatusCode != http.StatusOK {
		t.Errorf("the answer gets %s", resp.Status)
	}
}

// whoami calls the tool as a caller.
func whoami(t *testing.T, c *client.Client) (string, error) {
	t.Helper()
	outcome, err := c.Call(t.Context(), tool.Call{Tool: "whoami", Arguments: json.RawMessage(`{}`)})
	if err != nil {
		return "", err
	}
	return outcome.Result.Text(), nil
}

// TestMCPLogin has two principals of two tenants log in to an MCP server, each as another person.
func TestMCPLogin(t *testing.T) {
	t.Parallel()
	issuer, resource := loginServer(t)
	h := prepare(t)
	folder := filepath.Join(h.plugins, "docs")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "plugin.yaml"), "mcp: {url: "+resource.URL+", oauth: {}}\n", 0o600)
	write(t, filepath.Join(h.home, "toolhost.yaml"), fmt.Sprintf(`plugin: {docs: {http: {addresses: [127.0.0.1]}}}
tools: {whoami: {dangerous: false}}
audit: {}
auth:
  bindings:
    - {role: admin, principals: ["uid:%d"], tenants: [all]}
    - {role: caller, members_of: [red]}
`, os.Getuid()), 0o600)
	h.serve(t)
	out, err := command(t.Context(), h.home, nil, "toolhost", "token", "create", "bob", "--tenant", "red", "--state", h.state).Output()
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(out))
	own, bob := h.dial(t), dialWith(t, h, token)

	h.do(t, "mcp", "status").says(t, "docs", "not logged in", resource.URL)
	h.do(t, "plugins").says(t, "toolhost mcp login docs")
	done := h.withBrowser(t, "", "Olga")
	done.exits(t, 0)
	done.says(t, "uses the authorization server "+issuer.URL, "logged in to docs with the scopes read")
	if text, err := whoami(t, own); err != nil || text != "Olga Bearer [secret login at docs]" {
		t.Errorf("the operator is %q, %v", text, err)
	}
	if text, err := whoami(t, bob); tool.KindOf(err) != tool.KindDenied || !strings.Contains(err.Error(), "red/bob is not logged in") || !strings.Contains(err.Error(), "toolhost mcp login docs") {
		t.Errorf("without a login: %q, %v", text, err)
	}
	if refused := h.onDevice(t, issuer, token, "Bob", false); refused.code != 3 || !strings.Contains(refused.stderr, "access_denied") {
		t.Errorf("a person that refuses: %+v", refused)
	}
	h.onDevice(t, issuer, token, "Bob", true).exits(t, 0)
	eventually.Holds(t, "the next attempt to begin a session", func() bool { // it is delayed after a refused one
		_, err := whoami(t, bob)
		return err == nil
	})
	for range 2 {
		if text, err := whoami(t, bob); err != nil || !strings.HasPrefix(text, "Bob Bearer [") {
			t.Errorf("bob is %q, %v", text, err)
		}
		if text, err := whoami(t, own); err != nil || !strings.HasPrefix(text, "Olga Bearer [") {
			t.Errorf("the operator is %q, %v", text, err)
		}
		issuer.Forget() // both are renewed
	}
	h.do(t, "mcp", "status", "docs").says(t, "logged in", "renewed", issuer.URL)

	h.do(t, "mcp", "logout", "docs").says(t, "logged out of docs; the tokens are revoked")
	if _, err := whoami(t, own); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("after logging out: %v", err)
	}
	if text, err := whoami(t, bob); err != nil || !strings.HasPrefix(text, "Bob") {
		t.Errorf("bob is %q, %v", text, err)
	}
	h.stop(t)
	h.serve(t)
	bob = dialWith(t, h, token)
	if text, err := whoami(t, bob); err != nil || !strings.HasPrefix(text, "Bob") {
		t.Errorf("after a restart, bob is %q, %v", text, err)
	}
	h.do(t, "audit", "search").says(t, "LoginService/BeginLogin", "LoginService/FinishLogin", "LoginService/Logout")
	noTokens(t, h, resource)
}

// noTokens checks that no file of the toolhost but those of logins has a token.
func noTokens(t *testing.T, h *toolhost, resource *authtest.Resource) {
	t.Helper()
	tokens := slices.DeleteFunc(resource.Tokens(), func(token string) bool { return token == "" })
	if len(tokens) == 0 {
		t.Error("no request had a token")
	}
	err := filepath.WalkDir(h.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "mcp-logins") {
			return nil
		}
		text, _ := os.ReadFile(path)
		for _, token := range tokens {
			if strings.Contains(string(text), token) {
				t.Errorf("%s has a token", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
