package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServersOfClientFiles(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"HOME": "/home/ada", "USER_TOKEN": "u-1"}[name] }
	file := filepath.Join(t.TempDir(), "mcp.json")
	const text = `{"other": 1, "mcpServers": {
		"plain": {"command": "npx", "args": ["-y", "server", "${HOME}/x", "${userHome}/y"], "env": {
			"A": "literal", "B": "${TOKEN}", "C": "${env:TOKEN}", "D": "${USER_TOKEN:-x}", "E": "${NONE:-preset}", "F": "u:${USER_TOKEN}", "G": "", "H": 7, "I": "pa$$word a$B $token $1", "J": "$TOKEN", "K": "-u $USER_TOKEN:$USER_TOKEN"}},
		"defaults": {"command": "x", "args": ["$HOME/z", "${NONE:-y}"]},
		"remote default": {"url": "${NONE:-https://c.example}/mcp", "headers": {"A": "Bearer $TOKEN"}},
		"remote shown": {"url": "https://a.example/?key=$TOKEN"},
		"default shown": {"command": "x", "args": ["${USER_TOKEN:-y}"]},
		"number": 7, "args": {"command": "x", "args": "y"},
		"remote one": {"type": "http", "url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}", "X-Key": "literal", "X-P": "a ${NONE:-b}"}},
		"gemini": {"httpUrl": "https://b.example"},
		"off": {"command": "x", "disabled": true},
		"sse": {"type": "sse", "url": "https://a.example"},
		"nothing": {},
		"both": {"command": "x", "url": "https://a.example"},
		"input": {"command": "x", "env": {"A": "${input:key}"}},
		"list": {"command": "x", "env": {"A": ["x"]}},
		"unset": {"command": "x", "env": {"A": "x${NONE}"}},
		"shown": {"command": "x", "args": ["--token", "${TOKEN}"]},
		"folder": {"command": "x", "args": ["${workspaceFolder}"]},
		"envfile": {"command": "x", "envFile": ".env"}
	}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	servers, err := readClientFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*server{
		"plain": {
			name: "plain", command: []string{"npx", "-y", "server", "/home/ada/x", "/home/ada/y"}, set: map[string]string{"G": ""}, headers: map[string]header{},
			secrets: map[string]secret{
				"A": {name: "plain_A", value: "literal"}, "B": {name: "plain_B", variable: "TOKEN"}, "C": {name: "plain_C", variable: "TOKEN"},
				"D": {name: "plain_D", value: "u-1"}, "E": {name: "plain_E", value: "preset"}, "F": {name: "plain_F", value: "u:u-1"},
				"H": {name: "plain_H", value: "7"}, "I": {name: "plain_I", value: "pa$$word a$B $token $1"},
				"J": {name: "plain_J", variable: "TOKEN"}, "K": {name: "plain_K", value: "-u u-1:u-1"},
			},
		},
		"remote one": {
			name: "remote-one", url: "https://a.example/mcp", set: map[string]string{}, secrets: map[string]secret{},
			headers: map[string]header{
				"Authorization": {"Bearer ${secret remote-one_TOKEN}", []secret{{name: "remote-one_TOKEN", variable: "TOKEN"}}},
				"X-Key":         {"${secret remote-one_X-Key}", []secret{{name: "remote-one_X-Key", value: "literal"}}},
				"X-P":           {"${secret remote-one_X-P}", []secret{{name: "remote-one_X-P", value: "a b"}}},
			},
		},
		"defaults": {name: "defaults", command: []string{"x", "/home/ada/z", "y"}, set: map[string]string{}, secrets: map[string]secret{}, headers: map[string]header{}},
		"remote default": {
			name: "remote-default", url: "https://c.example/mcp", set: map[string]string{}, secrets: map[string]secret{},
			headers: map[string]header{"A": {"Bearer ${secret remote-default_TOKEN}", []secret{{name: "remote-default_TOKEN", variable: "TOKEN"}}}},
		},
		"gemini": {name: "gemini", url: "https://b.example", set: map[string]string{}, secrets: map[string]secret{}, headers: map[string]header{}},
	}
	refused := map[string]string{
		"off": "disabled", "sse": "streamable HTTP", "nothing": "neither a command nor a url", "both": "a command and a url", "input": "cannot follow ${input:key}",
		"list": "is no text", "unset": "the variable NONE is not set here", "shown": "plugin.yaml would show its value", "folder": "cannot follow ${workspaceFolder}", "envfile": "envFile",
		"remote shown": "the url has ${TOKEN}", "default shown": "plugin.yaml would show its value", "number": "no server of an MCP client", "args": "no server of an MCP client",
	}
	for name, text := range servers {
		var got *server
		from, err := parseClientServer(text)
		if err == nil {
			got, err = from.server(name, getenv)
		}
		if reason, ok := refused[name]; ok {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v, want %q", name, err, reason)
			}
			continue
		}
		if err != nil || !cmp.Equal(got, want[name], cmp.AllowUnexported(server{}, secret{}, header{})) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want[name], got, cmp.AllowUnexported(server{}, secret{}, header{})))
		}
	}
	if len(servers) != len(want)+len(refused) {
		t.Errorf("%d servers", len(servers))
	}
	for _, bad := range []string{"", "[]", "{}", `{"mcpServers": [1]}`, "// a comment\n{}", `{"mcpServers": {"a": {}} // x`, `{"mcpServers": {'a': {}}}`, "\xff\xfe{\x00}\x00"} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readClientFile(file); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// TestFormsOfClientFiles checks that a file is read as its client reads it
// (github.com/github/copilot-cli
// #4323, and the settings of VS Code and Zed).
func TestFormsOfClientFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	for name, text := range map[string]string{
		"plain":           `{"mcpServers": {"a": {"command": "x"}}}`,
		"a byte mark":     "\xef\xbb\xbf" + `{"mcpServers": {"a": {"command": "x"}}}`,
		"a comment":       "// mine\n{\"mcpServers\": /* all */ {\"a\": {\"command\": \"x\"}}} // end",
		"a comma":         `{"mcpServers": {"a": {"command": "x", "args": ["y",],},},}`,
		"other lines":     "{\r\n\t\"servers\": {\r\n\t// \"b\": {},\r\n\"a\": {\"command\": \"x\"}}}\r\n",
		"a URL":           `{"mcpServers": {"a": {"command": "x", "args": ["https://y/*z*/"]}}}`,
		"all of them":     "\xef\xbb\xbf/* a */{\"mcpServers\": {\"a\": {\"command\": \"x\", /* b */}, // c\n},}",
		"a wrong sibling": `{"mcpServers": {"a": {"command": "x"}, "b": {"command": ["y"]}, "c": null}}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		servers, err := readClientFile(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		from, err := parseClientServer(servers["a"])
		if err != nil || from.Command != "x" || name == "a URL" && from.Args[0] != "https://y/*z*/" {
			t.Errorf("%s: %+v, %v", name, from, err)
		}
	}
}

func TestPluginNames(t *testing.T) {
	for name, want := range map[string]string{"a_b-1": "a_b-1", "My Server": "My-Server", "@scope/x": "scope-x", "7zip": "mcp-7zip", "\x1b[31m": "mcp-31m", "日本": "mcp-", strings.Repeat("x ", 99): strings.Repeat("x-", 29) + "x"} {
		if got := pluginName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
