package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two tools of a Go plugin have an unusable pattern. toolhost serves the third tool. `plugins`,
// `verify` and the log say why it omits the others.
func TestOneUnusableSchemaOmitsOneTool(t *testing.T) {
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "schemaplugin"), filepath.Join(h.plugins, "schemaplugin")); err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	r := h.do(t, "call", "schema_usable", `{"n":1}`)
	r.exits(t, 0)
	r.says(t, `"n":1`)
	reasons := []string{"schema_lookahead", "schema_dynamic", "(?="}
	h.do(t, "tools", "render", "--format", "anthropic", "--name", "schema_umlaut,schema_usable").says(t,
		`"name":"schema_usable"`, `omitted schema_umlaut: the API of Anthropic refuses the parameter name "größe"`)
	h.do(t, "plugins").says(t, reasons...)
	verify(t, filepath.Join(bin, "schemaplugin")).says(t, reasons...)
	log := h.stderr.String()
	for _, text := range reasons {
		if !strings.Contains(log, text) {
			t.Errorf("the log does not hold %q:\n%s", text, log)
		}
	}
}
