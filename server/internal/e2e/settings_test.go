package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A plugin gets the settings of its environment also for its first description. Its log contains
// what it prints during the description.
func TestAPluginIsAskedWithItsSettings(t *testing.T) {
	h := prepare(t)
	program := "#!/bin/sh\n[ -n \"$NEEDED\" ] || exit 9\necho \"started with $NEEDED\" >&2\nexec " + filepath.Join(bin, "faultplugin") + " \"$@\"\n"
	write(t, filepath.Join(h.plugins, "fault"), program, 0o755)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "plugin: {fault: {env: {NEEDED: a-key}}}\n", 0o600)
	h.serve(t)
	h.do(t, "logs", "fault").says(t, "describe-", "started with a-key")
	h.do(t, "call", "fault", `{"do":"echo","text":"x"}`).exits(t, 0)
}

// A reload names the settings that it applies, and those that need a restart. It applies nothing of
// a file that is not trusted.
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
	h.do(t, "reload").says(t, "in force from "+file+": calls.max_timeout\n", "restart toolhost to apply events.kept")
	h.do(t, "reload", "-o", "json").says(t, `"keys":["events"]`, `"key":"events.kept","old":"10000","new":"72","restart":true`)
	write(t, file, string(first)+"events: {kept: 73}\n", 0o600)
	h.do(t, "reload").says(t, "changes nothing", "is not trusted", "toolhost trust --diff")
}
