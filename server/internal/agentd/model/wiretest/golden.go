package wiretest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Golden runs a test for every txtar archive in a folder. The test receives the archive's files by
// name and returns its result, which must equal the file want. The flag -update writes the result
// to the file want.
func Golden(t *testing.T, folder string, run func(t *testing.T, files map[string]string) string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no archives in %s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := make(map[string]string)
			kept := &txtar.Archive{Comment: archive.Comment}
			for _, file := range archive.Files {
				files[file.Name] = string(file.Data)
				if file.Name != "want" {
					kept.Files = append(kept.Files, file)
				}
			}
			got := run(t, files)
			if updating() {
				kept.Files = append(kept.Files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(kept), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(files["want"], got); diff != "" {
				t.Errorf("it differs (-want +got); -update accepts it:\n%s", diff)
			}
		})
	}
}

// Sources checks that the comment of every archive in a folder names the source of its wire format.
func Sources(t *testing.T, folder string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) < 30 {
		t.Fatalf("there are %d archives in %s: %v", len(paths), folder, err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(archive.Comment), "\nSource: ") {
			t.Errorf("%s names no source", path)
		}
	}
}

// updating returns the flag -update. A test package that uses Golden defines it.
func updating() bool {
	set := flag.Lookup("update")
	return set != nil && set.Value.String() == "true"
}

// GoldenFile compares text with a file. The flag -update writes the text to the file.
func GoldenFile(t *testing.T, path, got string) {
	t.Helper()
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("it differs from %s (-want +got); -update accepts it:\n%s", path, diff)
	}
}
