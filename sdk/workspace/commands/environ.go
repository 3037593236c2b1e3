package commands

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// markName is the only variable of toolhost that commands keep. toolhost finds the processes that
// it started by this variable if both toolhost and this plugin are killed.
const markName = "TOOLHOST_INSTANCE"

// quiet has variables that keep programs from using colors, pagers and prompts.
var quiet = [...]string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environ returns the environment of a command. It starts with the environment of this process,
// which toolhost builds from a few variables and from the operator's configuration. It removes
// variables that are meant for the process itself, adds quiet unless the operator sets these
// variables, and adds the variables of the command.
func environ(inherited []string, added map[string]string) ([]string, error) {
	values := map[string]string{}
	for _, entry := range slices.Concat(quiet[:], inherited) {
		name, value, _ := strings.Cut(entry, "=")
		if !reserved(name) || name == markName {
			values[name] = value
		}
	}
	for _, name := range []string{"PWD", "OLDPWD", "SHLVL", "_", "BASH_ENV", "ENV"} {
		delete(values, name) // set for the plugin itself
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
