package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// Descriptions and examples of all shipped tools reach models of OpenAI completely. OpenAI allows
// 1,024 characters.
func TestShippedToolsFitEveryAPI(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	entries, err := os.ReadDir("../../../plugins")
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for _, entry := range entries {
		if !entry.IsDir() {
			continue // the files of the module
		}
		packages = append(packages, "./plugins/"+entry.Name())
	}
	h.plugins = filepath.Join(h.home, "shipped")
	if err := programs.Build(t.Context(), h.plugins, packages...); err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	var listed []struct {
		Name        string `json:"name"`
		Plugin      string `json:"plugin"`
		Description string `json:"description"`
		Examples    []struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"input_examples"`
	}
	h.list(t, &listed, "tools")
	var functions []struct {
		Function struct{ Name, Description string } `json:"function"`
	}
	r := h.do(t, "tools", "render", "--format", "openai")
	if err := json.Unmarshal([]byte(r.stdout), &functions); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	described, plugins := map[string]string{}, map[string]bool{}
	for _, f := range functions {
		described[f.Function.Name] = f.Function.Description
	}
	for _, tool := range listed {
		plugins[tool.Plugin] = true
		text := described[tool.Name]
		if !strings.HasPrefix(text, strings.TrimSpace(tool.Description)) {
			t.Errorf("%s: the description of %d bytes is cut: %q", tool.Name, len(tool.Description), text)
		}
		for _, example := range tool.Examples {
			if !strings.Contains(text, string(example.Arguments)) {
				t.Errorf("%s: the example %s is left out of the description of %d bytes", tool.Name, example.Arguments, len(text))
			}
		}
	}
	if len(plugins) != len(packages) {
		t.Errorf("%d of %d plugins list tools: %v", len(plugins), len(packages), plugins)
	}
}
