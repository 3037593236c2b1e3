package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

func TestParse(t *testing.T) {
	got, err := manifest.Parse("plugin.yaml", []byte(`
# A plugin in Python.
name: weather
description: "Says what the sky does: rain, sun"
command: [python3, -u]
args:
  - main.py
  - 8
env:
  set: {LOG: debug, LEVEL: 3, EMPTY: ""}
  pass: [HTTP_PROXY]
permissions:
  network: true
  workspace: read
  read: [/etc/ssl/../ssl]
  write: [/var/cache/weather]
limits: {memory: 512MiB, cpu: 0.5, processes: 4, open_files: 100, file_size: 1000}
`))
	want := &manifest.Manifest{
		Name: "weather", Description: "Says what the sky does: rain, sun",
		Command: []string{"python3", "-u", "main.py", "8"},
		Env: manifest.Env{
			Set:  map[string]string{"LOG": "debug", "LEVEL": "3", "EMPTY": ""},
			Pass: []string{"HTTP_PROXY"},
		},
		Permissions: manifest.Permissions{Network: true, Workspace: "read", Read: []string{"/etc/ssl"}, Write: []string{"/var/cache/weather"}},
		Limits:      manifest.Limits{MemoryBytes: 512 << 20, CPUs: .5, Processes: 4, OpenFiles: 100, FileSizeBytes: 1000},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("manifest (-want +got): %v\n%s", err, diff)
	}
}

// Each error of a manifest names file, line and column, and the allowed values.
func TestBadManifests(t *testing.T) {
	const command = "command: [x]\n"
	for name, tc := range map[string]struct{ text, place, want string }{
		"empty":               {"", "f:", "command: [python3, main.py]"},
		"a comment alone":     {"# nothing\n", "f:", "command: [python3, main.py]"},
		"no mapping":          {"- x\n", "f:1:1", "a list is not a mapping of keys; its keys are name, "},
		"no YAML":             {"command: [x\n", "f:1:", ""},
		"unknown key":         {command + "comand: x\n", "f:2:1", `comand: there is no such key; did you mean command? The keys of the file are name, description, command, args, mcp, env, permissions, limits`},
		"twice":               {command + command, "f:2:1", "command"},
		"two documents":       {command + "---\n" + command, "f:3:1", "must hold one"},
		"anchor":              {"command: &a [x]\n", "f:1:", "anchor"},
		"no command":          {"name: x\n", "f:1:1", "command: there is no such key, and it cannot be left out; write it as [PROGRAM"},
		"command as text":     {"command: python3 main.py\n", "f:1:10", "is not a list of texts; write it as [PROGRAM, ARGUMENT"},
		"empty command":       {"command: []\n", "f:1:10", "the command is empty"},
		"a list in it":        {"command: [x, [y]]\n", "f:1:14", "command[1]: a list is not a text"},
		"absolute program":    {"command: [/bin/sh]\n", "f:1:", "not in the plugin's folder"},
		"program outside":     {"command: [../x]\n", "f:1:", "not in the plugin's folder"},
		"bad name":            {command + "name: no such name\n", "f:2:7", "ill-formed"},
		"no name":             {command + "name:\n", "f:2:", "name: there is no value; write a name"},
		"env":                 {command + "env: {A: b}\n", "f:2:7", "env.A: there is no such key. The keys of env are set, pass"},
		"env of toolhost":     {command + "env:\n  set:\n    PLUGIN_PROTOCOL: x\n", "f:4:5", "toolhost's own"},
		"pass of toolhost":    {command + "env: {pass: [A, TOOLHOST_X]}\n", "f:2:", "toolhost's own"},
		"pass no name":        {command + "env: {pass: [A=B]}\n", "f:2:", "no name of an environment variable"},
		"value":               {command + "env: {set: {A: [b]}}\n", "f:2:", "env.set.A: a list is not a text"},
		"network":             {command + "permissions: {network: sometimes}\n", "f:2:24", `permissions.network: "sometimes" is not true or false`},
		"workspace":           {command + "permissions: {workspace: all}\n", "f:2:26", `"all" is not none, read or write`},
		"relative":            {command + "permissions: {read: [etc]}\n", "f:2:", `permissions.read[0]: the path "etc" is not absolute`},
		"unknown permission":  {command + "permissions: {root: true}\n", "f:2:15", "The keys of permissions are network, workspace, read, write"},
		"memory":              {command + "limits: {memory: 1 elephant}\n", "f:2:18", "a size of at least 1, in bytes or such as 512MiB"},
		"negative":            {command + "limits: {memory: -1}\n", "f:2:18", "a size of at least 1, in bytes or such as 512MiB"},
		"too large":           {command + "limits: {memory: 9999999TiB}\n", "f:2:18", "a size of at least 1, in bytes or such as 512MiB"},
		"cpu":                 {command + "limits: {cpu: 0}\n", "f:2:15", "a number from 0.001 to 1024"},
		"not a number":        {command + "limits: {cpu: .nan}\n", "f:2:15", "a number from 0.001 to 1024"},
		"processes":           {command + "limits: {processes: 1.5}\n", "f:2:21", "a whole number from 1"},
		"brackets":            {strings.Repeat("[", manifest.MaxSize), "f:", "nested more than 100 deep"},
		"dashes":              {"command:\n" + strings.Repeat("- ", 1000), "f:", "nested more than 100 deep"},
		"too much":            {strings.Repeat("#", manifest.MaxSize+1), "f:", "more than 65536 bytes"},
		"command and server":  {command + "mcp: {command: [y]}\n", "f:1:10", "an MCP server has mcp.command or mcp.url instead"},
		"both servers":        {"mcp: {command: [y], url: 'https://a.example'}\n", "f:1:", "not both"},
		"an empty server":     {"mcp: {prefix: x_}\n", "f:1:1", "mcp: {url: …} for an MCP server"},
		"server's args":       {"mcp: {command: [y]}\nargs: [z]\n", "f:2:", "write the arguments into mcp.command"},
		"server outside":      {"mcp: {command: [/bin/y]}\n", "f:1:", "not in the plugin's folder"},
		"URL":                 {"mcp: {url: 'ftp://a.example'}\n", "f:1:", "begins with https:// or http://"},
		"URL with password":   {"mcp: {url: 'https://a:b@a.example'}\n", "f:1:", "do not belong into a URL"},
		"header of a program": {"mcp: {command: [y], headers: {A: b}}\n", "f:1:", "use mcp.secrets"},
		"secret of a URL":     {"mcp: {url: 'https://a.example', secrets: {A: b}}\n", "f:1:", "${secret NAME}"},
		"protocol's header":   {"mcp: {url: 'https://a.example', headers: {mcp-session-id: b}}\n", "f:1:", "the protocol's own"},
		"header":              {"mcp: {url: 'https://a.example', headers: {'a b': b}}\n", "f:1:", "no name of a header"},
		"no secret":           {"mcp: {url: 'https://a.example', headers: {A: 'x ${NAME}'}}\n", "f:1:", "${secret NAME}"},
		"line in a header":    {"mcp: {url: 'https://a.example', headers: {A: \"a\\r\\nB: c\"}}\n", "f:1:", "control character"},
		"fragment":            {"mcp: {url: 'https://a.example/#x'}\n", "f:1:", "no fragment"},
		"URL's limits":        {"mcp: {url: 'https://a.example'}\nlimits: {memory: 1GiB}\n", "f:2:", "has no process"},
		"URL's environment":   {"mcp: {url: 'https://a.example'}\nenv: {set: {A: b}}\n", "f:2:", "has no process"},
		"prefix":              {"mcp: {command: [y], prefix: 7a}\n", "f:1:", "ill-formed"},
		"unknown limit":       {command + "limits: {disk: 1}\n", "f:2:10", "The keys of limits are memory, cpu, processes, open_files, file_size"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := manifest.Parse("f", []byte(tc.text))
			if err == nil {
				t.Fatalf("taken for %+v", m)
			}
			if !strings.HasPrefix(err.Error(), tc.place) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is\n%v\nwant it to begin with %q and to say %q", err, tc.place, tc.want)
			}
		})
	}
}

func TestParseServers(t *testing.T) {
	m, err := manifest.Parse("f", []byte("mcp: {command: [node, server.js], secrets: {TOKEN: github}, prefix: gh_, annotations: trusted, protocol: 2025-11-25}\n"))
	want := &manifest.Manifest{
		Command: []string{"node", "server.js"},
		MCP: &manifest.MCP{Command: []string{"node", "server.js"}, Secrets: map[string]string{"TOKEN": "github"}, Prefix: "gh_",
			Annotations: "trusted", Protocol: "2025-11-25"},
	}
	if diff := cmp.Diff(want, m); diff != "" || err != nil {
		t.Errorf("a program (-want +got): %v\n%s", err, diff)
	}
	m, err = manifest.Parse("f", []byte("mcp: {url: 'https://a.example/mcp', headers: {Authorization: 'Bearer ${secret github} ${secret x}', A: b}}\n"))
	if err != nil || len(m.Command) > 0 || cmp.Diff([]string{"github", "x"}, m.MCP.SecretNames()) != "" {
		t.Errorf("a URL: %+v, %v", m, err)
	}
	if got := manifest.ExpandHeader(m.MCP.Headers["Authorization"], map[string]string{"github": "${secret x}", "x": "2"}); got != "Bearer ${secret x} 2" {
		t.Errorf("the header is %q", got)
	}
}

// For any content of a folder, Parse returns a manifest with a command that can be run, or an
// error.
func FuzzParse(f *testing.F) {
	f.Add("command: [x]\nenv: {set: {A: b}, pass: [C]}\nlimits: {memory: 1GiB, cpu: .5}\npermissions: {network: no}\n")
	f.Add("command: &a [x]\nargs: *a\n")
	f.Add("? [a]\n: b\n")
	f.Add("command: !!binary aGk=\n--- |\n x\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := manifest.Parse("f", []byte(text))
		if err == nil && (m.MCP == nil || m.MCP.URL == "") && (len(m.Command) == 0 || m.Command[0] == "") {
			t.Errorf("a manifest without a program: %+v", m)
		}
		_, _ = manifest.ParseLock("f", []byte(text))
	})
}
