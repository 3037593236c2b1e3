package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// patience bounds every script, so that a hang fails a test instead of blocking it.
const patience = 5 * time.Minute

// The commands of the pages that need only Go work. TestPagesOfSDKs tests the other pages.
func TestPages(t *testing.T) { testPages(t, false) }

// The commands of the examples that need only Go work.
func TestExamples(t *testing.T) { testExamples(t, false) }

// testPages runs the commands of pages in docs. If ofSDKs is true, it takes the pages about an SDK
// that needs a setup, and the page that installs packages, otherwise all other pages.
func testPages(t *testing.T, ofSDKs bool) {
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, path := range pages {
		if p := (page{name: path}); (p.language() != "" || p.installs()) != ofSDKs {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			t.Parallel()
			p, err := read(path)
			if err != nil {
				t.Fatal(err)
			}
			if p.onMachines() {
				return // TestPagesOnMachines executes it
			}
			needs(t, p.language())
			if name, yes := strings.CutPrefix(filepath.Base(path), "write-a-tool-"); yes {
				fromNothing(t, p, strings.TrimSuffix(name, ".md"))
				return
			}
			newReader(t, "work", p.language()).follow(t, p)
		})
	}
}

// The commands of the pages that people follow in a checkout work. They run in a folder that looks
// like the checkout.
func TestInTheCheckout(t *testing.T) {
	for _, path := range []string{"README.md", "docs/policy/README.md"} {
		t.Run(filepath.Dir(path), func(t *testing.T) {
			t.Parallel()
			p, err := read(filepath.Join(root(t), path))
			if err != nil {
				t.Fatal(err)
			}
			if commands(p) == 0 {
				t.Fatal("no command of the page is run")
			}
			newReader(t, "checkout", "").follow(t, p)
		})
	}
}

// testExamples follows the examples. If ofSDKs is true, it takes those for an SDK that needs a
// setup, otherwise all other examples.
func testExamples(t *testing.T, ofSDKs bool) {
	readmes, err := filepath.Glob(filepath.Join(root(t), "examples", "*", "README.md"))
	if err != nil || len(readmes) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, path := range readmes {
		if (page{name: path}.language() != "") != ofSDKs {
			continue
		}
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := read(path)
			if err != nil {
				t.Fatal(err)
			}
			if count := commands(p); count != 3 {
				t.Errorf("%s: %d commands, want three", path, count)
			}
			needs(t, p.language())
			r := newReader(t, filepath.Join("checkout", "examples", name), p.language())
			if strings.HasPrefix(name, "call-") {
				r.setUp(t)
			}
			r.follow(t, p)
			r.test(t)
		})
	}
}

// commands returns the number of commands of the page that the tests execute.
func commands(p page) int {
	var count int
	for _, b := range p.blocks {
		if b.language == "sh" && !b.has("no-run") {
			count += strings.Count(b.text, "\n")
		}
	}
	return count
}

// checkout makes dir look like the checkout, with writable examples. For a page about TypeScript,
// it contains the built TypeScript SDK. If the folder will be the workspace (worksIn), the programs
// are copies, because toolhost refuses a link in the workspace that leads to its plugins.
func checkout(t *testing.T, dir, language string, worksIn bool) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "sdk"), 0o700); err != nil {
		t.Fatal(err)
	}
	link(t, root(t), dir, "bin", "examples", "sdk")
	if worksIn {
		if err := os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(bin)); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Symlink(bin, filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(root(t), "sdk"), filepath.Join(dir, "sdk"), "typescript")
	if language == "typescript" {
		if err := os.Symlink(setUps[language]().ready, filepath.Join(dir, "sdk", language)); err != nil {
			t.Fatal(err)
		}
	}
	copied := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "examples")
	copied.Dir = root(t)
	list, err := copied.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root(t), name))
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// link creates links to the visible entries of a folder, except those in besides.
func link(t *testing.T, from, to string, besides ...string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if slices.Contains(besides, name) || strings.HasPrefix(name, ".") {
			continue
		}
		if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// bin is the folder with the programs. Its folder plugins contains shipped plugins.
var bin string

func TestMain(m *testing.M) {
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "toolhost-docs-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	bin = dir
	for target, packages := range map[string][]string{
		bin:                           {"./cmd/toolhost", "./cmd/agentd"},
		filepath.Join(bin, "plugins"): {"./plugins/calculator", "./plugins/fs", "./plugins/todo"},
	} {
		if err := programs.Build(context.Background(), target, packages...); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// root returns the path of the checkout.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
