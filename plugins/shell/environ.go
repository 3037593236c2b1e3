package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// markName is the one variable of toolhost's that commands keep: by it toolhost finds what it has started, should it and
// this plugin be killed.
const markName = "TOOLHOST_INSTANCE"

// quiet is what keeps programs from drawing, paging and asking.
var quiet = [...]string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environ returns the environment of a command: that of the plugin, which toolhost makes of a few variables and what the
// operator adds under plugin.shell.env, without what the plugin was told for itself; then what keeps programs quiet,
// unless the operator says otherwise; then what the call adds.
func environ(own []string, added map[string]string) ([]string, error) {
	values := map[string]string{}
	for _, entry := range slices.Concat(quiet[:], own) {
		name, value, _ := strings.Cut(entry, "=")
		if !reserved(name) || name == markName {
			values[name] = value
		}
	}
	for _, name := range []string{"PWD", "OLDPWD", "SHLVL", "_", "BASH_ENV", "ENV"} {
		delete(values, name) // of whoever started the plugin
	}
	for name, value := range added {
		switch {
		case !variableName.MatchString(name):
			return nil, fmt.Errorf("%q is no name of an environment variable; such a name has letters, digits and _, and begins with no digit", name)
		case reserved(name):
			return nil, fmt.Errorf("the environment variable %s is toolhost's own and cannot be set", name)
		case strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("the environment variable %s contains a NUL character", name)
		}
		values[name] = value
	}
	env := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		env = append(env, name+"="+values[name])
	}
	return env, nil
}

func reserved(name string) bool {
	return strings.HasPrefix(name, "TOOLHOST_") || strings.HasPrefix(name, "PLUGIN_")
}
