package scaffold_test

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/scaffold"
)

// A written repository contains the plugin's name and valid files of its language. It contains no
// placeholder and no path of this machine. The tests in server/internal/e2e/docs build and test
// such repositories.
func TestWrite(t *testing.T) {
	for _, language := range scaffold.Languages() {
		t.Run(language, func(t *testing.T) {
			files, all := written(t, scaffold.Config{Language: language}, carried[language])
			for _, want := range []string{`"my-Weather"`, "my_weather_count_words", "TOOLHOST ?= toolhost"} {
				if !strings.Contains(all, want) {
					t.Errorf("%q stands in none of the files", want)
				}
			}
			if slices.Contains(files, "third_party/toolhost-sdk/client/client.go") {
				t.Error("the repository of a plugin contains the client")
			}
		})
	}
}

// The repository of a caller has the client and the files of every repository, and nothing of a
// plugin.
func TestWriteCaller(t *testing.T) {
	for _, language := range scaffold.Languages() {
		t.Run(language, func(t *testing.T) {
			client := carried[language]
			if language == "go" {
				client = "third_party/toolhost-sdk/client/client.go"
			}
			files, all := written(t, scaffold.Config{Language: language, Caller: true}, client)
			if !strings.Contains(all, "my-Weather") {
				t.Error("no file names the caller")
			}
			for _, none := range []string{"my_weather_count_words", "$(TOOLHOST)"} {
				if strings.Contains(all, none) {
					t.Errorf("a file contains %q, which only plugins need", none)
				}
			}
			if slices.Contains(files, carried["go"]) {
				t.Error("the repository of a caller contains the SDK of plugins")
			}
		})
	}
}

// written writes a repository, checks its files, and returns their names and their contents.
func written(t *testing.T, c scaffold.Config, wants ...string) (files []string, all string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "down")
	c.Name, c.Dir, c.Sources = "my-Weather", dir, toolhost.Sources()
	files, err := scaffold.Write(c)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(files) {
		t.Errorf("the files are in no order: %q", files)
	}
	for _, want := range append(wants, "README.md", "Makefile", ".gitignore", ".github/workflows/test.yml") {
		if !slices.Contains(files, want) {
			t.Errorf("there is no %s among %v", want, files)
		}
	}
	all = contents(t, dir, files)
	for _, outside := range []string{dir, filepath.Dir(dir)} {
		if strings.Contains(all, outside) {
			t.Errorf("a file names %s", outside)
		}
	}
	return files, all
}

// carried contains, for each language, one file of the SDK that a repository contains.
var carried = map[string]string{
	"go":         "third_party/toolhost-sdk/sdk/serve.go",
	"python":     "third_party/toolhost_sdk-0.1.0-py3-none-any.whl",
	"typescript": "third_party/toolhost-sdk-0.1.0.tgz",
}

// contents checks each file and returns the concatenated text of all files.
func contents(t *testing.T, dir string, files []string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		if !strings.HasPrefix(name, "third_party/") {
			check(t, name, text)
		}
	}
	return all.String()
}

func check(t *testing.T, name string, text []byte) {
	t.Helper()
	if strings.Contains(string(text), "<%") || strings.Contains(string(text), "<no value>") || strings.HasSuffix(name, ".tmpl") {
		t.Errorf("%s is a template still:\n%s", name, text)
	}
	switch filepath.Ext(name) {
	case ".go":
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
			t.Error(err)
		}
	case ".yml":
		checkJob(t, name, text)
	case ".yaml":
		m, err := manifest.Parse(name, text)
		if err != nil || m.Name != "my-Weather" {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

// checkJob checks that the CI job runs the targets of the Makefile that need no toolhost.
func checkJob(t *testing.T, name string, text []byte) {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Uses, Run string } }
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var runs []string
	for _, step := range workflow.Jobs["test"].Steps {
		if step.Run != "" {
			runs = append(runs, step.Run)
		}
	}
	if want := []string{"make build", "make lint", "make test"}; !slices.Equal(runs, want) {
		t.Errorf("%s runs %q, want %q", name, runs, want)
	}
}

// The bundle of a TypeScript plugin has a source map, and node reads it, so that a stack trace
// names the author's lines.
func TestBundlesHaveSourceMaps(t *testing.T) {
	dir := t.TempDir()
	if _, err := scaffold.Write(scaffold.Config{Name: "weather", Language: "typescript", Dir: dir, Sources: toolhost.Sources()}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"package.json": " --sourcemap ", "src/plugin.yaml": "command: [node, --enable-source-maps, main.cjs]\n"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q, %v", name, want, err)
		}
	}
}

// A repository that fetches the SDK names the SDK's version in the form of the language's package
// manager. It contains no SDK, and no go.sum, because only the registry has the checksums.
func TestOnline(t *testing.T) {
	for language, want := range map[string]string{
		"go":         "require github.com/toolhost/toolhost v0.1.0\n",
		"python":     "\ntoolhost-sdk==0.1.0\n",
		"typescript": `"@toolhost/sdk": "0.1.0"`,
	} {
		dir := t.TempDir()
		files, err := scaffold.Write(scaffold.Config{Name: "my-Weather", Language: language, Dir: dir, Sources: toolhost.Sources(), Online: true})
		if err != nil {
			t.Fatal(err)
		}
		if all := contents(t, dir, files); !strings.Contains(all, want) || strings.Contains(all, "third_party/toolhost") || strings.Contains(all, "replace ") {
			t.Errorf("%s: %q is in none of the files, or the repository refers to a copy of the SDK", language, want)
		}
		if slices.ContainsFunc(files, func(name string) bool { return name == "go.sum" || strings.HasPrefix(name, "third_party") }) {
			t.Errorf("%s: the repository contains the SDK or its checksums: %q", language, files)
		}
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "note")
	if err := os.WriteFile(note, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := scaffold.Config{Name: "weather", Language: "go", Dir: dir, Sources: toolhost.Sources()}
	if _, err := scaffold.Write(c); !errors.Is(err, scaffold.ErrNotEmpty) || !strings.Contains(err.Error(), "note") {
		t.Errorf("a folder that holds a file: %v", err)
	}
	c.Dir = note
	if _, err := scaffold.Write(c); err == nil {
		t.Error("a file was taken for a folder")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v now, %v", entries, err)
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"weather": "", "A-b_9": "", "a b": "ill-formed", "9": "ill-formed", "": "empty",
		strings.Repeat("a", 52): "", strings.Repeat("a", 53): "at most 52",
	} {
		err := scaffold.Config{Name: name}.CheckName()
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	// No tool has a name that begins with that of a caller.
	if err := (scaffold.Config{Name: strings.Repeat("a", 64), Caller: true}).CheckName(); err != nil {
		t.Error(err)
	}
}

// A repository that links a checkout refers to it by a relative path, also if a folder on the way
// is a symbolic link. It does not contain the SDK.
func TestLinked(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	checkout := filepath.Join(home, "src", "toolhost")
	for name, text := range map[string]string{
		"go.mod": "module github.com/toolhost/toolhost\n", "sdk/python/pyproject.toml": "", "sdk/typescript/package.json": "",
	} {
		path := filepath.Join(checkout, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(home, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "a", "b"), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{
		"go":         "replace github.com/toolhost/toolhost => ../../../src/toolhost\n",
		"python":     "\n../../../src/toolhost/sdk/python\n",
		"typescript": `"@toolhost/sdk": "file:../../../src/toolhost/sdk/typescript"`,
	} {
		dir := filepath.Join(home, "link", language)
		c := scaffold.Config{Name: "my-Weather", Language: language, Dir: dir, Sources: toolhost.Sources(), Checkout: checkout}
		files, err := scaffold.Write(c)
		if err != nil {
			t.Fatal(err)
		}
		if all := contents(t, dir, files); !strings.Contains(all, want) || strings.Contains(all, home) {
			t.Errorf("%s: %q stands in none of the files, or an absolute path does", language, want)
		}
		if slices.ContainsFunc(files, func(name string) bool { return strings.HasPrefix(name, "third_party") }) {
			t.Errorf("%s: a repository that links a checkout carries the SDK: %q", language, files)
		}
		for _, none := range []string{filepath.Join(home, "none"), home} {
			c.Checkout, c.Dir = none, filepath.Join(home, "new")
			if _, err := scaffold.Write(c); !errors.Is(err, scaffold.ErrNoCheckout) {
				t.Errorf("%s: %s is taken for a checkout: %v", language, none, err)
			}
		}
	}
}
