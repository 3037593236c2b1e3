package e2e_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpclient/urlserver"
	"github.com/toolhost/toolhost/tool"
)

// tokenOfURL is the secret that the servers of the tests demand.
const tokenOfURL = "the-token-of-a-server-at-a-url"

// addURL puts a plugin with the URL of a server into the folder of plugins.
func (h *toolhost) addURL(t *testing.T, name, url, keys string) {
	t.Helper()
	folder := filepath.Join(h.plugins, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "plugin.yaml"), fmt.Sprintf("mcp: {url: %q, %s}\n", url+"/mcp", keys), 0o600)
}

// urlServers returns a toolhost with a server at a URL of each version of MCP, by the prefix of its
// tools.
func urlServers(t *testing.T) (h *toolhost, servers map[string]*urlserver.Server) {
	t.Helper()
	h = prepare(t)
	servers = map[string]*urlserver.Server{}
	for prefix, s := range map[string]*urlserver.Server{"f_": {Version: urlserver.Former}, "m_": {Version: urlserver.Modern}} {
		s.Authorization, s.Elsewhere = "Bearer "+tokenOfURL, "http://169.254.169.254/latest/meta-data/"
		server := httptest.NewServer(s)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		h.addURL(t, "url"+strings.Trim(prefix, "_"), server.URL, "prefix: "+prefix+", headers: {Authorization: 'Bearer ${secret token}'}")
		servers[prefix] = s
	}
	write(t, filepath.Join(h.home, "token"), tokenOfURL+"\n", 0o600)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "secrets: {token: {plugins: [urlf, urlm], file: token}}\n"+
		"plugin:\n  urlf: {http: {addresses: [127.0.0.1]}}\n  urlm: {http: {addresses: [127.0.0.1], idle_timeout: 2s}}\n", 0o600)
	h.serve(t)
	return h, servers
}

// TestMCPServerAtURL checks a server at a URL in each version of the protocol as a plugin: calls,
// secrets in headers, what operators see, and the loss of a session.
func TestMCPServerAtURL(t *testing.T) {
	t.Parallel()
	h, servers := urlServers(t)
	for prefix, s := range servers {
		plugin := "url" + strings.Trim(prefix, "_")
		if out, r := h.callJSON(t, "--approve", prefix+"echo", `{"text":"hello"}`); out.Text != "hello" || out.Plugin != plugin {
			t.Errorf("%s: %s %s", plugin, r.stdout, r.stderr)
		}
		var instances []tool.InstanceInfo
		h.list(t, &instances, "ps", plugin)
		if len(instances) != 1 || instances[0].PID != 0 || instances[0].Sandbox == nil || instances[0].Sandbox.Mode != tool.SandboxNone {
			t.Errorf("%s: %+v", plugin, instances)
		}
		h.do(t, "why", plugin).says(t, "no process", "toolhost connects to http://127.0.0.1:", string(s.Version))
		s.Forget()
		if out := h.act(t, prefix, "after a loss"); out.Text != "unknown: after a loss" || s.Executions("after a loss") != 1 {
			t.Errorf("%s: after the loss of a session: %+v, %d executions", plugin, out, s.Executions("after a loss"))
		}
		if v := s.Violations(); len(v) > 0 {
			t.Errorf("%s: %q", plugin, v)
		}
	}
	if log := h.stderr.String(); strings.Contains(log, tokenOfURL) {
		t.Error("the log has the secret")
	}
}

// TestHostileMCPServerAtURL checks that whatever a server at a URL does, its caller gets a typed
// error, other plugins are not affected, and the next call of the server works.
func TestHostileMCPServerAtURL(t *testing.T) {
	t.Parallel()
	h, servers := urlServers(t)
	for prefix := range servers {
		for what, want := range map[string]struct{ kind, text string }{
			"crash":        {"outcome_unknown", "closed the connection"},
			"crash-stream": {"outcome_unknown", "closed the connection"},
			"lie":          {"", "the truth"},
			"lie-json":     {"internal", "answered another request"},
			"flood":        {"", "after the flood"},
			"big":          {"internal", "larger than"},
			"big-event":    {"internal", "larger than"},
			"endless":      {"", "answered"},
			"html":         {"internal", "broke the protocol"},
			"redirect":     {"unavailable", "another origin"},
			"hang":         {"timeout", "took longer"},
			"drip":         {"timeout", "took longer"},
			"wait":         {"timeout", "took longer"},
		} {
			var flags []string
			if want.kind == "timeout" {
				flags = []string{"--timeout", "1s"}
			}
			out := h.act(t, prefix, what, flags...)
			kind, text := "", out.Text
			if out.Error != nil {
				kind, text = out.Error.Kind, out.Error.Message
			}
			if kind != want.kind || !strings.Contains(text, want.text) {
				t.Errorf("%s%s: %q, %q", prefix, what, kind, text)
			}
			h.do(t, "call", "calculator", `{"expression":"6*7"}`).says(t, "42")
			if out, r := h.callJSON(t, "--approve", prefix+"echo", `{"text":"and on"}`); out.Text != "and on" {
				t.Errorf("after %s%s: %s", prefix, what, r.stdout)
			}
		}
	}
}

// TestAddressOfMCPServer checks that toolhost connects to an address of this host only if the
// operator permits it, and that a changed configuration takes effect without a restart.
func TestAddressOfMCPServer(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	server := httptest.NewServer(&urlserver.Server{Version: urlserver.Modern})
	t.Cleanup(server.Close)
	h.addURL(t, "near", strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "prefix: n_")
	h.serve(t)
	h.do(t, "why", "near").says(t, "it leads to this host", "plugin.near.http.addresses")
	config := filepath.Join(h.home, "toolhost.yaml")
	before, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, string(before)+"plugin: {near: {http: {addresses: [127.0.0.1]}}}\n", 0o600)
	h.trust(t, "toolhost.yaml")
	h.do(t, "reload").exits(t, 0)
	eventually.Holds(t, "the server is reached", func() bool {
		out, _ := h.callJSON(t, "--approve", "n_echo", `{"text":"x"}`)
		return out.Text == "x"
	})
}
