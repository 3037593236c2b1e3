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
const shape = `() => [...document.querySelectorAll("*")].filter(e => !e.matches("span.line, span.note, .diff > span"))
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
	if (bar && !bar.matches(".after") && Math.abs(bar.getBoundingClientRect().bottom - innerHeight) > .5) found.push("the bar has moved");
	const reject = document.querySelector("button[value=reject]");
	reject?.scrollIntoView();
	const box = reject?.getBoundingClientRect();
	if (box && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) !== reject) found.push("something covers Reject");
	return found;
}`

// perTool is how many lines of the file consoleplugin puts into a display name.
const perTool = 8

// readPayloads returns the texts of consoleplugin. The first perTool of them are harmless.
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
// Texts share a page, because a text that makes its neighbors harmless has changed the page.
func TestHostileTextsInABrowser(t *testing.T) {
	texts := readPayloads(t)
	if len(texts) < 100+perTool || len(texts)%perTool != 0 {
		t.Fatalf("there are %d texts", len(texts))
	}
	var rules []rule
	var tasks []task
	for some := range slices.Chunk(texts, perTool) {
		shows := fmt.Sprintf("show_%d", len(tasks))
		rules = append(rules, rule{Name: shows, When: fmt.Sprintf("tool.name == %q", shows), Then: "require_approval", Reason: strings.Join(some, " ")})
		arguments := map[string]any{"command": some[0], "texts": some}
		for _, text := range some {
			arguments[text] = []string{text}
		}
		tasks = append(tasks, task{{shows, arguments}, {"ask_user", map[string]any{"question": strings.Join(some, "\n"), "options": some}}})
	}
	s := newSite(t, rules, tasks...)
	with := s.logIn(t, "/")
	without := s.logIn(t, "/")
	command(without, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	plain := map[string][]string{}
	looks := func(path, page string) {
		for _, b := range []*tab{with, without} {
			b.open(path)
			if got := eval[[]string](b, shape); plain[page] == nil {
				plain[page] = got
			} else if !slices.Equal(got, plain[page]) {
				t.Errorf("%s has the form\n%q\nwant\n%q", path, got, plain[page])
			}
			for _, what := range append(b.misdeeds(), eval[[]string](b, astray)...) {
				t.Errorf("%s: %s", path, what)
			}
		}
	}
	for i := range tasks {
		id := s.run(i, strings.Join(texts[i*perTool:][:perTool], " "))
		looks("/decisions/"+id+"/d1", "a call")
		looks("/decisions/"+id+"/d2", "a question")
		looks("/runs/"+id, "a run")
	}
	looks("/", "the inbox")
}
