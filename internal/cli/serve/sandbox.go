package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// grounds is what is toolhost's own: what plugins are not to see, and what they are not to change, whatever folder around it
// was granted.
type sandboxDefaults struct {
	workspace         string
	hidden, protected []string
	folders           []string // of plugins; what their links lead to is protected as they are
	names             []string // of files that are configuration wherever they are
}

// groundsOf returns them for a configuration with absolute paths.
func sandboxDefaultsOf(options Options) sandboxDefaults {
	g := sandboxDefaults{workspace: options.Workspace, hidden: slices.Compact([]string{options.State, options.recordsDir()}), protected: slices.Clone(options.Folders), folders: slices.Clone(options.Folders), names: trust.FileNames()}
	g.hidden = append(g.hidden, options.hide...)
	g.addOverruled(options)
	g.addKnownFolders(options)
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

// addOverruled adds what the configuration names and the flags say otherwise: the toolhost that is started without these flags
// uses it. agentd starts its own one with such flags, in the folder of the configuration.
func (g *sandboxDefaults) addOverruled(options Options) {
	if state := options.overruled.state; state != "" && !within(options.Workspace, state) {
		g.hidden = append(g.hidden, state)
	}
	if listen, err := address.Parse(options.overruled.listen); err == nil && listen.IsUnix() {
		g.hidden = append(g.hidden, listen.Path())
	}
	if file := options.overruled.lockFile; file != "" {
		g.protected = append(g.protected, file)
	}
	for _, folder := range options.overruled.folders {
		g.addFolder(folder, &options.Config)
	}
}

// addKnownFolders adds the folders of plugins that other toolhosts of this user have used. A known plugin is upgraded without a
// question, and a tool that could replace its executable would get its grants.
func (g *sandboxDefaults) addKnownFolders(options Options) {
	folders, err := TrustStore(options.getenv).PluginFolders()
	if err != nil {
		return // the catalogue reads the records too, and complains
	}
	for _, folder := range folders {
		g.addFolder(folder, &options.Config)
	}
}

// addFolder adds a folder of plugins of another toolhost, unless it is not there or was granted for writing by its own name.
func (g *sandboxDefaults) addFolder(folder string, c *config.Config) {
	if slices.Contains(g.folders, folder) || !Exists(folder) {
		return
	}
	if slices.ContainsFunc(writableFolders(c), func(granted string) bool { return within(granted, folder) && within(folder, granted) }) {
		return
	}
	g.folders, g.protected = append(g.folders, folder), append(g.protected, folder)
}

// within reports whether a path is a folder or in it. Links of both are followed.
func within(path, folder string) bool {
	for _, p := range []*string{&path, &folder} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// links returns the symbolic links directly in the folders of plugins. What they lead to runs as a plugin.
func (g sandboxDefaults) links() []string {
	var links []string
	for _, folder := range g.folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // nothing there runs
		}
		for _, entry := range entries {
			if path := filepath.Join(folder, entry.Name()); entry.Type()&fs.ModeSymlink != 0 && Exists(path) {
				links = append(links, path)
			}
		}
	}
	return links
}

// sandbox returns what the processes of a plugin may touch.
func (g sandboxDefaults) sandbox(s config.Sandbox) sandbox.Config {
	return sandbox.Config{
		Mode: sandbox.Mode(s.Mode), Network: s.Network, Workspace: g.workspace, WorkspaceAccess: tool.Access(s.Workspace),
		Read: s.Read, Write: s.Write, Hidden: g.hidden, Protected: slices.Concat(g.protected, g.links()), Names: g.names,
	}
}

// check reports whether what is toolhost's own can be protected from every plugin, as each is configured.
func (g sandboxDefaults) check(c *config.Config) error {
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
func (g sandboxDefaults) question(s config.Sandbox) sandbox.Config {
	s.Network, s.Workspace = false, string(tool.AccessNone)
	s.Read, s.Write = slices.Concat(s.Read, s.Write), nil
	return g.sandbox(s)
}

// granted returns what a plugin may touch, as it is shown.
func Granted(s config.Sandbox) tool.Sandbox {
	return tool.Sandbox{Mode: s.Mode, Network: s.Network, Workspace: tool.Access(s.Workspace), Read: s.Read, Write: s.Write}
}

// errOwnPlugin is what a plugin's process is told.
var errOwnPlugin = errors.New("toolhost does not answer the processes of its own plugins: what a plugin may do is what its operator granted; " +
	"a tool that needs another has to leave that to its caller")

// refusePlugins returns what refuses toolhost's API to what it started itself.
func refusePlugins(y *runtimeDir, kept bool) func(pid int) error {
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

func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
