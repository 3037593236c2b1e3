//go:build more

package releases

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/size"
)

// change is a change of the repository that breaks a promise: it replaces a text in some files by
// another one.
type change struct {
	short bool // also in the short form of the test
	edits []edit
	// guard is the command that must fail after the change, and must name the changed item.
	guard []string
	names string
	// accept is a command that accepts the change. After it, kept must fail too, because accepting
	// a change must not break a promise of a release. Empty means that guard itself compares with
	// the release.
	accept, kept []string
}

// edit replaces the only occurrence of a text in a file.
type edit struct{ file, old, instead string }

// goTest is a command that runs tests of a package of the programs' module.
func goTest(pkg, tests string, more ...string) []string {
	return append([]string{"go", "-C", "server", "test", "-count=1", pkg, "-run", tests}, more...)
}

// TestEachBrokenPromiseIsCaughtByName breaks one promise of each kind in a copy of the repository.
// Its short form breaks those whose guards compile little.
func TestEachBrokenPromiseIsCaughtByName(t *testing.T) {
	root := copyRepository(t)
	kept := goTest(".", "TestReleasesAreKept")
	for name, c := range map[string]change{
		"field number": {
			short: true,
			edits: []edit{{"proto/toolhost/plugin/v1/plugin.proto", "  string version = 2;", "  string version = 200;"}},
			guard: []string{"go", "tool", "-modfile=tools/go.mod", "buf", "breaking", "--against", "proto/releases/0.1.0.binpb"},
			names: `"version"`,
		},
		"JSON key": { // experimental: a review sees the change, and a release may have it
			edits: []edit{{"server/internal/toolhost/commands/operate/stats.go", `json:"mean_duration_ms"`, `json:"average_duration_ms"`}},
			guard: goTest(".", "TestSurface"),
			names: "operate.showStats:[].mean_duration_ms",
		},
		"exit code": {
			edits:  []edit{{"server/internal/terminal/cli/doc.go", "ExitUntrusted = 7", "ExitUntrusted = 9"}},
			guard:  goTest(".", "TestSurface"),
			names:  "7 Untrusted both programs",
			accept: goTest(".", "TestSurface", "-update"),
			kept:   kept,
		},
		"configuration key": { // experimental
			edits: []edit{{"server/internal/toolhost/config/settings.go", `yaml:"keep_ids"`, `yaml:"keep_names"`}},
			guard: goTest(".", "TestSurface"),
			names: "toolhost.yaml.ledger.keep_ids duration",
		},
		"exported Go name": {
			short: true,
			// No program uses it, so that the listing's test still builds.
			edits:  []edit{{"client/credentials.go", "func WithTokenSource(", "func WithTokens("}},
			guard:  goTest(".", "TestAPI$"),
			names:  "func WithTokenSource(source func(context.Context) (Token, error)) DialOption",
			accept: goTest(".", "TestAPI$", "-update"),
			kept:   kept,
		},
		"stored layout": {
			edits: []edit{
				{"server/internal/toolhost/callstore/schema.go", "	sum       BLOB", "	digest    BLOB"},
				{"server/internal/toolhost/callstore/statements.go", "session, id, sum, tool", "session, id, digest, tool"},
				{"server/internal/toolhost/callstore/read.go", "c.sum, ", "c.digest, "},
			},
			guard: goTest("./internal/e2e/releases", "TestLedger"),
			names: `this program did not create the table "calls"`,
		},
	} {
		if !c.short && !size.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			restored := map[string][]byte{}
			for _, e := range c.edits {
				file := filepath.Join(root, e.file)
				text, err := os.ReadFile(file)
				if err != nil || strings.Count(string(text), e.old) != 1 {
					t.Fatalf("%s has %q %d times: %v", e.file, e.old, strings.Count(string(text), e.old), err)
				}
				restored[file] = text
				if err := os.WriteFile(file, []byte(strings.Replace(string(text), e.old, e.instead, 1)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			listings, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range listings {
				if restored[file], err = os.ReadFile(file); err != nil {
					t.Fatal(err)
				}
			}
			defer func() {
				for file, text := range restored {
					if err := os.WriteFile(file, text, 0o644); err != nil {
						t.Error(err)
					}
				}
			}()
			wantCaught(t, root, c.guard, c.names)
			if c.accept != nil {
				if out, err := inFolder(root, c.accept).CombinedOutput(); err != nil {
					t.Fatalf("accepting the change: %v\n%s", err, out)
				}
				wantCaught(t, root, c.kept, c.names)
				wantCaught(t, root, c.kept, "docs/stability.md")
			}
		})
	}
}

// wantCaught runs a guard, and checks that it fails and names the changed item.
func wantCaught(t *testing.T, root string, guard []string, names string) {
	t.Helper()
	out, err := inFolder(root, guard).CombinedOutput()
	if err == nil || !strings.Contains(string(out), names) {
		t.Errorf("%s: %v, without %q:\n%s", strings.Join(guard, " "), err, names, out)
	}
}

func inFolder(dir string, command []string) *exec.Cmd {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), ",more", ""))
	return cmd
}

// copyRepository copies the files of the repository that the guards read.
func copyRepository(t *testing.T) string {
	t.Helper()
	from, to := filepath.Join("..", "..", "..", ".."), t.TempDir()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case ".git", ".build", "bin", "node_modules", "results":
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, relative), 0o755)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}
