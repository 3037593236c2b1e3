package process

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// defaultPath is the PATH of plugins if toolhost has none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// inherited are the only variables of toolhost's environment that a plugin gets. They say where
// interpreters are, and how text and times are shown. All others may be secrets.
var inherited = [...]string{"PATH", "LANG", "LC_ALL", "TZ"}

// environ returns a plugin's complete environment. Entries of protocol, which go-plugin sets,
// replace those of extra, which replace all others. tmp is the plugin's own folder and its home.
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

// lastOfEach keeps the last entry of each variable, because programs differ in which of two entries
// they use.
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

// checkEnv refuses malformed entries, and variables that would change the protocol. A client
// certificate, for example, makes a plugin answer with TLS.
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
