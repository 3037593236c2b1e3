// Package manifest reads the files that people write about plugins: plugin.yaml, which makes a
// folder a plugin, and toolhost.lock, which pins plugins to digests.
//
// It only holds the data of these files. Package catalog finds plugins. Package process starts them
// as the manifest asks, and the operator's configuration decides which requests of a manifest are
// granted.
package manifest

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// FileName is the name of the file that makes a folder a plugin.
const FileName = "plugin.yaml"

// MaxSize bounds a plugin.yaml, in bytes, so that a plugin cannot occupy the reader for long.
const MaxSize = 64 << 10

// Manifest is a plugin.yaml. A zero field means that the file does not have the key, except for
// Command, which every Manifest has unless it is that of a server at a URL.
type Manifest struct {
	Name        string      // the name that the plugin has to report in its handshake
	Description string      // for people
	Command     []string    // the program and its arguments; empty only with MCP.URL
	MCP         *MCP        // how to use the program or the URL as an MCP server; nil: it is a native plugin
	Env         Env         // what the plugin sets and requests in its environment
	Permissions Permissions // what the plugin requests
	Limits      Limits      // what the plugin requests
}

// Env has the variables that a plugin sets, and the variables that it requests in addition to those
// of every plugin. The operator grants requests.
type Env struct {
	Set  map[string]string `yaml:"set" keys:"variable" hint:"a mapping of names to texts"` // fixed values
	Pass []string          `yaml:"pass" is:"variable" hint:"write a list of names"`        // names of variables of toolhost's environment
}

// Permissions are the requests of a plugin. The zero value requests nothing.
type Permissions struct {
	Network   bool     `yaml:"network" unset:"no network"`
	Workspace string   `yaml:"workspace" oneof:"none,read,write" unset:"none"` // empty: AccessNone
	Read      []string `yaml:"read" is:"absolute path" hint:"write a list of paths"`
	Write     []string `yaml:"write" is:"absolute path" hint:"write a list of paths"`
}

// The values of Permissions.Workspace.
const (
	AccessNone  = "none"
	AccessRead  = "read"
	AccessWrite = "write"
)

// Limits are the bounds that a plugin requests for each of its instances. 0 stands for the
// operator's default.
type Limits struct {
	MemoryBytes   yamldoc.Size `yaml:"memory" min:"1" unset:"the operator's default"`
	CPUs          float64      `yaml:"cpu" min:"0.001" max:"1024" unset:"the operator's default"`          // 0.5 is half of one processor
	Processes     int          `yaml:"processes" min:"1" max:"2147483647" unset:"the operator's default"`  // at the same time, including threads
	OpenFiles     int          `yaml:"open_files" min:"1" max:"2147483647" unset:"the operator's default"` // at the same time
	FileSizeBytes yamldoc.Size `yaml:"file_size" min:"1" unset:"the operator's default"`                   // of one file that the plugin writes
}

// manifestFile has the keys of a plugin.yaml.
type manifestFile struct {
	Name        string      `yaml:"name" is:"name" unset:"the name of the folder"`
	Description string      `yaml:"description" unset:"none"`
	Command     []string    `yaml:"command" is:"text" hint:"write it as [PROGRAM, ARGUMENT, …], such as command: [python3, main.py]"`
	Args        []string    `yaml:"args" is:"text" hint:"write a list of texts"`
	MCP         MCP         `yaml:"mcp"`
	Env         Env         `yaml:"env"`
	Permissions Permissions `yaml:"permissions"`
	Limits      Limits      `yaml:"limits"`
}

// Parse reads a plugin.yaml. name stands for the file in errors. The error is the first fault of
// the file, with line, column and what is allowed.
func Parse(name string, data []byte) (*Manifest, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s: the file has more than %d bytes", name, MaxSize)
	}
	d := yamldoc.NewDecoder(name)
	d.Checks = map[string]func(string) error{
		"variable": checkVariable, "absolute path": checkAbsolute, "prefix": checkPrefix, "header": checkHeader, "URL": checkURL,
		"issuer": checkIssuer, "scope": checkScope,
	}
	var f manifestFile
	d.Decode(data, reflect.ValueOf(&f).Elem())
	f.checkProgram(d)
	if err := d.First(); err != nil {
		return nil, err
	}
	for _, paths := range [][]string{f.Permissions.Read, f.Permissions.Write} {
		for i, path := range paths {
			paths[i] = filepath.Clean(path)
		}
	}
	m := &Manifest{
		Name: f.Name, Description: f.Description, Command: append(f.Command, f.Args...),
		Env: f.Env, Permissions: f.Permissions, Limits: f.Limits,
	}
	if f.isMCP() {
		m.Command, m.MCP = f.MCP.Command, &f.MCP
	}
	return m, nil
}

// checkProgram checks that the file says in exactly one way what the plugin is.
func (f *manifestFile) checkProgram(d *yamldoc.Decoder) {
	for key, command := range map[string][]string{"command": f.Command, "mcp.command": f.MCP.Command} {
		if at, given := d.At[key]; given && !d.Failed(key) {
			if err := checkCommand(command); err != nil {
				d.Fail(at, key, "%v", err)
			}
		}
	}
	if len(d.Errs) > 0 {
		return
	}
	command, isCommand := d.At["command"]
	_, isServer := d.At["mcp.command"]
	url, isURL := d.At["mcp.url"]
	switch args, hasArgs := d.At["args"]; {
	case !isCommand && !isServer && !isURL:
		d.Fail(yamldoc.Place{Line: 1, Column: 1}, "command", "there is no such key, and it cannot be left out; write it as [PROGRAM, ARGUMENT, …], "+
			"such as command: [python3, main.py], or as mcp: {command: […]} or mcp: {url: …} for an MCP server")
	case isCommand && (isServer || isURL):
		d.Fail(command, "command", "an MCP server has mcp.command or mcp.url instead")
	case isServer && isURL:
		d.Fail(url, "mcp.url", "an MCP server has mcp.command or mcp.url, not both")
	case hasArgs && !isCommand:
		d.Fail(args, "args", "write the arguments into mcp.command")
	default:
		f.checkServer(d)
	}
}

func checkCommand(command []string) error {
	switch {
	case len(command) == 0 || command[0] == "":
		return errors.New("the command is empty; its first element is the program")
	case slices.ContainsFunc(command, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return errors.New("the command holds a zero byte")
	}
	// The digest of the plugin covers its folder only, so that a program elsewhere could change
	// unnoticed.
	if program := command[0]; strings.ContainsRune(program, '/') && !filepath.IsLocal(program) {
		return fmt.Errorf("the program %q is not in the plugin's folder; "+
			"use a path relative to the folder, or a name without a slash, which is looked up in PATH", program)
	}
	return nil
}

func checkAbsolute(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("the path %q is not absolute", path)
	}
	return nil
}

// checkVariable returns why a plugin cannot set or request an environment variable with a name.
func checkVariable(name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("%q is no name of an environment variable", name)
	case strings.HasPrefix(name, "PLUGIN_"), strings.HasPrefix(name, "TOOLHOST_"):
		return fmt.Errorf("the environment variable %q is reserved: names that begin with PLUGIN_ or TOOLHOST_ are toolhost's own", name)
	}
	return nil
}
