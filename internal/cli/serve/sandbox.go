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
	"github.com/toolhost/toolhost/internal/authn/authconfig"
	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// sandboxDefaults holds the files and folders of toolhost itself. Plugins must not see some of
// them, and must not change the others, even if the operator granted a folder around them.
type sandboxDefaults struct {
	workspace         string
	hidden, protected []string
	folders           []string // plugin folders; the targets of their links are protected like them
	names             []string // names of files that are configuration in any folder
	writable          []string // what some plugin may change
}

// sandboxDefaultsOf returns the defaults for a configuration with absolute paths.
func sandboxDefaultsOf(options Options) sandboxDefaults {
	g := sandboxDefaults{workspace: options.sharedWorkspace(), hidden: options.hiddenFolders(), protected: slices.Clone(options.Folders), folders: slices.Clone(options.Folders), names: trust.FileNames()}
	g.writable = writableFolders(&options.Config)
	g.hidden = append(g.hidden, options.hide...)
	g.addOverruled(options)
	g.addKnownFolders(options)
	if dir := trust.ConfigDir(options.getenv); dir != "" {
		g.protected = append(g.protected, dir)
	}
	if options.listen.IsUnix() {
		g.hidden = append(g.hidden, options.listen.Path())
	}
	g.hidden = append(g.hidden, authconfig.Files(slices.Concat(options.Listeners, options.MCP.Listeners))...)
	g.hidden = append(g.hidden, options.Telemetry.Files()...)
	g.hidden = append(g.hidden, options.Workspace.Remote.Files()...)
	for _, place := range options.SecretPlaces() {
		if place.File != "" {
			g.hidden = append(g.hidden, place.File)
		}
		if len(place.Command) > 0 && Exists(place.Command[0]) {
			g.protected = append(g.protected, place.Command[0]) // toolhost runs it outside of every sandbox
		}
	}
	g.protected = append(g.protected, g.protectable(ownPrograms(options.programs), true)...)
	for _, issuer := range options.Auth.Issuers {
		if issuer.CA != "" {
			g.protected = append(g.protected, issuer.CA)
		}
	}
	for _, path := range []string{options.Audit.File, options.LockFile, options.file} {
		if path != "" {
			g.protected = append(g.protected, path)
		}
	}
	return g
}

// hiddenFolders returns the folders that plugins must not see: the state, the records of calls, and
// the trust records of the user.
func (o *Options) hiddenFolders() []string {
	folders := []string{o.State, o.recordsDir(), trust.Dir(o.getenv)}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// addOverruled adds the files that the configuration names and that flags of this process replace.
// A toolhost that runs without these flags uses the files. For example, agentd starts a private
// toolhost with such flags in the folder of the configuration.
func (g *sandboxDefaults) addOverruled(options Options) {
	if state := options.overruled.state; state != "" && !within(options.Workspace.Folder, state) {
		g.hidden = append(g.hidden, state)
	}
	if folder := options.overruled.workspaces; folder != "" && Exists(folder) {
		g.hidden = append(g.hidden, folder)
	}
	if listen, err := address.ParseListener(options.overruled.listen); err == nil && listen.IsUnix() {
		g.hidden = append(g.hidden, listen.Path())
	}
	if file := options.overruled.lockFile; file != "" {
		g.protected = append(g.protected, file)
	}
	for _, folder := range options.overruled.folders {
		g.addFolder(folder, &options.Config)
	}
}

// addKnownFolders adds the plugin folders that other toolhosts of this user have used. Those
// toolhosts upgrade a known plugin without asking the operator. So a tool that could replace the
// executable would get the plugin's grants.
func (g *sandboxDefaults) addKnownFolders(options Options) {
	folders, err := trust.NewUserStore(options.getenv).PluginFolders()
	if err != nil {
		return // the catalog reads the same records, and reports the error
	}
	for _, folder := range folders {
		g.addFolder(folder, &options.Config)
	}
}

// addFolder adds a plugin folder of another toolhost, unless the folder is missing or the operator
// granted it by name for writing.
func (g *sandboxDefaults) addFolder(folder string, c *config.Config) {
	if slices.Contains(g.folders, folder) || !Exists(folder) {
		return
	}
	if slices.ContainsFunc(writableFolders(c), func(granted string) bool { return within(granted, folder) && within(folder, granted) }) {
		return
	}
	g.folders, g.protected = append(g.folders, folder), append(g.protected, folder)
}

// within reports whether a path is a folder or inside the folder. It follows the symbolic links of
// both paths.
func within(path, folder string) bool {
	return contains(withoutLinks(folder), withoutLinks(path))
}

// links returns the symbolic links directly in the plugin folders. Their targets run as plugins.
func (g sandboxDefaults) links() []string {
	var links []string
	for _, folder := range g.folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // no plugin is there
		}
		for _, entry := range entries {
			if path := filepath.Join(folder, entry.Name()); entry.Type()&fs.ModeSymlink != 0 && Exists(path) {
				links = append(links, path)
			}
		}
	}
	return links
}

// sandbox returns what the processes of a plugin may access.
func (g sandboxDefaults) sandbox(s config.Sandbox) sandbox.Config {
	return sandbox.Config{
		Mode: sandbox.Mode(s.Mode), Network: s.Network, Workspace: g.workspace, WorkspaceAccess: tool.Access(s.Workspace),
		Read: s.Read, Write: s.Write, Hidden: g.hidden, Protected: slices.Concat(g.protected, g.links()), Names: g.names,
	}
}

// check returns an error if a plugin with this configuration could reach toolhost's own files.
func (g sandboxDefaults) check(c *config.Config) error {
	names := slices.Sorted(maps.Keys(c.ByPlugin))
	// an unknown plugin has the default settings
	for _, name := range append([]string{""}, names...) {
		if err := sandbox.Check(g.sandbox(c.Plugin(name).Sandbox)); err != nil {
			if name == "" {
				return err
			}
			return fmt.Errorf("plugin.%s.sandbox: %w", name, err)
		}
	}
	return nil
}

// question returns the access of a process that only describes itself. It has no workspace, because
// the operator has not trusted the executable yet. It has everything else that the plugin may need
// to start.
func (g sandboxDefaults) question(s config.Sandbox) sandbox.Config {
	s.Network, s.Workspace = false, string(tool.AccessNone)
	s.Read, s.Write = slices.Concat(s.Read, s.Write), nil
	return g.sandbox(s)
}

// Granted returns the access of a plugin in the form that commands show, without the backend of the
// workspace.
func Granted(s config.Sandbox) tool.Sandbox {
	return tool.Sandbox{Mode: s.Mode, Network: s.Network, Workspace: tool.Access(s.Workspace), Read: s.Read, Write: s.Write}
}

// granted returns the access of a plugin by its name.
func (o *Options) granted(plugin string) tool.Sandbox {
	s := Granted(o.Plugin(plugin).Sandbox)
	if o.Workspace.Backend != config.LocalBackend || o.Workspace.Folder != "" {
		s.WorkspaceBackend = o.Workspace.Backend
	}
	return s
}

// errOwnPlugin is the error for a process of a plugin that calls toolhost.
var errOwnPlugin = errors.New("toolhost does not answer processes of its plugins: the operator's grants decide what a plugin may do; " +
	"a tool that needs another has to leave that to its caller")

// refusePlugins returns the check with which toolhost's API refuses processes that toolhost
// started.
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

// configPath returns the absolute path of a configuration file, or "" if there is none.
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

// Exists reports whether a file or folder is at a path. It follows links.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
