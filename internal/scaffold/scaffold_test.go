package scaffold_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/internal/scaffold"
)

// A written repository contains the plugin's name and valid files of its language. It contains no
// placeholder and no path of this machine. The tests in internal/e2e/docs build and test such
// repositories.
func TestWrite(t *testing.T) {
	for _, language := range scaffold.Languages() {
		t.Run(language, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "deep", "down")
			files, err := scaffold.Write(scaffold.Config{Name: "my-Weather", Language: language, Dir: dir, Sources: toolhost.Sources()})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(files) {
				t.Errorf("the files are in no order: %q", files)
			}
			for _, want := range []string{"README.md", "Makefile", ".gitignore", carried[language]} {
				if !slices.Contains(files, want) {
					t.Errorf("there is no %s among %v", want, files)
				}
			}
			all := contents(t, dir, files)
			for _, want := range []string{`"my-Weather"`, "my_weather_count_words"} {
				if !strings.Contains(all, want) {
					t.Errorf("%q stands in none of the files", want)
				}
			}
			for _, outside := range []string{dir, filepath.Dir(dir)} {
				if strings.Contains(all, outside) {
					t.Errorf("a file names %s", outside)
				}
			}
		})
	}
}

// carried contains, for each language, one file of the SDK that a repository contains.
var carried = map[string]string{
	"go":         "third_party/toolhost-sdk/sdk/serve.go",
	"python":     "third_party/toolhost_sdk-0.1.0-py3-none-any.whl",
	"typescript": "third_party/toolhost-sdk/src/index.ts",
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
	case ".yaml":
		m, err := manifest.Parse(name, text)
		if err != nil || m.Name != "my-Weather" {
			t.Errorf("%+v, %v", m, err)
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
		err := scaffold.CheckName(name)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
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

// The Go module in a repository contains every package that it imports, or its go.mod requires the
// module. So a new import of the SDK cannot break new repositories.
func TestCarriedModuleIsWhole(t *testing.T) {
	dir := t.TempDir()
	files, err := scaffold.Write(scaffold.Config{Name: "weather", Language: "go", Dir: dir, Sources: toolhost.Sources()})
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/toolhost/toolhost"
	own := filepath.Join(dir, "third_party", "toolhost-sdk")
	required, err := os.ReadFile(filepath.Join(own, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if filepath.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if inside, ok := strings.CutPrefix(imported, module+"/"); ok {
				if _, err := os.Stat(filepath.Join(own, inside)); err != nil {
					t.Errorf("%s imports %s, which is not carried: name it in sources.go", name, imported)
				}
			} else if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") && !requires(string(required), imported) {
				t.Errorf("%s imports %s, whose module the carried go.mod does not name: add it to goModules", name, imported)
			}
		}
	}
}

// requires reports whether the go.mod requires the module of the imported package.
func requires(mod, imported string) bool {
	for module := imported; module != "."; module = path.Dir(module) {
		if strings.Contains(mod, "\t"+module+" v") {
			return true
		}
	}
	return false
}

// The wheel is reproducible, contains the whole package, and has the metadata of pyproject.toml.
// pip checks the rest when the tests in internal/e2e/docs install it.
func TestWheel(t *testing.T) {
	var wheels [2][]byte
	for i := range wheels {
		dir := t.TempDir()
		if _, err := scaffold.Write(scaffold.Config{Name: "weather", Language: "python", Dir: dir, Sources: toolhost.Sources()}); err != nil {
			t.Fatal(err)
		}
		var err error
		if wheels[i], err = os.ReadFile(filepath.Join(dir, carried["python"])); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(wheels[0], wheels[1]) {
		t.Error("two wheels of the same sources differ")
	}
	archive, err := zip.NewReader(bytes.NewReader(wheels[0]), int64(len(wheels[0])))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"toolhost/__init__.py", "toolhost/_json.py", "toolhost/py.typed", "toolhost/_proto/toolhost/tool/v1/spec_pb2.pyi"} {
		if _, err := fs.Stat(archive, want); err != nil {
			t.Error(err)
		}
	}
	metadata, err := fs.ReadFile(archive, "toolhost_sdk-0.1.0.dist-info/METADATA")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Name: toolhost-sdk\n", "Version: 0.1.0\n", "Requires-Python: >=3", "Requires-Dist: grpcio>=", "Requires-Dist: pydantic>="} {
		if !strings.Contains(string(metadata), want) {
			t.Errorf("the wheel's metadata lacks %q", want)
		}
	}
}
