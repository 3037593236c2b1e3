package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/clientfile"
	"github.com/toolhost/toolhost/tool"
)

// clientFile is the part of an MCP client's configuration that names servers. Clients use one of
// the keys.
type clientFile struct {
	MCPServers map[string]json.RawMessage `json:"mcpServers"` // most clients
	Servers    map[string]json.RawMessage `json:"servers"`    // VS Code
}

// clientServer is a server in the configuration of an MCP client. The address of a server over HTTP
// has another key in some clients.
type clientServer struct {
	Type      string         `json:"type"`
	Transport string         `json:"transport"`
	Command   string         `json:"command"`
	Args      []string       `json:"args"`
	Env       map[string]any `json:"env"`
	EnvFile   string         `json:"envFile"`
	Cwd       string         `json:"cwd"`
	URL       string         `json:"url"`
	HTTPURL   string         `json:"httpUrl"`
	ServerURL string         `json:"serverUrl"`
	Headers   map[string]any `json:"headers"`
	Disabled  bool           `json:"disabled"`
}

// errDisabled is the reason for a server that its file switches off.
var errDisabled = errors.New("the file says that it is disabled")

// readClientFile returns the servers of a file, by name. As clients do, it takes JSON with comments
// and trailing commas, behind a byte order mark.
func readClientFile(path string) (map[string]json.RawMessage, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, clientfile.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > clientfile.MaxBytes {
		return nil, fmt.Errorf("%s has more than %d bytes", path, clientfile.MaxBytes)
	}
	var found clientFile
	data, err = clientfile.Standardize(data)
	if err == nil {
		err = json.Unmarshal(data, &found)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not the JSON of an MCP client: %w", path, err)
	}
	servers := found.MCPServers
	if len(servers) == 0 {
		servers = found.Servers
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("%s has no servers: neither mcpServers nor servers is there", path)
	}
	return servers, nil
}

// pluginName returns the name of the plugin for the name of a server. Names of plugins have fewer
// characters.
func pluginName(name string) string {
	if tool.CheckName(name) == nil {
		return name
	}
	mapped := strings.Map(func(r rune) rune {
		if tool.CheckName("a"+string(r)) != nil {
			return '-'
		}
		return r
	}, name)
	mapped = strings.Trim(mapped[:min(len(mapped), 60)], "-")
	if tool.CheckName(mapped) != nil {
		mapped = "mcp-" + mapped
	}
	return mapped
}

// parseClientServer reads a server of a file. Another server may be good if this one is not.
func parseClientServer(text json.RawMessage) (*clientServer, error) {
	var from clientServer
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, fmt.Errorf("it is no server of an MCP client: %w", err)
	}
	return &from, nil
}

// server returns the server that the file describes. The error is the reason why it cannot be
// added.
func (c *clientServer) server(name string, getenv func(string) string) (*server, error) {
	s := &server{name: pluginName(name), secrets: map[string]secret{}, headers: map[string]header{}, set: map[string]string{}}
	e := expander{plugin: s.name, getenv: getenv}
	for _, url := range []string{c.URL, c.HTTPURL, c.ServerURL} {
		if url != "" {
			s.url = url
		}
	}
	switch {
	case c.Disabled:
		return nil, errDisabled
	case c.EnvFile != "":
		return nil, errors.New("it takes variables from envFile; write them into env")
	case s.url != "" && c.Command != "":
		return nil, errors.New("it has a command and a url")
	case s.url != "" && (c.Type == "sse" || c.Transport == "sse"):
		return nil, errors.New("toolhost does not speak the transport sse, which MCP has replaced; use the server's URL for streamable HTTP")
	}
	if s.url != "" {
		var err error
		if s.url, err = e.visible("url", s.url); err != nil {
			return nil, err
		}
		return s, e.addHeaders(s, c.Headers)
	}
	if c.Command == "" {
		return nil, errors.New("it has neither a command nor a url")
	}
	for _, word := range append([]string{c.Command}, c.Args...) {
		word, err := e.visible("command", word)
		if err != nil {
			return nil, err
		}
		s.command = append(s.command, word)
	}
	return s, e.addVariables(s, c.Env)
}

// addVariables makes a secret of each variable.
func (e *expander) addVariables(s *server, env map[string]any) error {
	for _, variable := range slices.Sorted(maps.Keys(env)) {
		text, err := scalarText(env[variable])
		if err == nil && text == "" { // no secret has an empty value
			s.set[variable] = ""
			continue
		}
		if err == nil {
			s.secrets[variable], err = e.secret(secretName(s.name, variable), text)
		}
		if err != nil {
			return fmt.Errorf("the variable %s: %w", variable, err)
		}
	}
	return nil
}

// addHeaders makes secrets of the headers. Text around a reference to a variable stays.
func (e *expander) addHeaders(s *server, headers map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		text, err := scalarText(headers[name])
		if err == nil {
			s.headers[name], err = e.header(name, text)
		}
		if err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	return nil
}

// scalarText returns a text, number or Boolean of JSON as text.
func scalarText(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case float64, bool:
		return fmt.Sprint(value), nil
	}
	return "", errors.New("its value is no text")
}
