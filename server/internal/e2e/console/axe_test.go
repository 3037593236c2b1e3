//go:build more

package console_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// violations returns a line for each rule of axe-core that the page breaks, with its impact first.
// The policy of the pages does not concern what the protocol of the browser evaluates.
func (b *tab) violations(axe string) []string {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axe+`
axe.run({resultTypes: ["violations"]}).then(found => found.violations.map(v =>
	[v.impact, v.id, v.help, ...v.nodes.map(n => n.html + " " + n.failureSummary)].join(": ")))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// No page keeps somebody out: axe-core finds nothing serious, on a phone and on a desk, light and
// dark.
func TestAccessibility(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "../clients/install.sh", ".").CombinedOutput(); err != nil {
		t.Fatalf("installing axe-core: %v: %s", err, out)
	}
	axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, reviewed, payment(120, "b\u0430nk", "invoice 17"), task{{"shell", map[string]any{"command": strings.Repeat("make release\n", 40)}}},
		task{{"edit_file", map[string]any{"path": "deploy.yaml", "edits": []any{map[string]any{"old_text": "replicas: 2", "new_text": "replicas: 40"}}}}})
	for i := range s.tasks {
		s.run(i, "Pay what is due, and release the shop.")
	}
	login, _ := s.code()
	out, in := newTab(t, login), s.logIn(t, "/")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 1280} {
			for path, b := range map[string]*tab{
				"/login": out, "/": in, "/decisions/run-0/d1": in, "/decisions/run-1/d1": in, "/decisions/run-2/d1": in, "/runs/run-0": in, "/decisions/none/d1": in,
			} {
				command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
				b.do(chromedp.EmulateViewport(width, 600, chromedp.EmulateMobile))
				b.open(path)
				if strings.HasPrefix(path, "/decisions/run") {
					b.awaits("button[value=approve]")
				}
				for _, v := range b.violations(string(axe)) {
					if strings.HasPrefix(v, "serious") || strings.HasPrefix(v, "critical") {
						t.Errorf("%s, %s, %d wide: %s", path, scheme, width, v)
					} else {
						t.Logf("%s, %s, %d wide: %s", path, scheme, width, v)
					}
				}
				b.misdeeds() // axe-core writes into the page, and a page that is not there is one of them
			}
		}
	}
}
