package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A plugin has the settings of its environment also when it is described for the first time. Its
// log has what it writes then.
func TestAPluginIsAskedWithItsSettings(t *testing.T) {
	h := prepare(t)
	program := "#!/bin/sh\n[ -n \"$NEEDED\" ] || exit 9\necho \"started with $NEEDED\" >&2\nexec " + filepath.Join(bin, "faultplugin") + " \"$@\"\n"
	write(t, filepath.Join(h.plugins, "fault"), program, 0o755)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "plugin: {fault: {env: {NEEDED: a-key}}}\n", 0o600)
	h.serve(t)
	h.do(t, "logs", "fault").says(t, "describe-", "started with a-key")
	h.do(t, "call", "fault", `{"do":"echo","text":"x"}`).exits(t, 0)
}

// Changes of the file apply at the next start, and reload says so.
func TestReloadNamesAChangedConfiguration(t *testing.T) {
	h := prepare(t)
	h.serve(t)
	file := filepath.Join(h.home, "toolhost.yaml")
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h.do(t, "reload").says(t, "nothing changed in the plugin folders\n")
	write(t, file, string(first)+"events: {kept: 72}\ncalls: {max_timeout: 7m}\n", 0o600)
	h.trust(t, "toolhost.yaml")
	h.do(t, "reload").says(t, file+" has changed since toolhost started (calls, events); restart toolhost to apply it")
	h.do(t, "reload", "-o", "json").says(t, `"keys":["calls","events"]`)
	write(t, file, string(first)+"events: {kept: 73}\n", 0o600)
	h.do(t, "reload").says(t, "would refuse to start with it", "is not trusted", "toolhost trust --diff")
}
