//go:build more

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sdk runs the setup script of an SDK of this checkout and returns its output: the interpreter or
// the folder.
func sdk(t *testing.T, language string) (root, printed string) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "sdk", language, "scripts", "check.sh"), "setup")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("setting up: %v\n%s", err, stderr.String())
	}
	if printed = strings.TrimSpace(string(out)); printed == "" {
		t.Skipf("plugins in %s are not verified: %s", language, strings.TrimSpace(stderr.String()))
	}
	return root, printed
}

func TestVerifyPythonPlugin(t *testing.T) {
	t.Parallel()
	root, python := sdk(t, "python")
	base, err := exec.CommandContext(t.Context(), python, "-c", "import sys; print(sys.base_prefix)").Output()
	if err != nil {
		t.Fatal(err)
	}
	reads := []string{filepath.Dir(filepath.Dir(python)), filepath.Join(root, "sdk/python"), filepath.Join(root, "server/internal/e2e/languages/python"), strings.TrimSpace(string(base))}
	path, config := script(t, "table", reads, fmt.Sprintf("#!/bin/sh\nexec '%s' -B '%s/server/internal/e2e/languages/python/plugin.py'\n", python, root))
	v := passes(t, path, "--config", config)
	if !slices.Contains(v.Called, "echo") {
		t.Errorf("called %q", v.Called)
	}
}

// typescriptPlugin is a plugin in JavaScript.
const typescriptPlugin = `import { serve, text, tool } from "@toolhost/sdk";

await serve({
  name: "trees",
  version: "1.0.0",
  tools: [
    tool(
      {
        name: "count_rings",
        description: "Counts the rings of a tree that a person describes. Not for palms, which have none. Answers with a number.",
        readOnly: true,
        examples: [{ arguments: { tree: "an oak of the year 1848" } }],
        input: {
          type: "object",
          properties: { tree: { type: "string", description: "the tree, in words, such as 'an old oak'" } },
          required: ["tree"],
        },
      },
      ({ tree }) => text(tree + ": " + tree.length),
    ),
  ],
});
`

func TestVerifyTypeScriptPlugin(t *testing.T) {
	t.Parallel()
	root, folder := sdk(t, "typescript")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "node_modules", "@toolhost"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, filepath.Join(dir, "node_modules", "@toolhost", "sdk")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugin.mjs"), []byte(typescriptPlugin), 0o600); err != nil {
		t.Fatal(err)
	}
	path, config := script(t, "trees", []string{dir, folder, filepath.Join(root, "sdk/typescript/node_modules"), filepath.Dir(filepath.Dir(node))}, fmt.Sprintf("#!/bin/sh\nexec '%s' '%s/plugin.mjs'\n", node, dir))
	v := passes(t, path, "--config", config)
	if v.Summary.Advice > 0 || !slices.Equal(v.Called, []string{"count_rings"}) {
		t.Errorf("called %q, advice: %q", v.Called, v.found("advice"))
	}
}
