package docs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// setUp is what an SDK's own set-up, which knows what is needed, says: where it is ready for use, or in one line what is
// missing.
type setUp struct{ ready, missing string }

// setUps set the SDKs up, each once for all pages.
var setUps = map[string]func() setUp{
	"python":     sync.OnceValue(func() setUp { return setUpSDK("python") }),
	"typescript": sync.OnceValue(func() setUp { return setUpSDK("typescript") }),
}

func setUpSDK(language string) setUp {
	cmd := exec.CommandContext(context.Background(), filepath.Join("../../../sdk", language, "scripts", "check.sh"), "setup")
	var said strings.Builder
	cmd.Stderr = &said
	printed, err := cmd.Output()
	if err != nil || len(printed) == 0 {
		return setUp{missing: lastLine(said.String())}
	}
	return setUp{ready: strings.TrimSpace(string(printed))}
}

// needs skips a page that needs a language that the machine lacks.
func needs(t *testing.T, language string) {
	t.Helper()
	if find := setUps[language]; find != nil && find().ready == "" {
		t.Skipf("the page is not tested: %s", find().missing)
	}
}

// packedSDK returns what an author takes an SDK from: for Go the checkout, for Python a wheel, and for TypeScript what
// `npm pack` makes. What packs is that of the SDK's own set-up, so that nothing is downloaded for it.
func packedSDK(t *testing.T, language string) string {
	t.Helper()
	source := filepath.Join(root(t), "sdk", language)
	switch language {
	case "python":
		return packed(t, language, "*.whl", func(dir string) {
			copySource(t, filepath.Join(dir, "source"), language) // a build leaves files beside what it builds
			run(t, dir, setUps[language]().ready, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-build-isolation",
				"--no-deps", "--wheel-dir", dir, filepath.Join(dir, "source"))
		})
	case "typescript":
		return packed(t, language, "*.tgz", func(dir string) {
			copied := filepath.Join(dir, "sdk", language) // as deep as in the checkout: what is packed includes its licence
			copySource(t, copied, language)
			copyFile(t, dir, root(t), "LICENSE")
			if err := os.Symlink(filepath.Join(source, "node_modules"), filepath.Join(copied, "node_modules")); err != nil {
				t.Fatal(err)
			}
			run(t, copied, "npm", "pack", "--loglevel", "error", "--pack-destination", dir)
		})
	default:
		return root(t)
	}
}

// sources are what an SDK is packed of.
var sources = map[string][]string{
	"python":     {"README.md", "pyproject.toml"},
	"typescript": {"README.md", "package.json", "package-lock.json", "tsconfig.json", ".npmrc"},
}

// copySource copies an SDK without what its own checks have left in it.
func copySource(t *testing.T, to, language string) {
	t.Helper()
	from := filepath.Join(root(t), "sdk", language)
	if err := os.CopyFS(filepath.Join(to, "src"), os.DirFS(filepath.Join(from, "src"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range sources[language] {
		copyFile(t, to, from, name)
	}
}

func copyFile(t *testing.T, to, from, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(from, name))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, name), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// packed returns the file that pack makes in a folder. It is kept in the checkout's ignored .build, and made again only when
// what it is made of has changed. Test binaries that run at the same time take turns.
func packed(t *testing.T, language, pattern string, pack func(dir string)) string {
	t.Helper()
	want := digest(t, language)
	parent := filepath.Join(root(t), ".build", "packed")
	dir, stamp := filepath.Join(parent, language), filepath.Join(parent, language+".stamp")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	defer lock(t, filepath.Join(parent, language+".lock"))()
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

// digest tells apart what an SDK is packed of.
func digest(t *testing.T, language string) string {
	t.Helper()
	sum := sha256.New()
	for _, name := range append([]string{"src"}, sources[language]...) {
		err := filepath.WalkDir(filepath.Join(root(t), "sdk", language, name), func(path string, entry fs.DirEntry, err error) error {
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

// run runs a command that has to succeed.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}
