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

var (
	runbookLink = regexp.MustCompile(`runbook_url: https://github.com/toolhost/toolhost/blob/main/(\S+)#(\S+)`)
	heading     = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// Each alert rule links to a paragraph of the runbook that exists.
func TestAlertsLinkToTheRunbook(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "deploy/prometheus/*.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, file := range files {
		rules, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range runbookLink.FindAllStringSubmatch(string(rules), -1) {
			links++
			page, err := os.ReadFile(filepath.Join(root(t), link[1]))
			if err != nil {
				t.Error(err)
				continue
			}
			found := false
			for _, h := range heading.FindAllStringSubmatch(string(page), -1) {
				found = found || anchor(h[1]) == link[2]
			}
			if !found {
				t.Errorf("%s has no paragraph %s, to which %s links", link[1], link[2], file)
			}
		}
	}
	if links < 12 {
		t.Errorf("the rules have %d links", links)
	}
}

// anchor returns the anchor that GitHub gives a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
