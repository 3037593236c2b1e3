package authors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/e2e/programs"
)

// root returns the checkout's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// built is the folder with the programs under test, once they are there.
var built string

// TestMain removes the programs that the tests have got.
func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// buildPrograms returns a folder with toolhost, agentd and the plugin stamped. Tests call it before they run beside others.
func buildPrograms(t *testing.T) string {
	t.Helper()
	if built != "" {
		return built
	}
	dir, err := os.MkdirTemp("", "authors-")
	if err == nil {
		built = dir
		err = programs.Build(t.Context(), dir, "./cmd/toolhost", "./cmd/agentd", "./internal/e2e/stamped")
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func goSDK(t *testing.T) string {
	find(t, "go")
	return root(t)
}

// pythonSDK returns the SDK as a wheel.
func pythonSDK(t *testing.T) string {
	python := find(t, "python3")
	source := filepath.Join(root(t), "sdk", "python")
	return packed(t, "python", "*.whl", []string{filepath.Join(source, "src"), filepath.Join(source, "pyproject.toml"), filepath.Join(source, "README.md")},
		func(dir string) {
			copied := filepath.Join(dir, "source")
			copySource(t, copied, source) // a build leaves files beside what it builds
			fetch(t, dir, python, "-m", "venv", "venv")
			fetch(t, dir, filepath.Join(dir, "venv", "bin", "python"), "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check",
				"--no-deps", "--wheel-dir", dir, copied)
		})
}

// typescriptSDK returns the SDK as `npm pack` makes it.
func typescriptSDK(t *testing.T) string {
	find(t, "node")
	npm := find(t, "npm")
	source := filepath.Join(root(t), "sdk", "typescript")
	return packed(t, "typescript", "*.tgz", []string{filepath.Join(source, "src"), filepath.Join(source, "package.json"),
		filepath.Join(source, "package-lock.json"), filepath.Join(source, "tsconfig.json")},
		func(dir string) {
			copied := filepath.Join(dir, "sdk", "typescript") // as deep as in the checkout: what is packed includes its licence
			copySource(t, copied, source)
			license, err := os.ReadFile(filepath.Join(root(t), "LICENSE"))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "LICENSE"), license, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			fetch(t, copied, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
			run(t, copied, npm, "pack", "--loglevel", "error", "--pack-destination", dir)
		})
}

// copySource copies an SDK without what its own checks have left in it.
func copySource(t *testing.T, to, from string) {
	t.Helper()
	for _, name := range []string{"src", "README.md", "pyproject.toml", "package.json", "package-lock.json", "tsconfig.json", ".npmrc"} {
		path := filepath.Join(from, name)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			continue
		case info.IsDir():
			err = os.CopyFS(filepath.Join(to, name), os.DirFS(path))
		default:
			var text []byte
			if text, err = os.ReadFile(path); err == nil {
				err = os.MkdirAll(to, 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(to, name), text, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// packed returns the file that pack makes in a folder. It is kept in the checkout's ignored .build, and made again only when
// what it is made of has changed. Test binaries that run at the same time take turns.
func packed(t *testing.T, name, pattern string, from []string, pack func(dir string)) string {
	t.Helper()
	want := digest(t, from)
	parent := filepath.Join(root(t), ".build", "authors")
	dir, stamp := filepath.Join(parent, name), filepath.Join(parent, name+".stamp")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	defer lock(t, filepath.Join(parent, name+".lock"))()
	if have, err := os.ReadFile(stamp); err != nil || string(have) != want {
		for _, err := range []error{os.RemoveAll(stamp), os.RemoveAll(dir), os.Mkdir(dir, 0o700)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		pack(dir)
		if err := os.WriteFile(stamp, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s are %v, %v; want one", pattern, dir, found, err)
	}
	return found[0]
}

func digest(t *testing.T, from []string) string {
	t.Helper()
	sum := sha256.New()
	for _, start := range from {
		err := filepath.WalkDir(start, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.Contains(path, "__pycache__") {
				return err
			}
			data, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%s %x\n", path, sha256.Sum256(data))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// lock waits until nobody else holds the file's lock; the kernel lets go of it when its holder dies.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}

// find returns a program's path. Where the machine has none, its language cannot be tested there.
func find(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("the language is not tested, because there is no %s: %v", program, err)
	}
	return path
}

// fetch runs a command that installs something. Where that cannot be had, the language cannot be tested.
func fetch(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the language is not tested, because what it needs cannot be installed: %s: %v\n%s", cmd, err, out)
	}
}

// run runs a command that has to succeed.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}
