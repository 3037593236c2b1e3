//go:build more

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/e2e/languages/setup"
	"github.com/toolhost/toolhost/server/internal/e2e/size"
)

// officialServer is a server of the MCP project, and one call of it.
type officialServer struct {
	name  string   // of the plugin
	lock  string   // the file in testdata/servers with its pins
	flags []string // of `mcp add`
	line  []string // its command line, as its documentation writes it

	tool, arguments string // the call; the prefix of tools is the name of the plugin
	want            string // in the result
}

// registryPath has the programs that install and run the servers. Debian's Node may be too old, and
// scripts/needs.sh then installs another one in /usr/local/bin.
const registryPath = "PATH=/usr/local/bin:/usr/bin:/bin"

// officialServers returns the servers. Their files are in dir, and page is the URL of a page.
func officialServers(dir, page string) []officialServer {
	return []officialServer{
		{"everything", "server-everything.json", nil, []string{"npx", "-y", "@modelcontextprotocol/server-everything"},
			"get-sum", `{"a":4021,"b":7}`, "4028"},
		{"files", "server-filesystem.json", []string{"--write", dir}, []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", dir},
			"read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "note.txt")), "the note of the test"},
		{"memory", "server-memory.json", []string{"--write", dir, "--set", "MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")}, []string{"npx", "-y", "@modelcontextprotocol/server-memory"},
			"search_nodes", `{"query":"Ada"}`, "the memory of the test"},
		{"thinking", "server-sequential-thinking.json", nil, []string{"npx", "-y", "@modelcontextprotocol/server-sequential-thinking"},
			"sequentialthinking", `{"thought":"x","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":3}`, `"totalThoughts"`},
		{"fetch", "mcp-server-fetch.txt", []string{"--network"}, []string{"uvx", "mcp-server-fetch", "--allow-private-ips"},
			"fetch", fmt.Sprintf(`{"url":%q,"raw":true}`, page), "the page of the test"}, // without raw, it wants to install a package of npm
		{"git", "mcp-server-git.txt", []string{"--read", filepath.Join(dir, "repo")}, []string{"uvx", "mcp-server-git", "--repository", filepath.Join(dir, "repo")},
			"git_log", fmt.Sprintf(`{"repo_path":%q}`, filepath.Join(dir, "repo")), "the commit of the test"},
		{"time", "mcp-server-time.txt", nil, []string{"uvx", "mcp-server-time", "--local-timezone", "Europe/Berlin"},
			"convert_time", `{"source_timezone":"Europe/Berlin","time":"12:00","target_timezone":"Asia/Kathmandu"}`, "16:45"},
		{"sqlite", "mcp-server-sqlite.txt", []string{"--write", dir}, []string{"uvx", "--with", "mcp<2", "mcp-server-sqlite", "--db-path", filepath.Join(dir, "test.db")},
			"read_query", `{"query":"select 4021+8 as n"}`, "4029"},
	}
}

// TestOfficialServers installs the servers of the MCP project from npm and PyPI with `mcp add`, and
// calls each through the command line, the Python client, agentd and toolhost's own MCP server. The
// sandbox is on. The short form installs one server of each registry.
func TestOfficialServers(t *testing.T) {
	h := prepare(t)
	h.env = []string{registryPath}
	dir := filepath.Join(h.workspace, "data")
	prepareFiles(t, dir)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body><article><p>the page of the test</p></article></body></html>")
	}))
	t.Cleanup(site.Close)
	write(t, filepath.Join(h.home, "toolhost.yaml"), fmt.Sprintf("workspace: %s\npolicy: {rules: [{name: all, when: \"true\", then: allow}]}\n", h.workspace), 0o600)
	h.trust(t, "toolhost.yaml")
	servers := officialServers(dir, site.URL+"/page")
	if !size.Long() {
		servers = slices.DeleteFunc(servers, func(s officialServer) bool { return s.name != "memory" && s.name != "git" })
	}
	for _, s := range servers {
		h.addOfficial(t, s)
	}
	if t.Failed() {
		return
	}
	h.serve(t)
	h.toPython(t, servers)
	for _, s := range servers {
		r := h.do(t, "call", s.name+"_"+s.tool, s.arguments)
		r.exits(t, 0)
		r.says(t, s.want)
		if sandbox := h.sandboxOf(t, s.name); sandbox.Mode != "required" || len(sandbox.Layers) == 0 {
			t.Errorf("%s: the sandbox is %+v", s.name, sandbox)
		}
	}
	client := h.mcpServe(t, "2025-11-25", nil)
	for _, s := range servers {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(s.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		if result, text := client.call(t, s.name+"_"+s.tool, arguments, nil); result.IsError || !strings.Contains(text, s.want) {
			t.Errorf("%s by MCP: %q", s.name, text)
		}
	}
	h.toAgent(t, servers)
}

// prepareFiles writes what the servers read.
func prepareFiles(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "repo"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "note.txt"), "the note of the test", 0o600)
	write(t, filepath.Join(dir, "memory.jsonl"), `{"type":"entity","name":"Ada","entityType":"person","observations":["the memory of the test"]}`+"\n", 0o600)
	write(t, filepath.Join(dir, "test.db"), "", 0o600) // the server cannot create it while toolhost lists its tools
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-q", "--allow-empty", "-m", "the commit of the test"}} {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", filepath.Join(dir, "repo")}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// addOfficial adds a server. npm and pip need the environment of this machine.
func (h *toolhost) addOfficial(t *testing.T, s officialServer) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	lock, cache := filepath.Join(root, "server/internal/e2e/testdata/servers", s.lock), filepath.Join(root, ".build", "docs")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := slices.Concat([]string{"mcp", "add", s.name, "--plugins", h.plugins, "--addr", h.addr, "--prefix", s.name + "_", "--lock-packages", lock}, s.flags, []string{"--"}, s.line)
	cmd := command(ctx, h.home, nil, "toolhost", args...)
	cmd.Env = append(os.Environ(), "HOME="+h.home, "TMPDIR="+h.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_DATA_HOME=", "XDG_RUNTIME_DIR=", "CI=",
		"npm_config_cache="+filepath.Join(cache, "npm"), "PIP_CACHE_DIR="+filepath.Join(cache, "pip"), registryPath)
	r := run(t, cmd)
	r.exits(t, 0)
	r.says(t, "added "+s.name+":", "pinned by their hashes")
}

// caller calls the tools of standard input with the Python client, and prints the texts.
const caller = `
import json, sys
from toolhost.client import Client
with Client(sys.argv[1]) as client:
    for name, arguments in json.load(sys.stdin):
        print(json.dumps(client.call(name, arguments).text))
`

func (h *toolhost) toPython(t *testing.T, servers []officialServer) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	python, err := setup.Python(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var calls [][]any
	for _, s := range servers {
		calls = append(calls, []any{s.name + "_" + s.tool, json.RawMessage(s.arguments)})
	}
	input, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python.Caller[0], "-B", "-c", caller, h.addr)
	cmd.Stdin = strings.NewReader(string(input))
	r := run(t, cmd)
	r.exits(t, 0)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != len(servers) {
		t.Fatalf("%d results: %s", len(lines), r.stdout)
	}
	for i, s := range servers {
		var text string
		if err := json.Unmarshal([]byte(lines[i]), &text); err != nil || !strings.Contains(text, s.want) {
			t.Errorf("%s by the Python client: %v, %s", s.name, err, lines[i])
		}
	}
}

// toAgent lets a run of agentd call each server.
func (h *toolhost) toAgent(t *testing.T, servers []officialServer) {
	t.Helper()
	m := newMind(t, func(asked thought) (string, string) {
		done := 0
		for _, message := range asked.Messages {
			if message.Role == "tool" {
				done++
			}
		}
		if done == len(servers) {
			return "done", ""
		}
		return "", call(fmt.Sprintf("c%d", done), servers[done].name+"_"+servers[done].tool, servers[done].arguments)
	})
	d := h.agentdServe(t, m.flags()...)
	id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	d.story(t, id, 0, nil)
	thoughts := m.thoughts()
	last := thoughts[len(thoughts)-1]
	var results []string
	for _, message := range last.Messages {
		if message.Role == "tool" {
			results = append(results, fmt.Sprint(message.Content))
		}
	}
	if len(results) != len(servers) {
		t.Fatalf("the run has %d results: %q", len(results), results)
	}
	for i, s := range servers {
		if !strings.Contains(results[i], s.want) {
			t.Errorf("%s by agentd: %q", s.name, results[i])
		}
	}
}
