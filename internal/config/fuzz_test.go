package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/config"
)

// Parse does not panic on any text. It refuses a text with one line for each error. A Config that
// it accepts has a YAML form that parses to the same Config.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	c := config.Default()
	f.Add(string(c.YAML()))
	f.Add(everyKey)
	f.Add("plugins: [\"a\\x85\\u2028\\U0001F600\", 'b''c', |\n d]\nplugin: {null: {env: {\"~\": \"\\t\"}}}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse("/f.yaml", []byte(text))
		if err != nil {
			found, ok := errors.AsType[config.Errors](err)
			if !ok || len(found) == 0 || strings.Count(err.Error(), "\n") != len(found)-1 {
				t.Fatalf("the error is %#v: %v", err, err)
			}
			return
		}
		again, err := config.Parse("/f.yaml", c.YAML())
		if err != nil {
			t.Fatalf("what is shown cannot be loaded: %v\n%s", err, c.YAML())
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("what is shown is something else (-was +is):\n%s\n%s", diff, c.YAML())
		}
	})
}
