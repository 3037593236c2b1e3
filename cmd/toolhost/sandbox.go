package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/process"
	"github.com/toolhost/toolhost/internal/sandbox"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// grounds is what is toolhost's own: what plugins are not to see, and what they are not to change, whatever folder around it
// was granted.
type grounds struct {
	workspace         string
	hidden, protected []string
	names             []string // of files that are configuration wherever they are
}

// groundsOf returns them for a configuration with absolute paths.
func groundsOf(options serveOptions) grounds {
	g := grounds{workspace: options.Workspace, hidden: slices.Compact([]string{options.State, options.recordsDir()}), protected: slices.Clone(options.Folders), names: trust.FileNames()}
	if records := trust.Dir(options.getenv); records != options.State {
		g.hidden = append(g.hidden, records)
	}
	if dir := trust.ConfigDir(options.getenv); dir != "" {
		g.protected = append(g.protected, dir)
	}
	if options.listen.IsUnix() {
		g.hidden = append(g.hidden, options.listen.Path())
	}
	for _, secret := range options.Secrets {
		if secret.File != "" {
			g.hidden = append(g.hidden, secret.File)
		}
	}
	for _, path := range []string{options.Audit.File, options.LockFile, options.file} {
		if path != "" {
			g.protected = append(g.protected, path)
		}
	}
	return g
}

// sandbox returns what the processes of a plugin may touch.
func (g grounds) sandbox(s config.Sandbox) sandbox.Config {
	return sandbox.Config{
		Mode: sandbox.Mode(s.Mode), Network: s.Network, Workspace: g.workspace, WorkspaceAccess: tool.Access(s.Workspace),
		Read: s.Read, Write: s.Write, Hidden: g.hidden, Protected: g.protected, Names: g.names,
	}
}

// check reports whether what is toolhost's own can be protected from every plugin, as each is configured.
func (g grounds) check(c *config.Config) error {
	names := slices.Sorted(maps.Keys(c.ByPlugin))
	for _, name := range append([]string{""}, names...) { // an unknown plugin has the defaults
		if err := sandbox.Check(g.sandbox(c.Plugin(name).Sandbox)); err != nil {
			if name == "" {
				return err
			}
			return fmt.Errorf("plugin.%s.sandbox: %w", name, err)
		}
	}
	return nil
}

// question returns what a process may touch that lives only to say what it is: nothing to work with, but what it may need
// to start. Nobody has decided about the executable yet.
func (g grounds) question(s config.Sandbox) sandbox.Config {
	s.Network, s.Workspace = false, string(tool.AccessNone)
	s.Read, s.Write = slices.Concat(s.Read, s.Write), nil
	return g.sandbox(s)
}

// granted returns what a plugin may touch, as it is shown.
func granted(s config.Sandbox) tool.Sandbox {
	return tool.Sandbox{Mode: s.Mode, Network: s.Network, Workspace: tool.Access(s.Workspace), Read: s.Read, Write: s.Write}
}

// errOwnPlugin is what a plugin's process is told.
var errOwnPlugin = errors.New("toolhost does not answer the processes of its own plugins: what a plugin may do is what its operator granted; " +
	"a tool that needs another has to leave that to its caller")

// refusePlugins returns what refuses toolhost's API to what it started itself.
func refusePlugins(y *yard, kept bool) func(pid int) error {
	kin := process.Kin{Token: y.guard.Token(), Cgroups: y.groups.Dirs(), Ancestors: []int{os.Getpid()}}
	if kept {
		kin.Ancestors = append(kin.Ancestors, os.Getppid())
	}
	return func(pid int) error {
		if pid != os.Getpid() && kin.Includes(pid) {
			return errOwnPlugin
		}
		return nil
	}
}

// configPath returns the absolute path of a configuration file; "" if there is none.
func configPath(file string) string {
	if file == "" {
		return ""
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	return path
}
