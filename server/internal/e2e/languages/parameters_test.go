//go:build more

package languages

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The schemas that the SDKs generate for the same parameters match the fixtures in
// internal/text/arguments/testdata/sdk. The tests of that package use these fixtures to test its
// messages. The flag -update writes the fixtures.
func TestParameterSchemas(t *testing.T) {
	bin := build(t)
	for _, l := range languages(t, bin) {
		addr := serve(t, filepath.Join(bin, "toolhost"), l)
		described, err := exec.CommandContext(t.Context(), filepath.Join(bin, "toolhost"), "tools", "--addr", addr, "-o", "json", "parameters").Output()
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		var tool struct {
			InputSchema json.RawMessage `json:"input_schema"`
		}
		if err := json.Unmarshal(described, &tool); err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		var schema bytes.Buffer
		if err := json.Indent(&schema, tool.InputSchema, "", "  "); err != nil {
			t.Fatalf("%s: %v in %s", l.Name, err, described)
		}
		schema.WriteByte('\n')
		fixture := filepath.Join(root(t), "internal/text/arguments/testdata/sdk", l.Name+".json")
		if *update {
			if err := os.WriteFile(fixture, schema.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(fixture)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), schema.String()); diff != "" {
			t.Errorf("%s generates another schema; after a look at it, run this test with -update (-fixture +now):\n%s", l.Name, diff)
		}
	}
}
