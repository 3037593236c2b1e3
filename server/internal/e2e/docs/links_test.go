package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var linked = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)

// The targets of all links in the pages exist, also the paragraphs that the links name.
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
				target := path
				if link[1] != "" {
					target = filepath.Join(filepath.Dir(path), link[1])
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s links to %s, which is not there", path, link[1])
				} else if link[2] != "" && strings.HasSuffix(target, ".md") && !hasParagraph(t, target, link[2]) {
					t.Errorf("%s links to %s#%s, and there is no such heading", path, link[1], link[2])
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
			if !hasParagraph(t, filepath.Join(root(t), link[1]), link[2]) {
				t.Errorf("%s has no paragraph %s, to which %s links", link[1], link[2], file)
			}
		}
	}
	if links < 12 {
		t.Errorf("the rules have %d links", links)
	}
}

// hasParagraph reports whether a page has a heading with an anchor.
func hasParagraph(t *testing.T, path, name string) bool {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return false
	}
	return slices.ContainsFunc(heading.FindAllStringSubmatch(string(page), -1), func(h []string) bool { return anchor(h[1]) == name })
}

// anchor returns the anchor that GitHub gives a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
