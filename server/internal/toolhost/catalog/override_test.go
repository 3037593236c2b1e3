package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// overridden returns a settled snapshot of plugins, by file name, with overrides.
func overridden(t *testing.T, overrides catalog.Overrides, plugins map[string]string) *catalog.Snapshot {
	t.Helper()
	dir, fake := t.TempDir(), &fakePlugins{}
	for name, content := range plugins {
		write(t, dir, name, content, 0o755)
	}
	c, err := catalog.Open(catalog.Config{Folders: []string{dir}, StateDir: stateDir(t), Describe: fake.describe, Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return settled(t, c)
}

func warnings(s *catalog.Snapshot) string {
	var all []string
	for _, p := range s.Plugins() {
		for _, w := range p.Warnings {
			all = append(all, p.Info.Name+": "+w)
		}
	}
	return strings.Join(all, "\n")
}

func TestOverridesChangeWhatIsDeclared(t *testing.T) {
	declared := tool.Spec{
		Name: "a", Description: "Does a.", Category: "old", Tags: []string{"old"}, Timeout: time.Second, RateLimitPerMinute: 7,
		CostPerUse: 3, ReadOnly: true, Strict: true,
	}
	for name, test := range map[string]struct {
		override catalog.Override
		change   func(*tool.Spec)
	}{
		"nothing":       {catalog.Override{}, func(*tool.Spec) {}},
		"rename":        {catalog.Override{Rename: "b"}, func(s *tool.Spec) { s.Name = "b" }},
		"same name":     {catalog.Override{Rename: "a"}, func(*tool.Spec) {}},
		"description":   {catalog.Override{Description: "Other."}, func(s *tool.Spec) { s.Description = "Other." }},
		"category":      {catalog.Override{Category: "new"}, func(s *tool.Spec) { s.Category = "new" }},
		"tags":          {catalog.Override{Tags: []string{"x", "y"}}, func(s *tool.Spec) { s.Tags = []string{"x", "y"} }},
		"no tags":       {catalog.Override{Tags: []string{}}, func(s *tool.Spec) { s.Tags = []string{} }},
		"dangerous":     {catalog.Override{Dangerous: new(true)}, func(s *tool.Spec) { s.Dangerous = true }},
		"serial":        {catalog.Override{Serial: new(true)}, func(s *tool.Spec) { s.Serial = true }},
		"parallel":      {catalog.Override{Parallel: new(true)}, func(s *tool.Spec) { s.Parallel = true }},
		"not strict":    {catalog.Override{Strict: new(false)}, func(s *tool.Spec) { s.Strict = false }},
		"timeout":       {catalog.Override{Timeout: new(time.Hour)}, func(s *tool.Spec) { s.Timeout = time.Hour }},
		"no rate limit": {catalog.Override{RateLimitPerMinute: new(uint32(0))}, func(s *tool.Spec) { s.RateLimitPerMinute = 0 }},
		"cost":          {catalog.Override{CostPerUse: new(0.5)}, func(s *tool.Spec) { s.CostPerUse = 0.5 }},
	} {
		t.Run(name, func(t *testing.T) {
			want := declared
			test.change(&want)
			for _, key := range []string{"a", "one.a"} {
				s := overridden(t, catalog.Overrides{key: test.override}, map[string]string{"one": plugin("one", declared)})
				got := s.Tool(want.Name)
				if got == nil {
					t.Fatalf("%s: there is no tool %q, but %v", key, want.Name, toolNames(s, tool.Query{}))
				}
				if diff := cmp.Diff(want, got.Spec); diff != "" || got.DeclaredName() != "a" || warnings(s) != "" {
					t.Errorf("%s: declared as %q; warnings %q (-want +got):\n%s", key, got.DeclaredName(), warnings(s), diff)
				}
			}
		})
	}
}

func TestOverridesByPluginCountMore(t *testing.T) {
	s := overridden(t, catalog.Overrides{
		"a":     {Timeout: new(time.Second), Strict: new(true), Disabled: new(true), Serial: new(true), Parallel: new(false)},
		"one.a": {Timeout: new(time.Minute), Disabled: new(false), MaxConcurrent: new(3), Serial: new(false), Parallel: new(true)},
	}, map[string]string{"one": plugin("one", spec("a"))})
	a := s.Tool("a")
	if a == nil || a.Spec.Timeout != time.Minute || !a.Spec.Strict || a.Spec.Serial || !a.Spec.Parallel || a.MaxConcurrent != 3 {
		t.Errorf("got %+v", a)
	}
}

// The test checks the names of tools after an operator disables and renames tools, and assigns
// names to plugins.
func TestOverriddenNames(t *testing.T) {
	two := map[string]string{"one": plugin("one", spec("a"), spec("b")), "two": plugin("two", spec("a"), spec("c"))}
	for name, test := range map[string]struct {
		overrides catalog.Overrides
		want      []string // PLUGIN.NAME
		warnings  []string
		strays    []string
	}{
		"none":                      {nil, []string{"one.a", "one.b", "two.c"}, []string{`two: the tool "a" is left out: the plugin "one" ships one`}, nil},
		"the other":                 {catalog.Overrides{"a": {Plugin: "two"}}, []string{"two.a", "one.b", "two.c"}, nil, nil},
		"the other, which has none": {catalog.Overrides{"b": {Plugin: "two"}}, []string{"one.a", "two.c"}, []string{`one: the tool "b" is left out: the configuration says that it is the plugin "two"'s, which does not have it`}, []string{"b"}},
		"nobody's":                  {catalog.Overrides{"a": {Plugin: "six"}}, []string{"one.b", "two.c"}, []string{`one: the tool "a" is left out`, `two: the tool "a" is left out`}, []string{"a"}},
		"off":                       {catalog.Overrides{"a": {Disabled: new(true)}}, []string{"one.b", "two.c"}, nil, nil},
		"off once":                  {catalog.Overrides{"one.a": {Disabled: new(true)}}, []string{"two.a", "one.b", "two.c"}, nil, nil},
		"both":                      {catalog.Overrides{"two.a": {Rename: "d"}}, []string{"one.a", "one.b", "two.c", "two.d"}, nil, nil},
		"swap":                      {catalog.Overrides{"b": {Rename: "c"}, "c": {Rename: "b"}}, []string{"one.a", "two.b", "one.c"}, nil, nil},
		"taken": {
			catalog.Overrides{"b": {Rename: "c"}}, []string{"one.a", "one.b", "two.c"},
			[]string{`one: the tool "b" keeps its name: the configuration renames it to "c", which is taken`}, nil,
		},
		"twice": {
			catalog.Overrides{"b": {Rename: "d"}, "c": {Rename: "d"}}, []string{"one.a", "one.b", "two.c"},
			[]string{`one: the tool "b" keeps its name`, `two: the tool "c" keeps its name`}, nil,
		},
		"in the way of another": {
			catalog.Overrides{"b": {Rename: "c"}, "c": {Rename: "a"}}, []string{"one.a", "one.b", "two.c"},
			[]string{`one: the tool "b" keeps its name`, `two: the tool "c" keeps its name`}, nil,
		},
		"of one that is off": {catalog.Overrides{"b": {Rename: "c"}, "c": {Disabled: new(true)}}, []string{"one.a", "one.c"}, nil, nil},
		"strays": {
			catalog.Overrides{"one.z": {}, "six.a": {}, "z": {}, "b": {}}, []string{"one.a", "one.b", "two.c"},
			[]string{`one: the configuration speaks of its tool "z", which it does not have`}, []string{"one.z", "six.a", "z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := overridden(t, test.overrides, two)
			var got []string
			for _, offered := range s.Tools(tool.Query{}) {
				got = append(got, offered.Plugin.Info.Name+"."+offered.Spec.Name)
				if s.Tool(offered.Spec.Name) != offered || !slices.Contains(offered.Plugin.Tools, offered) {
					t.Errorf("%s is not found, or not its plugin's", offered.Spec.Name)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			for _, want := range test.warnings {
				if !strings.Contains(warnings(s), want) {
					t.Errorf("no warning says %s:\n%s", want, warnings(s))
				}
			}
			if diff := cmp.Diff(test.strays, s.Strays()); diff != "" {
				t.Errorf("strays (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFiltersKeepRenamedToolsAway(t *testing.T) {
	s := overridden(t, catalog.Overrides{"a": {Rename: "redact"}}, map[string]string{
		"one": plugin("one", spec("a")), "two": filtering("two", nil, filter("redact")),
	})
	if s.Tool("a") == nil || s.Filter("redact") == nil || !strings.Contains(warnings(s), "keeps its name") {
		t.Errorf("tools %v, warnings %s", toolNames(s, tool.Query{}), warnings(s))
	}
}

func TestWhyThereIsNoTool(t *testing.T) {
	s := overridden(t, catalog.Overrides{
		"a": {Disabled: new(true), Rename: "z"}, "b": {Rename: "y"}, "one.c": {Disabled: new(true)}, "one.d": {Rename: "x"},
	}, map[string]string{
		"one": plugin("one", spec("a"), spec("b"), spec("c"), spec("d")), "two": plugin("two", spec("c"), spec("d")),
	})
	for name, want := range map[string]struct {
		off     bool
		renamed string
	}{"a": {true, ""}, "z": {true, ""}, "b": {false, "y"}, "y": {}, "c": {}, "d": {}, "q": {}} {
		if off, renamed := s.SwitchedOff(name), s.Renamed(name); off != want.off || renamed != want.renamed {
			t.Errorf("%s is off: %v, renamed to %q", name, off, renamed)
		}
	}
}

// A candidate is shown with the overrides that it will have.
func TestOverridesOfCandidates(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one", plugin("one", spec("a")), 0o755)
	write(t, dir, "two", plugin("two", spec("taken")), 0o755)
	c, err := catalog.Open(catalog.Config{
		Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe,
		Overrides: catalog.Overrides{"a": {Rename: "z"}, "b": {Rename: "taken"}, "c": {Disabled: new(true)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for _, content := range []string{"", plugin("one", spec("a"), spec("b"), spec("c"))} {
		if content != "" {
			write(t, dir, "one", content, 0o755)
		}
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		settled(t, c)
	}
	candidates := c.Snapshot().Candidates()
	if len(candidates) != 1 {
		t.Fatalf("there are %d candidates", len(candidates))
	}
	var names []string
	for _, offered := range candidates[0].Tools {
		names = append(names, offered.Spec.Name)
	}
	if diff := cmp.Diff([]string{"b", "z"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := c.Activate(candidates[0], catalog.Order{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "taken", "z"}, toolNames(c.Snapshot(), tool.Query{})); diff != "" {
		t.Errorf("in service (-want +got):\n%s", diff)
	}
}
