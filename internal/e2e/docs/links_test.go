package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var linked = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

// The targets of all links in the pages exist.
func TestLinks(t *testing.T) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md", "sdk/*/README.md"} {
		pages, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pages {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range linked.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(link[1], ":") {
					continue
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), link[1])); err != nil {
					t.Errorf("%s links to %s, which is not there", path, link[1])
				}
			}
		}
	}
}
