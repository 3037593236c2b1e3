package scaffold_test

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/manifest"
	"github.com/toolhost/toolhost/internal/scaffold"
)

// TestWrite: what is written names the plugin, holds no trace of a template, and is what its language wants. That it
// builds and passes its tests is shown by internal/e2e/authors.
func TestWrite(t *testing.T) {
	for _, language := range scaffold.Languages() {
		t.Run(language, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "deep", "down")
			files, err := scaffold.Write(scaffold.Config{Name: "my-Weather", Language: language, Dir: dir, SDK: "/opt/the sdk"})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(files) {
				t.Errorf("the files are in no order: %q", files)
			}
			for _, want := range []string{"README.md", "Makefile", ".gitignore"} {
				if !slices.Contains(files, want) {
					t.Errorf("there is no %s among %v", want, files)
				}
			}
			var all strings.Builder
			for _, name := range files {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				all.Write(text)
				check(t, name, text)
			}
			for _, want := range []string{`"my-Weather"`, "my_weather_count_words", "/opt/the sdk"} {
				if !strings.Contains(all.String(), want) {
					t.Errorf("%q stands in none of the files", want)
				}
			}
		})
	}
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
	c := scaffold.Config{Name: "weather", Language: "go", Dir: dir, SDK: "/sdk"}
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

func TestFindSDK(t *testing.T) {
	checkout, elsewhere := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                      "module github.com/toolhost/toolhost\n",
		"sdk/python/pyproject.toml":   "",
		"sdk/typescript/package.json": "",
		"a.whl":                       "", "a.tgz": "",
	} {
		path := filepath.Join(checkout, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(checkout, "bin", "toolhost")
	for _, tc := range []struct{ language, path, program, want, problem string }{
		{"go", checkout, "", checkout, ""},
		{"go", "", program, checkout, ""},
		{"go", "", "/usr/bin/toolhost", "", "not published"},
		{"go", elsewhere, program, "", "no checkout"},
		{"go", filepath.Join(checkout, "a.whl"), "", "", "no checkout"},
		{"python", checkout, "", "toolhost @ file://" + checkout + "/sdk/python", ""},
		{"python", filepath.Join(checkout, "a.whl"), "", "toolhost @ file://" + checkout + "/a.whl", ""},
		{"python", filepath.Join(checkout, "a.tgz"), "", "", ".whl"},
		{"typescript", checkout, "", "", "is not built; run `npm ci"},
		{"typescript", filepath.Join(checkout, "a.tgz"), "", "file:" + checkout + "/a.tgz", ""},
		{"rust", checkout, "", "", "use go, python, typescript"},
	} {
		got, err := scaffold.FindSDK(tc.language, tc.path, tc.program)
		if got != tc.want || (tc.problem == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%+v: %q, %v", tc, got, err)
		}
	}
	if _, err := scaffold.FindSDK("go", filepath.Join(elsewhere, "none"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that does not exist: %v", err)
	}
}
