package serve

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// placesOf returns the files and folders of a toolhost with a configuration of absolute paths.
func placesOf(options Options) launch.Places {
	g := launch.Places{
		Workspace: options.sharedWorkspace(), Hidden: options.hiddenFolders(), Protected: slices.Clone(options.Folders),
		Folders: slices.Clone(options.Folders), Names: trust.FileNames(), Writable: writableFolders(&options.Config),
	}
	g.Hidden = append(g.Hidden, options.hide...)
	addOverruled(&g, options)
	addKnownFolders(&g, options)
	if dir := trust.ConfigDir(options.getenv); dir != "" {
		g.Protected = append(g.Protected, dir)
	}
	if options.listen.IsUnix() {
		g.Hidden = append(g.Hidden, options.listen.Path())
	}
	g.Hidden = append(g.Hidden, authconfig.Files(slices.Concat(options.Listeners, options.MCP.Listeners))...)
	g.Hidden = append(g.Hidden, options.HTTP.Files()...)
	g.Hidden = append(g.Hidden, options.Nodes.Files()...)
	g.Hidden = append(g.Hidden, options.Telemetry.Files()...)
	g.Hidden = append(g.Hidden, options.Workspace.Remote.Files()...)
	for _, place := range options.SecretPlaces() {
		if place.File != "" {
			g.Hidden = append(g.Hidden, place.File)
		}
		if len(place.Command) > 0 && Exists(place.Command[0]) {
			g.Protected = append(g.Protected, place.Command[0]) // toolhost runs it outside of every sandbox
		}
	}
	g.Protected = append(g.Protected, g.Protectable(ownPrograms(options.programs), true)...)
	for _, issuer := range options.Auth.Issuers {
		if issuer.CA != "" {
			g.Protected = append(g.Protected, issuer.CA)
		}
	}
	for _, path := range []string{options.Audit.File, options.LockFile, options.file} {
		if path != "" {
			g.Protected = append(g.Protected, path)
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
func addOverruled(g *launch.Places, options Options) {
	if state := options.overruled.state; state != "" && !launch.Within(options.Workspace.Folder, state) {
		g.Hidden = append(g.Hidden, state)
	}
	if folder := options.overruled.workspaces; folder != "" && Exists(folder) {
		g.Hidden = append(g.Hidden, folder)
	}
	if listen, err := address.ParseListener(options.overruled.listen); err == nil && listen.IsUnix() {
		g.Hidden = append(g.Hidden, listen.Path())
	}
	if file := options.overruled.lockFile; file != "" {
		g.Protected = append(g.Protected, file)
	}
	for _, folder := range options.overruled.folders {
		addFolder(g, folder, &options.Config)
	}
}

// addKnownFolders adds the plugin folders that other toolhosts of this user have used. Those
// toolhosts upgrade a known plugin without asking the operator. So a tool that could replace the
// executable would get the plugin's grants.
func addKnownFolders(g *launch.Places, options Options) {
	folders, err := trust.NewUserStore(options.getenv).PluginFolders()
	if err != nil {
		return // the catalog reads the same records, and reports the error
	}
	for _, folder := range folders {
		addFolder(g, folder, &options.Config)
	}
}

// addFolder adds a plugin folder of another toolhost, unless the folder is missing or the operator
// granted it by name for writing.
func addFolder(g *launch.Places, folder string, c *config.Config) {
	if slices.Contains(g.Folders, folder) || !Exists(folder) {
		return
	}
	if slices.ContainsFunc(writableFolders(c), func(granted string) bool { return launch.Within(granted, folder) && launch.Within(folder, granted) }) {
		return
	}
	g.Folders, g.Protected = append(g.Folders, folder), append(g.Protected, folder)
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
