package yamldoctest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// AddSeeds adds the files of testdata/errors to the seeds of a fuzz test.
func AddSeeds(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("there are no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
}

// CheckParse checks what parse does with a text: it refuses the text with one line for each error,
// or it accepts a configuration whose YAML parses to the same configuration. accepted is false if
// parse refuses the text.
func CheckParse[C any](t *testing.T, text string, parse func(path string, text []byte) (C, error), yaml func(c *C) []byte) (c C, accepted bool) {
	t.Helper()
	c, err := parse("/f.yaml", []byte(text))
	if err != nil {
		found, ok := errors.AsType[yamldoc.Errors](err)
		if !ok || len(found) == 0 || strings.Count(err.Error(), "\n") != len(found)-1 {
			t.Fatalf("the error is %#v: %v", err, err)
		}
		return c, false
	}
	again, err := parse("/f.yaml", yaml(&c))
	if err != nil {
		t.Fatalf("the YAML of an accepted configuration is refused: %v\n%s", err, yaml(&c))
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Fatalf("the YAML parses to another configuration (-want +got):\n%s\n%s", diff, yaml(&c))
	}
	return c, true
}

// CheckPage checks that parse accepts each block of YAML in a page of the documentation.
func CheckPage[C any](t *testing.T, page string, parse func(path string, text []byte) (C, error)) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	if len(blocks) < 2 {
		t.Fatalf("the page has %d files", len(blocks))
	}
	for _, block := range blocks {
		file, _, _ := strings.Cut(block, "```")
		if _, err := parse(page, []byte(file)); err != nil {
			t.Errorf("%v in\n%s", err, file)
		}
	}
}
