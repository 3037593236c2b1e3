package e2e_test

import (
	"path/filepath"
	"testing"
)

// TestAPluginIsAskedWithItsSettings: what a plugin needs of its environment to start, it has also when it is asked for the
// first time what it is; what it says then is in its log.
func TestAPluginIsAskedWithItsSettings(t *testing.T) {
	h := prepare(t)
	program := "#!/bin/sh\n[ -n \"$NEEDED\" ] || exit 9\necho \"started with $NEEDED\" >&2\nexec " + filepath.Join(bin, "faultplugin") + " \"$@\"\n"
	write(t, filepath.Join(h.plugins, "fault"), program, 0o755)
	write(t, filepath.Join(h.home, "toolhost.yaml"), "plugin: {fault: {env: {NEEDED: a-key}}}\n", 0o600)
	h.serve(t)
	h.do(t, "logs", "fault").says(t, "describe-", "started with a-key")
	h.do(t, "call", "fault", `{"do":"echo","text":"x"}`).exits(t, 0)
}
