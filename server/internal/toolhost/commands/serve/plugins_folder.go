package serve

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// addDefaultFolders sets the folder of `toolhost install` if neither a flag nor the file names a
// folder of plugins. With shipped, it adds the folder of the plugins that came with this program.
func (o *Options) addDefaultFolders(shipped bool) error {
	installed, beside := cli.PluginsFolder(o.getenv), shippedPlugins()
	if len(o.Folders) == 0 && Exists(installed) {
		o.Folders = []string{installed}
	}
	if shipped && beside != "" && !slices.Contains(o.Folders, beside) {
		o.Folders = append(o.Folders, beside)
	}
	if len(o.Folders) == 0 {
		return noPlugins(installed, beside)
	}
	return nil
}

// noPlugins returns the error before the first installation of a plugin. It names the folder of
// installed plugins and the commands that help. shipped is the folder of the shipped plugins, or
// empty.
func noPlugins(folder, shipped string) error {
	other := "toolhost serve --plugins DIR"
	if shipped != "" {
		other = "toolhost serve --plugins " + cli.ShellWord(shipped)
	}
	return cli.Usage("no plugin is installed: there is no folder %s, and --plugins names no other folder\n"+
		"serve other plugins: %s\ninstall a plugin:    toolhost install PATH\ncreate a plugin:     toolhost new NAME", folder, other)
}

// shippedPlugins returns the folder with the plugins that came with the running program, or an
// empty text if there is none.
func shippedPlugins() string {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return ""
	}
	return shippedBeside(filepath.Dir(program))
}

// shippedBeside looks for the shipped plugins where a release archive and `make build` put them in
// relation to the folder of the programs.
func shippedBeside(bin string) string {
	for _, folder := range []string{filepath.Join(bin, "..", "libexec", cli.Toolhost, "plugins"), filepath.Join(bin, "plugins")} {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
	}
	return ""
}
