package process

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
)

// defaultPath is where programs are looked up if toolhost itself has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// inherited are the only variables of toolhost's own environment that a plugin gets: where interpreters are found, and
// how text and times are shown. All else may be a secret.
var inherited = [...]string{"PATH", "LANG", "LC_ALL", "TZ"}

// environ returns a plugin's whole environment. protocol is what go-plugin wants to be in it, and wins over extra, which
// wins over the rest. tmp is the plugin's own folder, its home too.
func environ(protocol, extra []string, tmp, mark string) []string {
	env := []string{"PATH=" + defaultPath}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok && value != "" {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, "HOME="+tmp, "TMPDIR="+tmp)
	env = append(env, extra...)
	env = append(env, protocol...)
	return lastOfEach(append(env, proc.MarkName+"="+mark))
}

// lastOfEach keeps the last value of each variable, because programs differ in which of two they take.
func lastOfEach(env []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, entry := range slices.Backward(env) {
		name, _, _ := strings.Cut(entry, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// checkEnv refuses entries that are none, and variables that would change the protocol: a client certificate alone
// makes a plugin answer with TLS.
func checkEnv(env []string) error {
	for _, entry := range env {
		name, _, found := strings.Cut(entry, "=")
		switch {
		case !found || name == "" || strings.ContainsRune(entry, 0):
			return fmt.Errorf("the environment entry %s is not of the form NAME=VALUE", quote(name))
		case strings.HasPrefix(name, "PLUGIN_") || name == proc.MarkName:
			return fmt.Errorf("the environment variable %s is toolhost's to set", quote(name))
		}
	}
	return nil
}
