package agentconfig_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/agent/agentconfig"
	"github.com/toolhost/toolhost/internal/yamldoc"
)

// Parse does not panic on any text. It refuses a text with one line for each error. A Config that
// it accepts has a YAML form that parses to the same Config, and configures an agent.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("there are no files", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	c := agentconfig.Default()
	f.Add(string(c.YAML()))
	f.Add(everyKey)
	f.Add("system_tools: []\nmodels: {\"a\\x85\": {provider: scripted, model: 'b''c'}}\nkinds: {null: {tags: [~]}, \"\": {}}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := agentconfig.Parse("/f.yaml", []byte(text))
		if err != nil {
			found, ok := errors.AsType[yamldoc.Errors](err)
			if !ok || len(found) == 0 || strings.Count(err.Error(), "\n") != len(found)-1 {
				t.Fatalf("the error is %#v: %v", err, err)
			}
			return
		}
		again, err := agentconfig.Parse("/f.yaml", c.YAML())
		if err != nil {
			t.Fatalf("what is shown cannot be loaded: %v\n%s", err, c.YAML())
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("what is shown is something else (-was +is):\n%s\n%s", diff, c.YAML())
		}
		if _, err := c.Choose(""); err != nil {
			t.Fatalf("the model that is accepted cannot be chosen: %v", err)
		}
		if _, known := c.ToolChoices()[c.Kind]; c.Kind != "" && !known {
			t.Fatalf("the kind %q that is accepted is none", c.Kind)
		}
	})
}
