//go:build more

package languages

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/e2e/programs"
)

// language is a language with a plugin and a caller.
type language struct {
	name   string
	plugin []string // command line of the plugin, with absolute paths
	caller []string
	reads  []string // files and folders of the plugin, which its sandbox must allow
}

// languages returns the languages that the machine has. It skips a subtest for each missing one.
func languages(t *testing.T, bin string) []language {
	t.Helper()
	all := []language{{
		name: "go", plugin: []string{filepath.Join(bin, "plugin")}, caller: []string{filepath.Join(bin, "caller")}, reads: []string{bin},
	}}
	scratch := t.TempDir() // this folder outlives the subtests
	for name, prepare := range map[string]func(t *testing.T) language{
		"python":     python,
		"typescript": func(t *testing.T) language { return typescript(t, scratch) },
	} {
		t.Run("set up "+name, func(t *testing.T) {
			l := prepare(t)
			l.name = name
			all = append(all, l)
		})
	}
	return all
}

func python(t *testing.T) language {
	interpreter := setUp(t, "sdk/python/scripts/check.sh")
	dir := filepath.Join(root(t), "internal/e2e/languages/python")
	return language{
		plugin: []string{interpreter, "-B", filepath.Join(dir, "plugin.py")},
		caller: []string{interpreter, "-B", filepath.Join(dir, "caller.py")},
		reads:  []string{dir, filepath.Join(root(t), "sdk/python/src"), filepath.Dir(filepath.Dir(interpreter)), output(t, interpreter, "-c", "import sys; print(sys.base_prefix)")},
	}
}

// typescript compiles the plugin and the caller in a separate folder that looks like an author's
// repository.
func typescript(t *testing.T, dir string) language {
	sdk := setUp(t, "sdk/typescript/scripts/check.sh")
	modules := filepath.Join(root(t), "sdk/typescript/node_modules")
	source := os.DirFS(filepath.Join(root(t), "internal/e2e/languages/typescript"))
	if err := os.CopyFS(dir, source); err != nil {
		t.Fatal(err)
	}
	for _, scope := range []string{"@types", "@toolhost"} {
		if err := os.MkdirAll(filepath.Join(dir, "node_modules", scope), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"@toolhost/sdk": sdk, "zod": filepath.Join(modules, "zod"), "@types/node": filepath.Join(modules, "@types/node"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, "node_modules", name)); err != nil {
			t.Fatal(err)
		}
	}
	output(t, filepath.Join(modules, ".bin/tsc"), "-p", dir)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	return language{
		plugin: []string{node, filepath.Join(dir, "plugin.js")},
		caller: []string{node, filepath.Join(dir, "caller.js")},
		reads:  []string{dir, sdk, modules, node},
	}
}

// setUp runs the setup script of an SDK and returns its output. It skips the test if the machine
// lacks what the SDK requires.
func setUp(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root(t), script), "setup")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch printed := strings.TrimSpace(string(out)); {
	case err != nil:
		t.Fatalf("setting up: %v\n%s", err, stderr.String())
	case printed == "":
		t.Skipf("the language is not tested: %s", strings.TrimSpace(stderr.String()))
	default:
		return printed
	}
	return ""
}

// output runs a command that must succeed and returns its output.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// build builds toolhost and the Go plugin and caller. It returns their folder.
func build(ctx context.Context, t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if err := programs.Build(ctx, bin, "./cmd/toolhost", "./internal/e2e/languages/go/plugin", "./internal/e2e/languages/go/caller"); err != nil {
		t.Fatal(err)
	}
	return bin
}

// root returns the path of the checkout.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
