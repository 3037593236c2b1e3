package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// addMCP runs `toolhost mcp add` with the folder of plugins and the configuration of h.
func (h *toolhost) addMCP(t *testing.T, args ...string) result {
	t.Helper()
	return h.do(t, append([]string{"mcp", "add", "--plugins", h.plugins, "--config", filepath.Join(h.home, "toolhost.yaml")}, args...)...)
}

// textOf returns the content of a file, or the error.
func textOf(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// TestMCPAdd checks that `mcp add` makes a program a plugin of a running toolhost, and keeps the
// values of variables as secrets.
func TestMCPAdd(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	file := filepath.Join(h.home, "toolhost.yaml")
	write(t, file, "# the operator's comment\n", 0o600)
	h.serve(t)
	server := filepath.Join(bin, "mcpserver")
	h.addMCP(t, "web", "--env", "API_TOKEN=the-token-of-a-test", "--set", "MODE=x", "--prefix", "w_", "--workspace", "read", "--", server).says(t,
		"added web: 3 tools, w_do, w_echo, w_math_add", "in service", "secrets: {web_API_TOKEN: {plugins: [web], file:", "plugin: {web: {sandbox: {workspace: read}}}")
	if out := h.act(t, "w_", "secret"); out.Text != "[secret web_API_TOKEN]" {
		t.Errorf("a tool returns its secret as %q", out.Text)
	}
	for _, kept := range []string{filepath.Join(h.plugins, "web", "plugin.yaml"), file} {
		if text := textOf(kept); strings.Contains(text, "the-token") || !strings.Contains(text, "web_API_TOKEN") {
			t.Errorf("%s has %s", kept, text)
		}
	}
	if text := textOf(file); !strings.HasPrefix(text, "# the operator's comment\n") {
		t.Errorf("the configuration is %s", text)
	}
	secret := filepath.Join(h.home, ".config", "toolhost", "secrets", "web_API_TOKEN")
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 || textOf(secret) != "the-token-of-a-test\n" {
		t.Errorf("the file of the secret is %v, %v", info, err)
	}

	h.addMCP(t, "web", "--", server).exits(t, 2)
	var replaced struct {
		Replaced  bool
		InService bool `json:"in_service"`
		Tools     []string
	}
	r := h.addMCP(t, "web", "--replace", "--trust-annotations", "-o", "json", "--", server, "modern")
	if err := json.Unmarshal([]byte(r.stdout), &replaced); err != nil || !replaced.Replaced || !replaced.InService || len(replaced.Tools) != 3 {
		t.Errorf("replaced is %+v, %v: %s%s", replaced, err, r.stdout, r.stderr)
	}
	h.do(t, "call", "echo", `{"text":"read-only, so without an approval"}`).says(t, "without an approval")
}

// TestMCPAddFails checks that a server that does not work, or that cannot be pinned, leaves
// nothing.
func TestMCPAddFails(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	file := filepath.Join(h.home, "toolhost.yaml")
	write(t, file, "# the operator's comment\n", 0o600)
	h.serve(t)
	before := textOf(file)
	script := filepath.Join(h.home, "broken.sh")
	write(t, script, "#!/bin/sh\necho 'no such \x1b[31mdatabase' >&2\nexit 7\n", 0o700)
	program := filepath.Join(bin, "mcpserver")
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"exit code 7", 3, []string{"web", "--env", "A=secret-value", "--network", "--", script}},
		{"outside of toolhost's sandbox", 2, []string{"web", "--", "docker", "run", "image"}},
		{"there is no secret none", 3, []string{"web", "--env", "A=secret-value", "--secret", "B=none", "--", program}},
		{"no such file", 3, []string{"web", "--", "/no/such/program"}},
		{"no such file", 3, []string{"web", "--folder", h.home + "/none", "--", "../x"}},
		{"ill-formed", 2, []string{"a b", "--", "node"}},
		{"has two values", 2, []string{"web", "--env", "A=x", "--set", "A=y", "--", "node"}},
		{"is not none, read or write", 2, []string{"web", "--workspace", "all", "--", "node"}},
		{"for packages of npx and uvx", 2, []string{"web", "--lock-packages", script, "--", "node"}},
		{"COMMAND or URL is missing", 2, []string{"web"}},
		{"TOOLHOST_X", 3, []string{"web", "--set", "TOOLHOST_X=1", "--", program}},
	} {
		r := h.addMCP(t, c.args...)
		r.exits(t, c.code)
		r.says(t, c.want)
		if strings.Contains(r.stderr, "\x1b") {
			t.Errorf("%q: the output has a terminal control: %q", c.args, r.stderr)
		}
	}
	if textOf(file) != before {
		t.Errorf("the configuration is %s", textOf(file))
	}
	if entries, err := os.ReadDir(filepath.Join(h.home, ".config", "toolhost", "secrets")); err == nil && len(entries) > 0 {
		t.Errorf("secrets are left: %v", entries)
	}
	if entries, err := os.ReadDir(h.plugins); err != nil || len(entries) != 2 {
		t.Errorf("the folder of plugins has %v, %v", entries, err)
	}
}

// TestMCPImport checks that `mcp import` adds the servers of a client's file, keeps what is in env
// as secrets, and says why it does not add a server.
func TestMCPImport(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	config, client := filepath.Join(h.home, "toolhost.yaml"), filepath.Join(h.home, "mcp.json")
	write(t, config, "", 0o600)
	h.serve(t)
	servers := map[string]any{
		"My Web":    map[string]any{"command": filepath.Join(bin, "mcpserver"), "args": []string{"modern"}, "env": map[string]string{"API_TOKEN": "the-token-of-a-test"}},
		"later":     map[string]any{"command": filepath.Join(bin, "mcpserver"), "env": map[string]string{"API_TOKEN": "${NOT_SET_HERE}"}},
		"container": map[string]any{"command": "docker", "args": []string{"run", "image"}},
		"off":       map[string]any{"command": "x", "disabled": true},
		"My-Web":    map[string]any{"command": filepath.Join(bin, "mcpserver")},
		"dollar":    map[string]any{"command": filepath.Join(bin, "mcpserver"), "env": map[string]string{"A": "$NOT_SET_HERE"}},
		"nowhere":   map[string]any{"command": "/no/such/program"},
		"no url":    map[string]any{"url": "${NONE:-x}"},
		"no header": map[string]any{"url": "https://a.example", "headers": map[string]string{"a b": "x"}},
		"reserved":  map[string]any{"command": filepath.Join(bin, "mcpserver"), "env": map[string]string{"TOOLHOST_X": "x"}},
		"a shell":   map[string]any{"command": "env", "args": []string{"bash", "-c", "x"}},
		"number":    7,
		"\x1b[31m":  map[string]any{"command": "x", "env": map[string]string{"A": "${input:\x1b[31m}"}},
	}
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	write(t, client, string(text), 0o600)
	before := textOf(config)
	run := func(args ...string) result {
		return h.do(t, append([]string{"mcp", "import", "--plugins", h.plugins, "--config", config}, args...)...)
	}
	planned := run("--dry-run", client)
	planned.exits(t, 3)
	planned.says(t, "would add My-Web", "the secret My-Web_API_TOKEN", "skipped container: docker starts")
	if entries, err := os.ReadDir(h.plugins); err != nil || len(entries) != 2 || textOf(config) != before {
		t.Errorf("a dry run leaves %v, %v, %s", entries, err, textOf(config))
	}

	done := run(client)
	done.exits(t, 3)
	done.says(t, "added My-Web: 3 tools", "its name in the file is My Web", "skipped container", "skipped off: the file says that it is disabled",
		"skipped later: the variable NOT_SET_HERE is not set here")
	// what a dry run says about a server is what a real run does with it
	for line := range strings.Lines(planned.stdout) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "skipped ") && !strings.Contains(done.stdout, line) {
			t.Errorf("the real run does not say %q", line)
		} else if name, would := strings.CutPrefix(line, "would add "); would && !strings.Contains(done.stdout, "added "+name+":") {
			t.Errorf("the real run does not add %s", name)
		}
	}
	if all := done.stdout + planned.stdout; strings.Contains(all, "\x1b") || strings.Contains(all, "the-token") {
		t.Errorf("the output is %q", all)
	}
	for _, kept := range []string{filepath.Join(h.plugins, "My-Web", "plugin.yaml"), config} {
		if text := textOf(kept); strings.Contains(text, "the-token") || !strings.Contains(text, "My-Web_API_TOKEN") || strings.Contains(text, "later") {
			t.Errorf("%s has %s", kept, text)
		}
	}
	if out := h.act(t, "", "secret"); out.Text != "[secret My-Web_API_TOKEN]" {
		t.Errorf("a tool returns its secret as %q", out.Text)
	}
	run(client, "My Web").says(t, "skipped My Web: there is a plugin My-Web already")
	run("--replace", client, "My Web").exits(t, 0)
	run(client, "none").exits(t, 2)
}

// TestMCPAddWritesAtStart adds a server that writes when it starts: toolhost grants it what --write
// names already when it lists the tools. A look at a server that is not trusted grants it nothing.
func TestMCPAddWritesAtStart(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "new_plugins: ask\n", 0o600)
	h.serve(t)
	folder, data := filepath.Join(h.home, "server"), filepath.Join(h.home, "data")
	for _, dir := range []string{folder, data} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(folder, "start.sh"), "#!/bin/sh\necho started >> "+data+"/log || exit 7\nexec ./mcpserver\n", 0o700)
	server, err := os.ReadFile(filepath.Join(bin, "mcpserver"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "mcpserver"), string(server), 0o700)
	refused := h.addMCP(t, "notes", "--folder", folder, "--", "./start.sh")
	refused.exits(t, 3)
	refused.says(t, "exit code 7", "--write PATH")
	h.addMCP(t, "notes", "--folder", folder, "--write", data, "--", "./start.sh").says(t, "added notes: 3 tools", "in service")
	h.do(t, "trust", "--diff", "notes", "--plugins", h.plugins).says(t, "trusted notes")
	h.do(t, "trust", "--revoke", "notes", "--plugins", h.plugins).exits(t, 0)
	started := textOf(filepath.Join(data, "log"))
	if !strings.HasPrefix(started, "started\n") {
		t.Errorf("the log of the server is %q", started)
	}
	h.do(t, "trust", "--diff", "notes", "--plugins", h.plugins).says(t, "exit code 7")
	if now := textOf(filepath.Join(data, "log")); now != started {
		t.Errorf("after a look at the server, its log is %q", now)
	}
}
