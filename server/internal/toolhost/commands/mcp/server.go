package mcp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginfolder"
	"github.com/toolhost/toolhost/tool"
)

// server is an MCP server that is to become a plugin, as a command line or a file describes it.
type server struct {
	name      string
	command   []string             // empty for a server at a URL
	url       string               // empty for a server with a command
	secrets   map[string]secret    // by variable
	headers   map[string]header    // of a server at a URL, by name
	set       map[string]string    // variables whose values are no secrets
	prefix    string               // of the names of its tools
	trusted   bool                 // its annotations hold
	protocol  string               // the version of MCP to begin with; empty: the newest
	requests  manifest.Permissions // what the operator grants it
	oauth     bool                 // each person logs in to a server at a URL
	addresses []string             // that are not public, and that a server at a URL may have
	folder    string               // whose content the plugin gets; empty: none
	lock      string               // a file with pins; empty: none
	noScripts bool                 // install packages without their install scripts
}

// secret is where the value of a variable or header comes from. One of value, variable and known is
// set.
type secret struct {
	name     string // of the secret
	value    string // which a new file gets
	variable string // of toolhost's environment
	known    bool   // the configuration has the secret
}

// header is the value of a header: a text in which ${secret NAME} stands for secrets.
type header struct {
	text    string
	secrets []secret
}

// check reports what a person must write in another way.
func (s *server) check() error {
	if err := tool.CheckName(s.name); err != nil {
		return err
	}
	if len(s.command) == 0 && s.url == "" {
		return errors.New("it has neither a command nor a url")
	}
	if s.url != "" && (len(s.secrets) > 0 || len(s.set) > 0 || s.folder != "" || s.requests.Network) {
		return errors.New("a server at a URL has no process, and so no variables, folder and network of a process; write secrets into headers")
	}
	if s.url == "" && (len(s.headers) > 0 || len(s.addresses) > 0 || s.oauth) {
		return errors.New("a server with a command gets no requests over HTTP; use --env")
	}
	for variable := range s.secrets {
		if _, both := s.set[variable]; both {
			return fmt.Errorf("the variable %s has two values", variable)
		}
	}
	return nil
}

// allSecrets returns the secrets of variables and headers, in the order of their names.
func (s *server) allSecrets() []secret {
	byName := map[string]secret{}
	for _, each := range s.secrets {
		byName[each.name] = each
	}
	for _, h := range s.headers {
		for _, each := range h.secrets {
			byName[each.name] = each
		}
	}
	all := make([]secret, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

// manifest returns the text of the plugin.yaml, with the command that runs the server. It has no
// value of a secret.
func (s *server) manifest(command []string) ([]byte, error) {
	m := &manifest.Manifest{
		MCP: &manifest.MCP{Command: command, URL: s.url, Prefix: s.prefix, Protocol: s.protocol},
		Env: manifest.Env{Set: s.set}, Permissions: s.requests,
	}
	if s.trusted {
		m.MCP.Annotations = manifest.AnnotationsTrusted
	}
	if s.oauth {
		m.MCP.OAuth = &manifest.OAuth{}
	}
	for name, h := range s.headers {
		if m.MCP.Headers == nil {
			m.MCP.Headers = map[string]string{}
		}
		m.MCP.Headers[name] = h.text
	}
	for variable, each := range s.secrets {
		if m.MCP.Secrets == nil {
			m.MCP.Secrets = map[string]string{}
		}
		m.MCP.Secrets[variable] = each.name
	}
	text := m.YAML()
	_, err := manifest.Parse(manifest.FileName, text)
	return text, err
}

// secretName returns the name of the secret of a plugin for a variable or header. A name that had
// to be changed ends with a part of a digest, so that two variables never share a secret.
func secretName(plugin, variable string) string {
	const longest, digits = 64, 8
	whole := plugin + "_" + variable
	name := []byte(whole)
	for i, c := range name {
		if tool.CheckName("a"+string(c)) != nil {
			name[i] = '_'
		}
	}
	if string(name) == whole && len(name) <= longest {
		return whole
	}
	digest := sha256.Sum256([]byte(whole))
	return fmt.Sprintf("%s_%.*x", name[:min(len(name), longest-digits-1)], digits/2, digest)
}

// plainCommand returns the command of a server that no package runner starts, in the form of a
// plugin.yaml. If the program is a file, it copies the file into the folder of the plugin.
func plainCommand(ctx context.Context, command []string, folder string) ([]string, error) {
	program := command[0]
	if !strings.ContainsRune(program, '/') {
		return command, nil
	}
	if filepath.IsLocal(program) {
		if _, err := os.Stat(filepath.Join(folder, program)); err == nil {
			return append([]string{"./" + filepath.Clean(program)}, command[1:]...), nil
		}
	}
	if err := checkProgram(program); err != nil {
		return nil, err
	}
	copied := filepath.Join(folder, filepath.Base(program))
	if err := pluginfolder.Copy(ctx, copied, program); err != nil {
		return nil, err
	}
	return append([]string{"./" + filepath.Base(program)}, command[1:]...), os.Chmod(copied, 0o755)
}

// checkProgram returns an error if the path of a program leads to none. A name without a slash is
// looked up when the server starts.
func checkProgram(program string) error {
	if !strings.ContainsRune(program, '/') {
		return nil
	}
	info, err := os.Stat(program)
	if err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0) {
		err = fmt.Errorf("%s is no program", program)
	}
	return err
}

// addFolder copies what is in a folder into that of the plugin. It replaces and adds to nothing
// that the installation of a package has made.
func addFolder(ctx context.Context, plugin, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, err := os.Lstat(filepath.Join(plugin, entry.Name())); err == nil {
			return fmt.Errorf("%s is also what the package's installation makes; move it out of the folder", entry.Name())
		}
	}
	return pluginfolder.Copy(ctx, plugin, folder)
}
