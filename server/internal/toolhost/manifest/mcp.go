package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/tool"
)

// MCP says how to use an MCP server as a plugin. Either Command or URL is set.
type MCP struct {
	// Command is the program of the server, which speaks MCP on standard input and output, and its
	// arguments. It has the rules of Manifest.Command.
	Command []string `yaml:"command" is:"text" hint:"write it as [PROGRAM, ARGUMENT, …], such as command: [node, server.js]"`
	// URL is the address of a server that speaks MCP over streamable HTTP. Such a plugin has no
	// process.
	URL string `yaml:"url" is:"URL" unset:"none"`
	// Headers are sent with each request to URL. ${secret NAME} stands for the value of a secret.
	Headers map[string]string `yaml:"headers" keys:"header" hint:"a mapping of names to texts"`
	// OAuth says how toolhost gets tokens for URL. Nil means that the server needs none.
	OAuth *OAuth `yaml:"oauth"`
	// Secrets are the variables that get the value of a secret, with the name of the secret.
	Secrets map[string]string `yaml:"secrets" keys:"variable" hint:"a mapping of variables to names of secrets"`
	// Prefix begins the names of the tools. Empty means that the tools keep their names.
	Prefix string `yaml:"prefix" is:"prefix" unset:"none"`
	// Annotations says whether toolhost obeys what the server says about its tools: read-only,
	// destructive, idempotent. Empty means AnnotationsUntrusted.
	Annotations string `yaml:"annotations" oneof:"untrusted,trusted" unset:"untrusted"`
	// Protocol is the version of MCP to begin with. Empty means the newest one that both know.
	Protocol string `yaml:"protocol" oneof:"2025-11-25,2026-07-28" unset:"the newest that both know"`
	// Trace says that a server at URL gets the trace context of each call, by which its operator can
	// tell which calls belong together. A Command always gets it.
	Trace bool `yaml:"trace"`
}

// The values of MCP.Annotations.
const (
	AnnotationsUntrusted = "untrusted"
	AnnotationsTrusted   = "trusted"
)

// Remote reports whether the manifest is that of a server at a URL, which has no process.
func (m *Manifest) Remote() bool { return m != nil && m.MCP != nil && m.MCP.URL != "" }

// SecretNames returns the names of the secrets that the server needs, in order.
func (m *MCP) SecretNames() []string {
	names := slices.Collect(maps.Values(m.Secrets))
	for _, value := range m.Headers {
		for _, found := range secretPattern.FindAllStringSubmatch(value, -1) {
			names = append(names, found[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// secretPattern matches the place of a secret in a header.
var secretPattern = regexp.MustCompile(`\$\{secret ([^{}\s]+)\}`)

// ExpandHeader returns the value of a header with the values of secrets. It expands nothing in
// these values.
func ExpandHeader(value string, secrets map[string]string) string {
	return secretPattern.ReplaceAllStringFunc(value, func(place string) string {
		return secrets[secretPattern.FindStringSubmatch(place)[1]]
	})
}

// isMCP reports whether the file describes an MCP server.
func (f *manifestFile) isMCP() bool { return len(f.MCP.Command) > 0 || f.MCP.URL != "" }

// checkServer reports the keys that do not fit the kind of plugin.
func (f *manifestFile) checkServer(d *yamldoc.Decoder) {
	refuse := func(why string, keys ...string) {
		for _, key := range keys {
			if at, given := d.At[key]; given {
				d.Fail(at, key, "%s", why)
			}
		}
	}
	switch {
	case f.MCP.URL != "":
		refuse("a server at a URL has no environment; write the secret into mcp.headers as ${secret NAME}", "mcp.secrets")
		refuse("a server at a URL has no process", "env", "permissions", "limits")
		for name, value := range f.MCP.Headers {
			if err := checkHeaderValue(value); err != nil {
				d.Fail(d.At["mcp.headers"], "mcp.headers."+name, "%v", err)
			}
		}
		f.checkOAuth(d)
	case len(f.MCP.Command) > 0:
		refuse("a server with a command gets no requests over HTTP; use mcp.secrets", "mcp.headers", "mcp.oauth")
		refuse("a server with a command always gets the trace context; leave the key out", "mcp.trace")
	default:
		refuse("there is no mcp.command and no mcp.url", "mcp")
	}
}

// checkPrefix returns why names of tools cannot begin with a text.
func checkPrefix(prefix string) error {
	const most = 32 // bytes: half of the name of a tool
	if len(prefix) > most {
		return errors.New("a prefix has 32 bytes at most")
	}
	return tool.CheckName(cmp.Or(prefix, "-"))
}

// ownHeaders are the headers that the protocol or the connection sets.
var ownHeaders = []string{
	"Accept", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Expect", "Host", "Keep-Alive", "Last-Event-Id",
	"Origin", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// checkHeader returns why a plugin cannot send a header.
func checkHeader(name string) error {
	letters := strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789")
	if name == "" || strings.Trim(letters, "-_abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return fmt.Errorf("%q is no name of a header", name)
	}
	name = http.CanonicalHeaderKey(name)
	if strings.HasPrefix(name, "Mcp-") || slices.Contains(ownHeaders, name) {
		return fmt.Errorf("the header %q is the protocol's own", name)
	}
	return nil
}

// checkHeaderValue returns why a plugin cannot send the value of a header.
func checkHeaderValue(value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("the value has a control character")
	}
	if strings.Contains(secretPattern.ReplaceAllString(value, ""), "${") {
		return errors.New("only a secret can be inserted, as ${secret NAME}")
	}
	return nil
}

// checkURL returns why a text is no URL of a server.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("it is no URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errors.New("a server has a URL that begins with https:// or http://")
	case u.User != nil:
		return errors.New("credentials do not belong into a URL; use mcp.headers with ${secret NAME}")
	case u.Fragment != "":
		return errors.New("the URL of a server has no fragment")
	}
	return nil
}
