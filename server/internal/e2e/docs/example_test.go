package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// setUp links the dependencies from the SDK's setup into a caller's example, so that the example
// does not download them. Plugins must contain their dependencies, because these are installed with
// them, so testExamples does not call setUp for plugins.
func (r *reader) setUp(t *testing.T) {
	t.Helper()
	switch {
	case r.has("requirements.txt"):
		python := setUps["python"]().ready
		if python == "" {
			t.Skip("the example is not tested, because the Python SDK cannot be set up")
		}
		output(t, python, "-m", "venv", "--without-pip", filepath.Join(r.dir, ".venv"))
		installed := output(t, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
		here := output(t, filepath.Join(r.dir, ".venv/bin/python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
		r.write(t, filepath.Join(here, "sdk.pth"), installed+"\n"+filepath.Join(root(t), "sdk/python/src")+"\n")
		r.write(t, filepath.Join(r.dir, ".venv/ready"), "")
	case r.has("package.json"):
		if !r.has("../../sdk/typescript") {
			t.Skip("the example is not tested, because the TypeScript SDK cannot be set up")
		}
		modules := filepath.Join(r.dir, "node_modules")
		if err := os.MkdirAll(filepath.Join(modules, "@toolhost"), 0o700); err != nil {
			t.Fatal(err)
		}
		link(t, filepath.Join(root(t), "sdk/typescript/node_modules"), modules)
		for name, target := range map[string]string{
			".bin": filepath.Join(root(t), "sdk/typescript/node_modules/.bin"), "@toolhost/sdk": filepath.Join(r.dir, "../../sdk/typescript"),
		} {
			if err := os.Symlink(target, filepath.Join(modules, name)); err != nil {
				t.Fatal(err)
			}
		}
		r.write(t, filepath.Join(modules, "ready"), "")
	}
}

// test runs the tests of the example's Makefile, if there are any. The tests of Go examples run
// together with those of the other modules.
func (r *reader) test(t *testing.T) {
	t.Helper()
	if makefile, _ := os.ReadFile(filepath.Join(r.dir, "Makefile")); strings.Contains(string(makefile), "\ntest:") {
		r.script(t, page{name: filepath.Join(r.dir, "Makefile")}, block{language: "sh", text: "make test\n"})
	}
}

func (r *reader) has(name string) bool {
	_, err := os.Stat(filepath.Join(r.dir, name))
	return err == nil
}

func (r *reader) write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
