//go:build !race

package sdkarchive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// Each package that the copy of the Go module imports is in the copy, or in a module that its
// go.mod requires. So a new import of the SDK cannot break new repositories.
func TestGoModuleIsWhole(t *testing.T) {
	for use, folders := range map[sdkarchive.GoUse][]string{
		sdkarchive.ForPlugins:                         {"sdk"},
		sdkarchive.ForCallers:                         {"client"},
		sdkarchive.ForPlugins | sdkarchive.ForCallers: {"client", "sdk"},
	} {
		isWhole(t, use, folders)
	}
}

func isWhole(t *testing.T, use sdkarchive.GoUse, folders []string) {
	t.Helper()
	module, err := sdkarchive.GoModule(toolhost.Sources(), use)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	var mod string
	for _, f := range module.Files {
		packages[path.Dir(f.Name)] = true
		if f.Name == "go.mod" {
			mod = string(f.Data)
		}
	}
	if packages["sdk"] != slices.Contains(folders, "sdk") || packages["client"] != slices.Contains(folders, "client") {
		t.Fatalf("the copy has the packages %v, want %q", packages, folders)
	}
	for _, f := range module.Files {
		if path.Ext(f.Name) != ".go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if inside, ok := strings.CutPrefix(imported, sdkarchive.ModulePath+"/"); ok {
				if !packages[inside] {
					t.Errorf("%s imports %s, which is not in the copy: name it in sources.go", f.Name, imported)
				}
			} else if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") && !requires(mod, imported) {
				t.Errorf("%s imports %s, whose module the go.mod of the copy does not name: add it to goModules", f.Name, imported)
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
// pip checks the rest when the tests in server/internal/e2e/docs install it.
func TestWheel(t *testing.T) {
	wheel := same(t, sdkarchive.Wheel)
	archive, err := zip.NewReader(bytes.NewReader(wheel.Data), int64(len(wheel.Data)))
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
	for _, want := range []string{"Name: toolhost-sdk\n", "Version: 0.1.0\n", "Requires-Python: >=3", "Requires-Dist: grpcio>=", "Requires-Dist: pydantic>=",
		"Provides-Extra: otel\n", "Requires-Dist: opentelemetry-api>=1.34.0,<2; extra == 'otel'\n"} {
		if !strings.Contains(string(metadata), want) {
			t.Errorf("the wheel's metadata lacks %q", want)
		}
	}
}

// An extra that the metadata would lack, or contain with other dependencies, is an error.
func TestExtrasInOtherForms(t *testing.T) {
	const file = "sdk/python/pyproject.toml"
	const otel = `otel = ["opentelemetry-api>=1.34.0,<2"]`
	for _, table := range []string{
		`otel = ["opentelemetry-api>=1.34.0,<2", 'x']`, `otel = []`, `otel = "opentelemetry-api"`, `"otel" = ["opentelemetry-api"]`,
		otel + "\nOther = [\"x\"]", otel + " # why", `otel = ["opentelemetry-api; python_version < '3.12'"]`,
	} {
		sources := copied(t)
		text := strings.Replace(string(sources[file].Data), otel, table, 1)
		sources[file] = &fstest.MapFile{Data: []byte(text)}
		if !strings.Contains(text, table) {
			t.Fatalf("%s has no line %s", file, otel)
		}
		if _, err := sdkarchive.Wheel(sources); err == nil || !strings.Contains(err.Error(), "extra") {
			t.Errorf("with the extras\n%s\nthe error is %v", table, err)
		}
	}
}

// The tarball is reproducible and contains every compiled module of the checkout. Its manifest runs
// nothing when npm installs the package.
func TestNPM(t *testing.T) {
	tarball := same(t, sdkarchive.NPM)
	if tarball.Name != "toolhost-sdk-0.1.0.tgz" {
		t.Errorf("the tarball is %s", tarball.Name)
	}
	files := untar(t, tarball.Data)
	const sdk = "../../../../sdk/typescript/"
	err := filepath.WalkDir(sdk+"src", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".ts" {
			return err
		}
		module := "package/dist/" + strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(name), sdk+"src/"), ".ts")
		for _, suffix := range []string{".js", ".d.ts"} {
			if _, ok := files[module+suffix]; !ok {
				t.Errorf("the tarball lacks %s%s: sources.go has no pattern for it, or sdk/typescript/dist is old", module, suffix)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(sdk + "package.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(files["package/package.json"], manifest) {
		t.Error("the manifest in the tarball differs from that in the checkout")
	}
	for _, script := range []string{"preinstall", "install", "postinstall", "prepare"} {
		if strings.Contains(string(manifest), `"`+script+`":`) {
			t.Errorf("the package has the script %s", script)
		}
	}
}

// The source distribution contains, in one folder, the sources of the wheel and of the generated
// messages. It contains no other files of the checkout.
func TestSdist(t *testing.T) {
	checkout := []string{"go.mod", "proto/toolhost/v1/tool_service.proto", "proto/baseline.binpb", "sdk/python/pyproject.toml", "sdk/python/scripts/generate.py", "sdk/python/scripts/check.sh", "sdk/typescript/package.json"}
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("../../../..", name)) }
	sdist := same(t, func(sources fs.FS) (sdkarchive.File, error) { return sdkarchive.Sdist(sources, read, checkout) })
	if sdist.Name != "toolhost_sdk-0.1.0.tar.gz" {
		t.Errorf("the source distribution is %s", sdist.Name)
	}
	files := slices.Sorted(maps.Keys(untar(t, sdist.Data)))
	want := []string{"PKG-INFO", "proto/toolhost/v1/tool_service.proto", "pyproject.toml", "scripts/check.sh", "scripts/generate.py"}
	for i := range want {
		want[i] = "toolhost_sdk-0.1.0/" + want[i]
	}
	if !slices.Equal(files, want) {
		t.Errorf("the source distribution contains %q", files)
	}
}

// A changed file of one SDK changes the packages of that SDK alone.
func TestOneChange(t *testing.T) {
	archives := func(sources fs.FS) map[string]string {
		wheel, err := sdkarchive.Wheel(sources)
		if err != nil {
			t.Fatal(err)
		}
		npm, err := sdkarchive.NPM(sources)
		if err != nil {
			t.Fatal(err)
		}
		module, err := sdkarchive.GoModule(sources, sdkarchive.ForPlugins)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"wheel": string(wheel.Data), "npm": string(npm.Data), "go": fmt.Sprint(module.Files)}
	}
	sources := copied(t)
	before := archives(sources)
	for file, want := range map[string]string{
		"sdk/python/src/toolhost/status.py": "wheel", "sdk/typescript/dist/status.js": "npm", "sdk/serve.go": "go", "sdk/serve_test.go": "",
	} {
		changed := maps.Clone(sources)
		changed[file] = &fstest.MapFile{Data: []byte("package sdk\n")}
		for name, after := range archives(changed) {
			if (after != before[name]) != (name == want) {
				t.Errorf("a change of %s: the archive %q is another one: %t", file, name, after != before[name])
			}
		}
	}
}

// copied returns a copy of the sources that a test may change.
func copied(t *testing.T) fstest.MapFS {
	t.Helper()
	sources := fstest.MapFS{}
	if err := fs.WalkDir(toolhost.Sources(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(toolhost.Sources(), name)
		sources[name] = &fstest.MapFile{Data: data}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return sources
}

// same makes an archive twice and fails the test if the bytes differ.
func same(t *testing.T, archive func(fs.FS) (sdkarchive.File, error)) sdkarchive.File {
	t.Helper()
	first, err := archive(toolhost.Sources())
	if err != nil {
		t.Fatal(err)
	}
	second, err := archive(toolhost.Sources())
	if err != nil || first.Name != second.Name || !slices.Equal(first.Data, second.Data) {
		t.Errorf("two archives of the same sources differ, or %v", err)
	}
	return first
}

// untar returns the files of a compressed tar archive by name.
func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	uncompressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(uncompressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}
