package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// setUp gives an example what it needs of the SDKs' own set-up, so that it is not downloaded for each of them. Plugins get
// nothing so: what they need has to be theirs, because it goes where they go.
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

// test runs the example's own tests, if it has some. Those in Go are run as those of every module are.
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
