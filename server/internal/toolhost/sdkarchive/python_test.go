//go:build more

package sdkarchive_test

import (
	"archive/zip"
	"bytes"
	"maps"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// The source distribution needs nothing but the declared build backend. The wheel that hatchling
// builds from it has the files and the metadata of the published wheel. Its script generates the
// same messages as those that it contains.
func TestSdistIsWhole(t *testing.T) {
	python := python(t)
	folder := unpackedSdist(t)

	run(t, folder, python, "-m", "build", "--no-isolation", "--wheel", "--outdir", "dist")
	wheels, err := filepath.Glob(filepath.Join(folder, "dist", "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("the source distribution builds %q, %v", wheels, err)
	}
	data, err := os.ReadFile(wheels[0])
	if err != nil {
		t.Fatal(err)
	}
	published, err := sdkarchive.Wheel(toolhost.Sources())
	if err != nil {
		t.Fatal(err)
	}
	built, want := unzip(t, data), unzip(t, published.Data)
	if filepath.Base(wheels[0]) != published.Name || !slices.Equal(slices.Sorted(maps.Keys(built)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("the source distribution builds %s with\n%q\nand the published wheel is %s with\n%q",
			wheels[0], slices.Sorted(maps.Keys(built)), published.Name, slices.Sorted(maps.Keys(want)))
	}
	for name, content := range want {
		switch base := filepath.Base(name); {
		case base == "METADATA":
			compareMetadata(t, built[name], content)
		case base == "WHEEL" || base == "RECORD": // they name the program that made the wheel
		case !bytes.Equal(built[name], content):
			t.Errorf("%s differs from the one in the published wheel", name)
		}
	}
}

// The contracts in the source distribution generate the messages in the source distribution.
func TestSdistGeneratesItsMessages(t *testing.T) {
	python := python(t)
	folder := unpackedSdist(t)
	generated := filepath.Join(folder, "src/toolhost/_proto/toolhost/v1/tool_service_pb2.pyi")
	want, err := os.ReadFile(generated)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(generated); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), python, filepath.Join(folder, "scripts/generate.py"), "--check").CombinedOutput(); err == nil {
		t.Errorf("a missing message is not noticed: %s", out)
	}
	run(t, folder, python, "scripts/generate.py")
	if got, err := os.ReadFile(generated); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the source distribution generates other messages: %v", err)
	}
	run(t, folder, python, "scripts/generate.py", "--check")
}

// python prepares the environment of the Python SDK, and returns an interpreter with everything
// that the SDK's checks need.
func python(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "../../../../sdk/python/scripts/check.sh", "setup")
	cmd.Env = append(os.Environ(), "CI=true") // a machine without Python fails
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("setting up: %v\n%s", err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// unpackedSdist makes the source distribution of the checkout and returns its folder.
func unpackedSdist(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "proto", "sdk/python")
	list.Dir = "../../../.."
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("../../../..", name)) }
	sdist, err := sdkarchive.Sdist(toolhost.Sources(), read, strings.Split(strings.TrimRight(string(names), "\x00"), "\x00"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range untar(t, sdist.Data) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, strings.TrimSuffix(sdist.Name, ".tar.gz"))
}

// run runs a command in a folder.
func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	// The environment contains the build backend, so pip and build need no package index.
	cmd.Env = append(os.Environ(), "PIP_NO_INDEX=1", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}

// unzip returns the files of an archive by name.
func unzip(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var content bytes.Buffer
		if _, err := content.ReadFrom(in); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = content.Bytes()
	}
	return files
}

// compareMetadata compares two core metadata files. The order of their fields has no meaning, nor
// has the order of the bounds of a requirement. hatchling may write a later version of the format.
func compareMetadata(t *testing.T, built, want []byte) {
	t.Helper()
	var fields [2][]string
	for i, text := range [][]byte{built, want} {
		message, err := mail.ReadMessage(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range message.Header {
			for _, value := range values {
				if name == "Requires-Dist" {
					requirement, marker, _ := strings.Cut(value, ";")
					bounds := strings.Split(strings.NewReplacer(">", ",>", "<", ",<").Replace(requirement), ",")
					slices.Sort(bounds)
					value = strings.Join(slices.DeleteFunc(bounds, func(s string) bool { return s == "" }), " ") + ";" + marker
				}
				if name != "Metadata-Version" {
					fields[i] = append(fields[i], name+": "+value)
				}
			}
		}
		slices.Sort(fields[i])
		var body bytes.Buffer
		if _, err := body.ReadFrom(message.Body); err != nil {
			t.Fatal(err)
		}
		fields[i] = append(fields[i], "description: "+body.String())
	}
	if !slices.Equal(fields[0], fields[1]) {
		t.Errorf("hatchling writes the metadata\n%s\nand the published wheel has\n%s", strings.Join(fields[0], "\n"), strings.Join(fields[1], "\n"))
	}
}
