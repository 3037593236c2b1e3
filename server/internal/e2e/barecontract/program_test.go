//go:build more

package barecontract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// program is the command line of a plugin, with absolute paths, and its environment.
type program struct {
	name string
	argv []string
	env  map[string]string
	// reads contains the files and folders of the plugin. toolhost knows only the script that
	// starts it, so the sandbox needs this list.
	reads []string
}

// install writes a script that runs the program, because a plugin is one executable file. It
// returns the path of the script.
func (p program) install(t *testing.T, dir string) string {
	t.Helper()
	var script strings.Builder
	script.WriteString("#!/bin/sh\n")
	for name, value := range p.env {
		fmt.Fprintf(&script, "export %s=%s\n", name, quoted(value))
	}
	script.WriteString("exec")
	for _, arg := range p.argv {
		script.WriteString(" " + quoted(arg))
	}
	path := filepath.Join(dir, p.name)
	if err := os.WriteFile(path, []byte(script.String()+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// quoted quotes s for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func prepareGo(t *testing.T) program {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The race detector would delay the exit of the plugin by one second.
	return program{name: "go", argv: []string{self, playPlugin}, env: map[string]string{"GORACE": "atexit_sleep_ms=0"}, reads: []string{self}}
}

// preparePython creates a virtual environment with the packages of requirements.txt and the
// generated code of the contract.
func preparePython(t *testing.T) program {
	python := find(t, "python3")
	source := filepath.Join(root(t), "server/internal/e2e/barecontract/testdata/python")
	requirements := filepath.Join(source, "requirements.txt")
	protos := filepath.Join(root(t), "proto")
	contract := contractFiles(t)
	dir := built(t, "python", append(contract, requirements), output(t, python, "-VV"), func(dir string) {
		venv := filepath.Join(dir, "venv")
		fetch(t, dir, python, "-m", "venv", venv)
		python := filepath.Join(venv, "bin", "python")
		fetch(t, dir, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--requirement", requirements)
		if err := os.Mkdir(filepath.Join(dir, "gen"), 0o700); err != nil {
			t.Fatal(err)
		}
		output(t, python, append([]string{"-m", "grpc_tools.protoc", "-I", protos, "--python_out", filepath.Join(dir, "gen"),
			"--grpc_python_out", filepath.Join(dir, "gen")}, contract...)...)
	})
	return program{
		name: "python",
		argv: []string{filepath.Join(dir, "venv/bin/python"), filepath.Join(source, "plugin.py")},
		// Python must not write compiled files of the plugin into the checkout.
		env:   map[string]string{"PYTHONPATH": filepath.Join(dir, "gen"), "PYTHONPYCACHEPREFIX": filepath.Join(dir, "cache")},
		reads: []string{dir, source, strings.TrimSpace(output(t, python, "-c", "import sys; print(sys.base_prefix)"))},
	}
}

// prepareNode installs the packages of package-lock.json. Node needs no generated code.
func prepareNode(t *testing.T) program {
	node, npm := find(t, "node"), find(t, "npm")
	source := filepath.Join(root(t), "server/internal/e2e/barecontract/testdata/node")
	var wanted []string
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		wanted = append(wanted, filepath.Join(source, name))
	}
	dir := built(t, "node", wanted, output(t, node, "--version"), func(dir string) {
		for _, path := range wanted {
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, filepath.Base(path)), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		fetch(t, dir, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
	})
	return program{
		name:  "node",
		argv:  []string{node, filepath.Join(source, "plugin.js"), filepath.Join(root(t), "proto")},
		env:   map[string]string{"NODE_PATH": filepath.Join(dir, "node_modules")},
		reads: []string{dir, source, filepath.Join(root(t), "proto"), node},
	}
}

// contractFiles returns the .proto files that a plugin needs.
func contractFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"proto/toolhost/plugin/v1/*.proto", "proto/toolhost/tool/v1/*.proto"} {
		found, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// built returns a folder that build has filled. The folder is in the ignored .build of the
// checkout. built fills it again only if one of the files in from, or the version of the tool, has
// changed. A lock serializes concurrent test binaries.
func built(t *testing.T, name string, from []string, version string, build func(dir string)) string {
	t.Helper()
	digest := sha256.New()
	fmt.Fprintln(digest, version)
	for _, path := range from {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(digest, "%s %x\n", path, sha256.Sum256(data))
	}
	want := hex.EncodeToString(digest.Sum(nil))
	parent := filepath.Join(root(t), ".build", "barecontract")
	dir, stamp := filepath.Join(parent, name), filepath.Join(parent, name+".stamp")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	defer lock(t, filepath.Join(parent, name+".lock"))()
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return dir
	}
	for _, step := range []func() error{
		func() error { return os.RemoveAll(stamp) },
		func() error { return os.RemoveAll(dir) },
		func() error { return os.Mkdir(dir, 0o700) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	build(dir)
	if err := os.WriteFile(stamp, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lock blocks until it holds an exclusive lock of the file. The kernel releases the lock when its
// holder dies.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	file, err := filelock.Create(path)
	if err == nil {
		err = filelock.Lock(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}

// find returns the path of a program. It skips the test if the machine does not have the program.
func find(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		t.Skipf("the plugin is not tested, because there is no %s: %v", program, err)
	}
	return path
}

// fetch runs a command that installs packages. It skips the test if the command fails.
func fetch(t *testing.T, dir string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the plugin is not tested, because what it needs cannot be installed: %s: %v\n%s", cmd, err, out)
	}
}

// output runs a command that must succeed and returns its output.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
