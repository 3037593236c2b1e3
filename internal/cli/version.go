package cli

import "runtime/debug"

// Version returns the version of the program's module, or the commit of the build, with "+dirty" if
// files were changed. It returns "devel" if the build has neither.
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
