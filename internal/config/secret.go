package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// checkSecrets reports each secret without a place, with two places, or with an impossible one.
// toolhost looks for the value when a tool needs it.
func (d *decoder) checkSecrets() {
	for _, name := range slices.Sorted(maps.Keys(d.config.Secrets)) {
		s, name := d.config.Secrets[name], yamldoc.Join("secrets", yamldoc.ShownKey(name))
		if d.Failed(name) {
			continue
		}
		env, file := yamldoc.Join(name, "env"), yamldoc.Join(name, "file")
		at, inEnv := d.At[env]
		_, inFile := d.At[file]
		switch {
		case inEnv && inFile:
			d.Fail(at, env, "the key file names another place of the value; remove one of the two keys")
		case !inEnv && !inFile:
			d.Fail(d.Keys[name], name, "the place of the value is missing; write env and the name of a variable, or file and a path")
		case inEnv && !d.Failed(env) && (s.Env == "" || strings.ContainsAny(s.Env, "=\x00")):
			d.Fail(at, env, "a variable's name must not be empty or hold = or a zero byte")
		}
	}
}
