package planted

import (
	"os"
	"strings"
	"testing"
)

// The manifest of a plugin requests a variable of toolhost's environment. The plugin gets the
// variable only if the operator granted it to this plugin, whatever else the plugin requests, sets
// or declares as its name.
func TestAskingForAVariableDoesNotGiveIt(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		folder := func(name, manifest string) {
			w.plugin(t, "plugins/"+name+"/program", `{"plugin": "`+name+`", "version": "1", "tools": [{"name": "tell_`+name+`"}], "variable": "AWS_SECRET_ACCESS_KEY"}`)
			w.write(t, "plugins/"+name+"/plugin.yaml", "name: "+name+"\ncommand: [./program]\n"+manifest)
		}
		folder("asks", "env: {pass: [AWS_SECRET_ACCESS_KEY]}\n")
		folder("expands", "env: {set: {AWS_SECRET_ACCESS_KEY: $AWS_SECRET_ACCESS_KEY}}\n")
		folder("granted", "env: {pass: [AWS_SECRET_ACCESS_KEY]}\n")
		folder("other", "env: {pass: [HOME, AWS_SECRET_ACCESS_KEY]}\npermissions: {network: true}\n")
		config := w.write(t, "etc/toolhost.yaml", "plugin: {granted: {pass_env: [AWS_SECRET_ACCESS_KEY]}, elsewhere: {pass_env: [AWS_SECRET_ACCESS_KEY]}}\n")
		s := w.serve(t, "--config", config, "--plugins", w.path("plugins"))
		for _, name := range []string{"asks", "expands", "other"} {
			if r := s.do(t, "call", "tell_"+name, "{}"); r.code != 0 || strings.Contains(r.output, w.canary) {
				t.Errorf("%s gets the variable, or fails: %d\n%s", name, r.code, r.output)
			}
		}
		s.do(t, "call", "tell_granted", "{}").ends(t, 0, w.canary)
		s.do(t, "why", "asks").ends(t, 0, "the variable AWS_SECRET_ACCESS_KEY of toolhost's environment", "plugin.asks.pass_env: [AWS_SECRET_ACCESS_KEY]")
		s.do(t, "plugins").ends(t, 0, "AWS_SECRET_ACCESS_KEY")
		if r := s.do(t, "why", "granted"); strings.Contains(r.output, "pass_env") {
			t.Errorf("what is granted is shown as a request\n%s", r.output)
		}
		// Without a sandbox, a request alone is also not enough.
		s.stop(t)
		must(t, os.WriteFile(config, []byte("defaults: {sandbox: {mode: off}}\n"), 0o600))
		s = w.serve(t, "--config", config, "--plugins", w.path("plugins"))
		if r := s.do(t, "call", "tell_asks", "{}"); r.code != 0 || strings.Contains(r.output, w.canary) {
			t.Errorf("without a sandbox it gets the variable, or fails: %d\n%s", r.code, r.output)
		}
		s.do(t, "why", "asks").ends(t, 0, "plugin.asks.pass_env: [AWS_SECRET_ACCESS_KEY]")
	})
}
