package cli

import "path/filepath"

// PluginsFolder returns the folder in which `toolhost install` puts plugins, and which `toolhost
// serve` serves, if the user names no other folder. It follows the XDG base directory
// specification. The folder need not exist.
func PluginsFolder(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, Toolhost, "plugins")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", Toolhost, "plugins")
}
