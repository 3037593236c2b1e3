//go:build more

package console_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
)

// shape returns the elements of a page with the names of their attributes. How many lines a text
// has, and which notes it has, is up to the text.
const shape = `() => [...document.querySelectorAll("*")].filter(e => !e.matches("span.line, span.note"))
	.map(e => e.tagName + " " + e.getAttributeNames().join(" "))`

// astray returns what is not where it belongs: outside of the page, or where something else covers
// it.
const astray = `() => {
	const found = [];
	for (const e of document.querySelectorAll("body *")) {
		if (e.parentElement.closest("pre") || !e.checkVisibility()) continue; // a diff scrolls in its place
		const box = e.getBoundingClientRect();
		if (box.left < 0 || box.right > innerWidth + .5 || box.top + scrollY < 0) found.push("a " + e.tagName + " is outside of the page");
	}
	const bar = document.querySelector(".bar");
	if (bar && Math.abs(bar.getBoundingClientRect().bottom - innerHeight) > .5) found.push("the bar has moved");
	const reject = document.querySelector("button[value=reject]"), box = reject?.getBoundingClientRect();
	if (box && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) !== reject) found.push("something covers Reject");
	return found;
}`

// readPayloads returns the display names of the tools of consoleplugin: "plain", and the hostile
// texts.
func readPayloads(t *testing.T) (texts []string) {
	t.Helper()
	data, err := os.ReadFile("../testplugins/consoleplugin/payloads.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `"`, `\"`) + `"`)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

// Whatever a model, a tool or a caller writes, and wherever a page shows it: the page has no other
// elements, executes nothing, requests nothing and keeps its form, with its policy and without it.
func TestHostileTextsInABrowser(t *testing.T) {
	texts := readPayloads(t)
	if len(texts) < 100 {
		t.Fatalf("there are only %d texts", len(texts))
	}
	var rules []rule
	var tasks []task
	for i, text := range texts {
		shows := "show_" + strconv.Itoa(i)
		rules = append(rules, rule{Name: "r" + strconv.Itoa(i), When: fmt.Sprintf("tool.name == %q", shows), Then: "require_approval", Reason: text})
		tasks = append(tasks, task{
			{shows, map[string]any{"text": text, "command": text, text: []string{text}}},
			{"ask_user", map[string]any{"question": text, "options": []string{text}}},
		})
	}
	s := newSite(t, rules, tasks...)
	with := s.logIn(t, "/")
	without := s.logIn(t, "/")
	command(without, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	plain := map[string][]string{}
	for i, text := range texts {
		id := s.run(i, text)
		for _, path := range []string{"/decisions/" + id + "/d1", "/decisions/" + id + "/d2", "/runs/" + id} {
			for _, b := range []*tab{with, without} {
				b.open(path)
				page := strings.Replace(path, id, "", 1)
				if got := eval[[]string](b, shape); i == 0 {
					plain[page] = got
				} else if !slices.Equal(got, plain[page]) {
					t.Errorf("%q changes the page %s: it has\n%q\nwant\n%q", text, page, got, plain[page])
				}
				for _, what := range append(b.misdeeds(), eval[[]string](b, astray)...) {
					t.Errorf("%q on %s: %s", text, page, what)
				}
			}
		}
	}
	for _, b := range []*tab{with, without} {
		b.open("/")
		for _, what := range append(b.misdeeds(), eval[[]string](b, astray)...) {
			t.Errorf("the inbox: %s", what)
		}
	}
}
