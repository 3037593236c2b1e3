package cli

import "runtime/debug"

// Version says which build this program is: the version of its module, or the commit that it was built from, with
// "+dirty" after it if files had been changed, or "devel" if the build does not tell.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return versionOf(info)
}

const unknownVersion = "devel"

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision == "" {
		return unknownVersion
	}
	if settings["vcs.modified"] == "true" {
		revision += "+dirty"
	}
	return revision
}
