package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

var update = flag.Bool("update", false, "rewrite the golden files and the generated part of docs/configuration.md")

// In each file of testdata/errors, comments after the YAML list the errors of the file. Run the
// test with -update to rewrite them.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, _, _ := strings.Cut(string(want), "#!")
			_, err = config.Parse("toolhost.yaml", []byte(text))
			found, ok := errors.AsType[config.Errors](err)
			if !ok {
				t.Fatalf("got the error %v, want what is wrong with the file", err)
			}
			got := text
			for _, e := range found {
				if strings.Contains(e.Error(), "\n") {
					t.Errorf("%q is not one line", e)
				}
				got += "#! " + e.Error() + "\n"
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-golden +now):\n%s", diff)
			}
		})
	}
}

func TestTooLargeAFileIsRefused(t *testing.T) {
	_, err := config.Parse("big.yaml", []byte(strings.Repeat("#\n", 200_000)))
	if err == nil || err.Error() != "big.yaml: the file is larger than 262144 bytes" {
		t.Errorf("got %v", err)
	}
}

func TestOnlyUTF8(t *testing.T) {
	_, err := config.Parse("f.yaml", []byte("# \u00e4\nstate: \u00e4\xff"))
	if err == nil || err.Error() != "f.yaml:2:9: this is not UTF-8" {
		t.Errorf("got %v", err)
	}
}

func TestLineEndsOfWindows(t *testing.T) {
	if _, err := config.Parse("f.yaml", []byte("\ufefflog:\r\n  level: warn\r\nplugins:\r\n  - a\r\n")); err != nil {
		t.Error(err)
	}
	_, err := config.Parse("f.yaml", []byte("log:\r\n  level: loud\r\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "f.yaml:2:10: log.level: \"loud\" is not") {
		t.Errorf("got %v", err)
	}
}
