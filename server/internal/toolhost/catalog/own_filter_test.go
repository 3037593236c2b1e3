package catalog_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// own returns a filter that applies to tools of its own plugin.
func own(name string, tools ...string) tool.Filter {
	return tool.Filter{Name: name, Before: true, After: true, Tools: tools}
}

// A plugin applies filters to its own tools, in the order in which it declares them.
func TestOwnFilters(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", filtering("a", []tool.Spec{spec("one"), spec("two")}, own("outer", "one"), own("inner", "two", "one"), filter("plain")), 0o755)
	write(t, dir, "b", filtering("b", []tool.Spec{spec("three")}, filter("free")), 0o755)
	s := settled(t, open(t, stateDir(t), &fakePlugins{}, dir))
	for name, want := range map[string][]string{"one": {"outer", "inner"}, "two": {"inner"}, "three": nil} {
		if diff := cmp.Diff(want, s.Tool(name).Info().Filters); diff != "" {
			t.Errorf("filters of %s (-want +got):\n%s", name, diff)
		}
	}
}

// A plugin cannot be used if a filter that it applies to its own tools cannot be: the tools must
// not run without it.
func TestOwnFiltersThatCannotBeUsed(t *testing.T) {
	many := make([]tool.Filter, 9)
	for i := range many {
		many[i] = own("f"+string(rune('a'+i)), "one")
	}
	for name, test := range map[string]struct {
		filters []tool.Filter
		says    string
	}{
		"an unknown tool":     {[]tool.Filter{own("f", "ten")}, `the tool "ten"`},
		"another's tool":      {[]tool.Filter{own("f", "other")}, `the tool "other"`},
		"twice":               {[]tool.Filter{own("f", "one", "one")}, "names twice"},
		"neither phase":       {[]tool.Filter{{Name: "f", Tools: []string{"one"}}}, "neither before"},
		"the name of a tool":  {[]tool.Filter{own("ONE", "one")}, "has a tool or another filter"},
		"the name is invalid": {[]tool.Filter{own("a b", "one")}, "a b"},
		"two of a name":       {[]tool.Filter{filter("f"), own("f", "one")}, "has a tool or another filter"},
		"too many":            {many, "more than 8 filters"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a", filtering("a", []tool.Spec{spec("one")}, test.filters...), 0o755)
			write(t, dir, "b", plugin("b", spec("other")), 0o755)
			s := settled(t, open(t, stateDir(t), &fakePlugins{}, dir))
			at := slices.IndexFunc(s.Plugins(), func(p *catalog.Plugin) bool { return filepath.Base(p.Source) == "a" })
			if p := s.Plugins()[at]; s.Tool("one") != nil || !strings.Contains(p.Problem, test.says) {
				t.Errorf("the problem is %q", p.Problem)
			}
		})
	}
}

// An upgrade that applies other filters to a tool needs the operator's trust: the tool is left out
// until then.
func TestOwnFiltersNeedTrust(t *testing.T) {
	before := own("redact", "one")
	for name, test := range map[string]struct {
		filters []tool.Filter
		kept    bool
	}{
		"the same":    {[]tool.Filter{before, filter("new")}, true},
		"none":        {nil, false},
		"not applied": {[]tool.Filter{{Name: "redact", Before: true, After: true}}, false},
		"one phase":   {[]tool.Filter{{Name: "redact", Before: true, Tools: []string{"one"}}}, false},
		"one more":    {[]tool.Filter{before, own("more", "one")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := t.TempDir(), trust.NewStore(t.TempDir())
			path := filepath.Join(dir, "a")
			tools := []tool.Spec{spec("one"), spec("two")}
			write(t, dir, "a", filtering("a", tools, before), 0o755)
			cfg := catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe, Trust: store}
			settled(t, load(t, cfg))
			upgraded := filtering("a", append(tools, spec("three")), test.filters...)
			if err := os.WriteFile(path, []byte(upgraded), 0o755); err != nil {
				t.Fatal(err)
			}
			cfg.StateDir = stateDir(t) // as after a restart
			s := settled(t, load(t, cfg))
			if got := s.Tool("one") != nil; got != test.kept || s.Tool("two") == nil {
				t.Errorf("the tool is there: %v, want %v; the warnings are %q", got, test.kept, s.Plugins()[0].Warnings)
			}
			if err := store.TrustPlugin([]string{dir}, path, s.Plugins()[0].Trusted(), false); err != nil {
				t.Fatal(err)
			}
			cfg.StateDir = stateDir(t)
			if s := settled(t, load(t, cfg)); s.Tool("one") == nil {
				t.Errorf("after it was trusted, the warnings are %q", s.Plugins()[0].Warnings)
			}
		})
	}
}

// A trusted upgrade that changes the filters of a tool takes no tool away: the former revision
// keeps the filters that were trusted with it, until the new one replaces it. The former revision
// does not come back as the plugin's file without the operator's trust.
func TestOwnFiltersDuringATrustedUpgrade(t *testing.T) {
	dir, store := t.TempDir(), trust.NewStore(t.TempDir())
	content := func(version string, filters ...tool.Filter) string {
		return filtering("a", []tool.Spec{spec("one"), {Name: "version", Description: version}}, filters...)
	}
	first, second := content("1", own("redact", "one")), content("2")
	path := write(t, dir, "a", first, 0o755)
	c := load(t, catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe, Trust: store})
	replace := func(content string, trusted bool) *catalog.Plugin {
		t.Helper()
		write(t, dir, "a", content, 0o755)
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := settled(t, c)
		candidates := s.Candidates()
		if len(candidates) != 1 || s.Tool("one") == nil {
			t.Fatalf("the tool in service is %v; the warnings are %q", s.Tool("one"), s.Plugins()[0].Warnings)
		}
		if trusted {
			if err := store.TrustPlugin([]string{dir}, path, candidates[0].Trusted(), false); err != nil {
				t.Fatal(err)
			}
			if err := c.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := settled(t, c); s.Tool("one") == nil {
				t.Errorf("after the trust the warnings are %q", s.Plugins()[0].Warnings)
			}
		}
		return settled(t, c).Candidates()[0]
	}
	for _, step := range []struct {
		content string
		trusted bool
		filters int // of the tool afterwards; -1: it is left out
	}{{second, true, 0}, {first, true, 1}, {second, false, -1}} {
		if err := c.Activate(replace(step.content, step.trusted), catalog.Order{}); err != nil {
			t.Fatal(err)
		}
		switch got := c.Snapshot().Tool("one"); {
		case got == nil && step.filters < 0:
		case got == nil || len(got.Filters) != step.filters:
			t.Errorf("the tool is %+v; the warnings are %q", got, c.Snapshot().Plugins()[0].Warnings)
		}
	}
}

// What an earlier toolhost remembers of a plugin with filters lacks the tools to which they apply.
// The plugin is asked again.
func TestRememberedWithoutOwnFilters(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	write(t, dir, "a", filtering("a", []tool.Spec{spec("one")}, own("redact", "one")), 0o755)
	c := open(t, state, &fakePlugins{}, dir)
	settled(t, c)
	c.Close()
	abouts, err := filepath.Glob(filepath.Join(state, "store", "*", "about.json"))
	if err != nil || len(abouts) != 1 {
		t.Fatalf("%v, %v", abouts, err)
	}
	data, err := os.ReadFile(abouts[0])
	if err != nil {
		t.Fatal(err)
	}
	var known map[string]any
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	delete(known, "own_filters")
	delete(known["description"].(map[string]any)["filters"].([]any)[0].(map[string]any), "tools")
	if data, err = json.Marshal(known); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(abouts[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := settled(t, open(t, state, &fakePlugins{}, dir))
	if got := s.Tool("one").Info().Filters; len(got) != 1 {
		t.Errorf("the tool has the filters %q", got)
	}
}
