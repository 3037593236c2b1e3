//go:build more

package console_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/google/go-cmp/cmp"
)

// Nobody decides by following links, as a scanner of mail does, and no page makes the browser
// complain.
func TestEveryLink(t *testing.T) {
	s := newSite(t, reviewed, payment(3, "ACME Ltd", "https://evil.example/"))
	name := s.run(0, "go") + "/d1"
	b := s.logIn(t, "/")
	followed := map[string]bool{}
	for paths := []string{"/login", "/"}; len(paths) > 0; paths = paths[1:] {
		if path := paths[0]; !followed[path] {
			followed[path] = true
			b.open(path)
			paths = append(paths, eval[[]string](b, `() => [...document.querySelectorAll("a")].map(e => e.getAttribute("href"))`)...)
		}
	}
	if !followed["/decisions/"+name] || !followed["/runs/run-0"] {
		t.Errorf("the links are %v", followed)
	}
	if got := s.verdict(name); got != "" {
		t.Errorf("following links, somebody decided: %s", got)
	}
}

// outline returns what assistive technology gets of a page: a line for each role and name.
func outline(b *tab) string {
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	tree := command(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	for _, n := range tree {
		nodes[n.NodeID] = n
	}
	text := func(v *accessibility.Value) (s string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &s) // what is no text has no name
		}
		return s
	}
	var out strings.Builder
	var write func(n *accessibility.Node, indent string)
	write = func(n *accessibility.Node, indent string) {
		role := text(n.Role)
		if role == "InlineTextBox" { // how a text is broken into lines
			return
		}
		if !n.Ignored {
			fmt.Fprintf(&out, "%s%s %q\n", indent, role, text(n.Name))
			indent += "  "
		}
		for _, id := range n.ChildIDs {
			if child := nodes[id]; child != nil {
				write(child, indent)
			}
		}
	}
	write(tree[0], "")
	return out.String()
}

// A person who hears the page gets the same as one who sees it.
func TestAccessibilityTree(t *testing.T) {
	s := newSite(t, reviewed, payment(120, "b\u0430nk", "invoice 17"))
	b := s.logIn(t, "/decisions/"+s.run(0, "go")+"/d1")
	b.awaits("button[value=approve]")
	command(b, accessibility.Enable, cdp.Empty{})
	got := strings.ReplaceAll(outline(b), user, "USER")
	got = regexp.MustCompile(`a No in \w+`).ReplaceAllString(got, "a No in TIME")
	path := filepath.Join("testdata", "decision.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the tree differs; -update writes it (-want +got):\n%s", diff)
	}
}
