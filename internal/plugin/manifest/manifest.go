// Package manifest reads what people write about plugins: plugin.yaml, which makes a folder a plugin, and toolhost.lock,
// which pins plugins to digests. Both are read strictly.
//
// It holds data. Finding plugins is internal/plugin/catalog; carrying out what a manifest asks for is for those who start
// processes, and whether it is granted is the operator's decision.
package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/yamldoc"
	"github.com/toolhost/toolhost/tool"
)

// FileName is what makes a folder a plugin.
const FileName = "plugin.yaml"

// MaxSize bounds a plugin.yaml, in bytes: its reader's time is not the plugin's to take.
const MaxSize = 64 << 10

// Manifest is a plugin.yaml. The zero value of each field but Command means that the file does not say.
type Manifest struct {
	Name        string      // which the plugin has to give itself
	Description string      // for people
	Command     []string    // the program and its arguments; at least one element
	Env         Env         // of its environment
	Permissions Permissions // what it asks for
	Limits      Limits      // what it asks for
}

// Env is what a plugin sets in its environment, and what it asks for besides what every plugin gets. The operator grants it.
type Env struct {
	Set  map[string]string // fixed values
	Pass []string          // names of variables of toolhost's own environment that it asks for
}

// Permissions are what a plugin asks to be allowed; the zero value is nothing.
type Permissions struct {
	Network   bool
	Workspace string   // AccessNone, AccessRead or AccessWrite; empty: AccessNone
	Read      []string // absolute paths of files and folders that it wants to read
	Write     []string // absolute paths of files and folders that it wants to change
}

// What a plugin may do in the workspace.
const (
	AccessNone  = "none"
	AccessRead  = "read"
	AccessWrite = "write"
)

// Limits are bounds of one instance that a plugin asks for. 0: the operator's default.
type Limits struct {
	MemoryBytes   int64
	CPUs          float64 // 0.5 is half of one processor
	Processes     int     // at the same time, threads included
	OpenFiles     int
	FileSizeBytes int64 // of one file that it writes
}

// Parse reads a plugin.yaml. The name stands for the file in errors, which say line, column and what is allowed.
func Parse(name string, data []byte) (*Manifest, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s: the file has more than %d bytes", name, MaxSize)
	}
	root, err := yamldoc.Document{Name: name}.Parse(data)
	if err != nil {
		return nil, err
	}
	if root.IsZero() {
		return nil, root.Errorf("the file is empty; it needs at least a command, such as: command: [python3, main.py]")
	}
	fields, err := root.Fields("a plugin's manifest", "name", "description", "command", "args", "env", "permissions", "limits")
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	var args []string
	for _, f := range fields {
		switch f.Key {
		case "name":
			m.Name, err = parseName(f.Value)
		case "description":
			m.Description, err = f.Value.Text("description")
		case "command":
			m.Command, err = parseCommand(f.Value)
		case "args":
			args, err = f.Value.Texts("args")
		case "env":
			m.Env, err = parseEnv(f.Value)
		case "permissions":
			m.Permissions, err = parsePermissions(f.Value)
		case "limits":
			m.Limits, err = parseLimits(f.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	if m.Command == nil {
		return nil, root.Errorf("the key command is missing; it is a list such as [python3, main.py]")
	}
	m.Command = append(m.Command, args...)
	return m, nil
}

func parseName(n yamldoc.Node) (string, error) {
	name, err := n.Text("name")
	if err != nil {
		return "", err
	}
	if err := tool.CheckName(name); err != nil {
		return "", n.Errorf("%w", err)
	}
	return name, nil
}

func parseCommand(n yamldoc.Node) ([]string, error) {
	command, err := n.Texts("command")
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; write it as [PROGRAM, ARGUMENT, …]", err)
	case len(command) == 0 || command[0] == "":
		return nil, n.Errorf("the command is empty; its first element is the program")
	case slices.ContainsFunc(command, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return nil, n.Errorf("the command holds a zero byte")
	}
	// A program of the folder must be of the folder: what else it were, its digest would not cover.
	if program := command[0]; strings.ContainsRune(program, '/') && !filepath.IsLocal(program) {
		return nil, n.Errorf("the program %q is not in the plugin's folder; "+
			"use a path relative to the folder, or a name without a slash, which is looked up in PATH", program)
	}
	return command, nil
}

func parseEnv(n yamldoc.Node) (Env, error) {
	fields, err := n.Fields("env", "set", "pass")
	if err != nil {
		return Env{}, err
	}
	env := Env{}
	for _, f := range fields {
		if f.Key == "set" {
			env.Set, err = parseSet(f.Value)
		} else {
			env.Pass, err = f.Value.Texts("pass")
			for _, name := range env.Pass {
				if reason := checkVariable(name); reason != "" {
					return Env{}, f.Value.Errorf("the environment variable %q cannot be passed on: %s", name, reason)
				}
			}
		}
		if err != nil {
			return Env{}, err
		}
	}
	return env, nil
}

func parseSet(n yamldoc.Node) (map[string]string, error) {
	fields, err := n.Fields("set")
	if err != nil {
		return nil, err
	}
	set := make(map[string]string, len(fields))
	for _, f := range fields {
		if reason := checkVariable(f.Key); reason != "" {
			return nil, f.Errorf("the environment variable %q cannot be set: %s", f.Key, reason)
		}
		value, err := f.Value.Text("the value of " + f.Key)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(value, 0) {
			return nil, f.Value.Errorf("the value of %s holds a zero byte", f.Key)
		}
		set[f.Key] = value
	}
	return set, nil
}

// checkVariable says why a plugin may not have an environment variable of that name. The empty string: it may.
func checkVariable(name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return "it is no name of a variable"
	case strings.HasPrefix(name, "PLUGIN_"), strings.HasPrefix(name, "TOOLHOST_"):
		return "names that begin with PLUGIN_ or TOOLHOST_ are toolhost's own"
	}
	return ""
}
