// Package clientfile edits the configuration files of MCP clients: it adds, changes and removes the
// entry with which a client starts `toolhost mcp serve`.
//
// It owns which clients there are, where their files are, the form of an entry, and that an edit
// changes nothing else. It does not own what the command of an entry does. `toolhost mcp import`
// reads such files for another purpose.
package clientfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Client is an MCP client. Use Clients or Find.
type Client struct {
	Name  string // on the command line
	Title string // for people

	user    func(e environment) []string // its files in the order of preference
	project []string                     // the same in the folder of a project; nil: none
	servers []string                     // the keys that lead to the object with the entries
	// nested is the key of an object in servers that has the entries in files of another version.
	nested string
	syntax syntax
	form   func(line []string) object // the entry that starts a command line
}

// clients are the clients in the order of the list that people see.
var clients = []Client{
	{ // https://code.claude.com/docs/en/mcp; for CLAUDE_CONFIG_DIR https://code.claude.com/docs/en/settings
		Name: "claude", Title: "Claude Code", servers: []string{"mcpServers"}, syntax: jsonSyntax{}, form: split(""),
		user:    func(e environment) []string { return e.under("CLAUDE_CONFIG_DIR", "", ".claude.json") },
		project: []string{".mcp.json"},
	},
	{ // https://developers.openai.com/codex/mcp, https://developers.openai.com/codex/config-reference
		Name: "codex", Title: "Codex", servers: []string{"mcp_servers"}, syntax: tomlSyntax{}, form: split(""),
		user:    func(e environment) []string { return e.under("CODEX_HOME", ".codex", "config.toml") },
		project: []string{".codex/config.toml"},
	},
	{ // https://geminicli.com/docs/tools/mcp-server, https://geminicli.com/docs/cli/configuration
		Name: "gemini", Title: "Gemini CLI", servers: []string{"mcpServers"}, syntax: jsonSyntax{}, form: split(""),
		user:    func(e environment) []string { return e.under("", ".gemini", "settings.json") },
		project: []string{".gemini/settings.json"},
	},
	{ // https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/config; version 2: https://opencode.ai/v2/docs/mcp-servers
		Name: "opencode", Title: "opencode", servers: []string{"mcp"}, nested: "servers", syntax: jsonSyntax{}, form: joined,
		user: func(e environment) []string {
			return e.under("XDG_CONFIG_HOME", ".config", "opencode/opencode.json", "opencode/opencode.jsonc")
		},
		project: []string{"opencode.json", "opencode.jsonc"},
	},
	{ // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
		Name: "vscode", Title: "Visual Studio Code", servers: []string{"servers"}, syntax: jsonSyntax{}, form: split("stdio"),
		user: func(e environment) []string {
			if runtime.GOOS == "darwin" {
				return e.under("", "Library/Application Support", "Code/User/mcp.json")
			}
			return e.under("XDG_CONFIG_HOME", ".config", "Code/User/mcp.json")
		},
		project: []string{".vscode/mcp.json"},
	},
	{ // https://cursor.com/docs/context/mcp
		Name: "cursor", Title: "Cursor", servers: []string{"mcpServers"}, syntax: jsonSyntax{}, form: split(""),
		user:    func(e environment) []string { return e.under("", ".cursor", "mcp.json") },
		project: []string{".cursor/mcp.json"},
	},
	{ // https://zed.dev/docs/ai/mcp, https://zed.dev/docs/configuring-zed
		Name: "zed", Title: "Zed", servers: []string{"context_servers"}, syntax: jsonSyntax{}, form: split(""),
		user: func(e environment) []string {
			if runtime.GOOS == "darwin" {
				return e.under("", ".config", "zed/settings.json")
			}
			return e.under("XDG_CONFIG_HOME", ".config", "zed/settings.json")
		},
	},
}

// Clients returns all clients.
func Clients() []Client { return slices.Clone(clients) }

// Names returns the names of the clients.
func Names() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.Name
	}
	return names
}

// Find returns the client of a name.
func Find(name string) (Client, error) {
	at := slices.Index(Names(), name)
	if at < 0 {
		return Client{}, fmt.Errorf("%q is no client that toolhost knows; use %s", name, strings.Join(Names(), ", "))
	}
	return clients[at], nil
}

// split returns the form of most clients: the program and its arguments. kind is the member type;
// empty: none.
func split(kind string) func(line []string) object {
	return func(line []string) object {
		entry := object{{commandKey, line[0]}, {argumentsKey, line[1:]}}
		if kind != "" {
			entry = slices.Insert(entry, 0, member{"type", kind})
		}
		return entry
	}
}

// joined is the form of opencode: the program and its arguments are one list.
func joined(line []string) object {
	return object{{"type", "local"}, {commandKey, line}, {"enabled", true}}
}

// The members of an entry that have the command line. The user may change all others.
const (
	commandKey   = "command"
	argumentsKey = "args"
)

// lineOf returns the command line of an entry, whichever form it has.
func lineOf(entry any) []string {
	members, _ := entry.(map[string]any)
	var line []string
	add := func(value any) {
		switch value := value.(type) {
		case string:
			line = append(line, value)
		case []any:
			for _, word := range value {
				text, _ := word.(string)
				line = append(line, text)
			}
		}
	}
	add(members[commandKey])
	add(members[argumentsKey])
	return line
}

// environment looks up variables.
type environment func(name string) string

// under returns paths below the folder that a variable names, or below a folder of the user's home.
// A relative folder in the variable does not count.
func (e environment) under(variable, folder string, files ...string) []string {
	parent := ""
	if variable != "" {
		parent = e(variable)
	}
	if !filepath.IsAbs(parent) {
		if parent = e("HOME"); !filepath.IsAbs(parent) {
			return nil
		}
		parent = filepath.Join(parent, folder)
	}
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = filepath.Join(parent, file)
	}
	return paths
}

// path returns the file of the client: that of the user, or in the folder of a project if it is not
// empty. Of several files, it is the first that exists, or else the first.
func (c *Client) path(getenv func(string) string, project string) (string, error) {
	paths := c.project
	if project == "" {
		if paths = c.user(getenv); len(paths) == 0 {
			return "", errors.New("there is no folder for the file of " + c.Title + "; set HOME to an absolute path")
		}
	} else if len(paths) == 0 {
		return "", fmt.Errorf("%s has no file with MCP servers in a project", c.Title)
	}
	for i, path := range paths {
		if project != "" {
			path = filepath.Join(project, path)
		}
		if _, err := os.Lstat(path); err == nil || i == 0 && len(paths) == 1 {
			return path, nil
		}
	}
	return filepath.Join(project, paths[0]), nil
}
