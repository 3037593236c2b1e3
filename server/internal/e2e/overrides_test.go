package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// The configuration renames, disables and restricts tools without a change of their plugins.
func TestWhatOperatorsSayAboutTools(t *testing.T) {
	h := prepare(t)
	write(t, filepath.Join(h.workspace, "note.txt"), "hello", 0o600)
	write(t, filepath.Join(h.home, "toolhost.yaml"), `
tools:
  read_file: {rename: cat, description: Shows a file of ours.}
  fs.write_file: {disabled: true}
  list_dir: {rename: calculator}
  calculator: {dangerous: true}
  zebra: {timeout: 1s}
  fs.giraffe: {timeout: 1s}
`, 0o600)
	h.serve(t)
	tools := h.do(t, "tools")
	tools.says(t, "cat ", "Shows a file of ours.", "list_dir")
	for _, gone := range []string{"read_file", "write_file"} {
		if strings.Contains(tools.stdout, gone) {
			t.Errorf("%s is listed:\n%s", gone, tools.stdout)
		}
	}
	h.do(t, "plugins").says(t, `its tool "giraffe", which it does not have`, `the tool "list_dir" keeps its name`)
	for _, warning := range []string{"tools.zebra", "tools.fs.giraffe"} {
		if !strings.Contains(h.stderr.String(), warning) {
			t.Errorf("the log does not warn of %s:\n%s", warning, h.stderr)
		}
	}
	h.do(t, "call", "cat", `{"path":"note.txt"}`).says(t, "hello")
	h.do(t, "call", "read_file", `{"path":"note.txt"}`).says(t, `the configuration renamed it to "cat"`)
	h.do(t, "call", "write_file", `{"path":"x","content":"y"}`).says(t, `the tool "write_file" is switched off in the configuration`)
	h.do(t, "call", "calculator", `{"expression":"6*7"}`).says(t, "dangerous")
}
