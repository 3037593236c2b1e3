package config

import "github.com/toolhost/toolhost/internal/settings"

// FileName is the name of the file where it is looked for.
const FileName = "toolhost.yaml"

// Find returns the path of the file to use if none is named, or "". See settings.Find.
func Find(getenv func(string) string, cwd string) (string, error) {
	return settings.Find(FileName, getenv, cwd)
}
