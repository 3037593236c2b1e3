package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakePlugins describes executables by their content: JSON of a tool.Description, or "error: …", or
// "hang".
type fakePlugins struct {
	mu    sync.Mutex
	asked []string // file names
}

func (f *fakePlugins) describe(ctx context.Context, p *catalog.Plugin) (tool.Description, error) {
	f.mu.Lock()
	f.asked = append(f.asked, filepath.Base(p.Source))
	f.mu.Unlock()
	path := p.Path
	if p.Manifest != nil {
		path = filepath.Join(p.Dir, "main.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return tool.Description{}, err
	}
	if strings.HasPrefix(string(data), "hang") {
		<-ctx.Done()
		return tool.Description{}, context.Cause(ctx)
	}
	if message, ok := strings.CutPrefix(string(data), "error: "); ok {
		return tool.Description{}, errors.New(message)
	}
	var d tool.Description
	return d, json.Unmarshal(data, &d)
}

func (f *fakePlugins) questions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.asked)
	return f.asked
}

func plugin(name string, tools ...tool.Spec) string {
	data, err := json.Marshal(tool.Description{Name: name, Version: "1", Tools: tools, DefaultTags: []string{"by-default"}})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func spec(name string) tool.Spec { return tool.Spec{Name: name, Description: "Does " + name + "."} }

func write(t *testing.T, dir, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeTB(tb testing.TB, dir, name, content string) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
		tb.Fatal(err)
	}
}

// open returns a loaded catalog of the folders that is not settled. stateDir returns a new folder
// for the state of a catalog. The test's end removes it, also the sealed copies in it, which only
// root could remove as they are.
func stateDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		if err := rmtree.Remove(filepath.Join(dir, "store")); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func open(t *testing.T, state string, fake *fakePlugins, folders ...string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(catalog.Config{Folders: folders, StateDir: state, Describe: fake.describe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func settled(t *testing.T, c *catalog.Catalog) *catalog.Snapshot {
	t.Helper()
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.Snapshot()
}

func toolNames(s *catalog.Snapshot, q tool.Query) []string {
	var names []string
	for _, t := range s.Tools(q) {
		names = append(names, t.Spec.Name)
	}
	return names
}

// A page begins after a name, whether a tool has that name or not.
func TestToolsAfter(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one", plugin("one", spec("b"), spec("d"), spec("f")), 0o755)
	s := settled(t, open(t, stateDir(t), &fakePlugins{}, dir))
	for after, want := range map[string]string{"": "b d f", "a": "b d f", "b": "d f", "c": "d f", "f": "", "g": ""} {
		var names []string
		for t := range s.ToolsAfter(after, tool.Query{}) {
			names = append(names, t.Spec.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("after %q: %q, want %q", after, got, want)
		}
	}
}

// Discovery runs each new binary once, and no known one.
func TestKnownDigestsAreNotAskedAgain(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	write(t, dir, "one", plugin("one", spec("a"), spec("b")), 0o755)
	write(t, dir, "two", plugin("two", spec("c")), 0o755)
	first := &fakePlugins{}
	c := open(t, state, first, dir)
	settled(t, c)
	c.Close()
	if diff := cmp.Diff([]string{"one", "two"}, first.questions()); diff != "" {
		t.Errorf("asked at first (-want +got):\n%s", diff)
	}

	second := &fakePlugins{}
	c = open(t, state, second, dir)
	s := c.Snapshot() // without Settle: all plugins are known
	c.Close()
	if diff := cmp.Diff([]string{"a", "b", "c"}, toolNames(s, tool.Query{})); diff != "" {
		t.Errorf("known at once (-want +got):\n%s", diff)
	}
	write(t, dir, "two", plugin("two", spec("d")), 0o755)
	c = open(t, state, second, dir)
	settled(t, c)
	if err := c.Adopt(); err != nil {
		t.Fatal(err)
	}
	s = c.Snapshot()
	if diff := cmp.Diff([]string{"two"}, second.questions()); diff != "" {
		t.Errorf("asked after a change (-want +got):\n%s", diff)
	}
	if s.Tool("d") == nil || s.Tool("c") != nil {
		t.Errorf("the changed plugin has %v, want d instead of c", toolNames(s, tool.Query{}))
	}
}

// If a file changes after the catalog read it, the content that the catalog read still runs.
func TestTheCopyIsWhatRuns(t *testing.T) {
	dir := t.TempDir()
	content := plugin("one", spec("a"))
	source := write(t, dir, "one", content, 0o755)
	p := settled(t, open(t, stateDir(t), &fakePlugins{}, dir)).Plugin("one")
	if err := os.WriteFile(source, []byte("something else"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(p.Path)
	if err != nil || string(got) != content {
		t.Errorf("the copy holds %q, %v", got, err)
	}
	if info, err := os.Stat(p.Path); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("the copy's mode is %v, %v; want 0500", info.Mode(), err)
	}
}

// The catalog reports each bad plugin with its reason, and the other plugins are unaffected.
func TestBadPluginsAreReported(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	write(t, first, "good", plugin("good", spec("a")), 0o755)
	write(t, first, "broken", "error: it speaks in tongues", 0o755)
	write(t, first, "nameless", plugin("", spec("x")), 0o755)
	write(t, first, "empty", plugin("empty"), 0o755)
	write(t, first, "script.sh", "#!/bin/sh\n", 0o644)
	write(t, first, "README.md", "not a program", 0o644)
	write(t, first, ".hidden", plugin("hidden", spec("h")), 0o755)
	if err := os.Symlink("nowhere", filepath.Join(first, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, second, "good", plugin("good", spec("y")), 0o755)
	write(t, second, "partly", plugin("partly", spec("a"), spec("z"), spec("z"), tool.Spec{Name: "mute"},
		tool.Spec{Name: "skewed", Description: "Has a bad schema.", InputSchema: json.RawMessage(`{"type":7}`)}), 0o755)

	s := settled(t, open(t, stateDir(t), &fakePlugins{}, first, second))
	problems, warnings := map[string]string{}, []string(nil)
	for _, p := range s.Plugins() {
		problems[filepath.Base(filepath.Dir(p.Source))+"/"+filepath.Base(p.Source)] = p.Problem
		warnings = append(warnings, p.Warnings...)
	}
	a, b := filepath.Base(first), filepath.Base(second)
	for file, want := range map[string]string{
		a + "/good": "", a + "/broken": "speaks in tongues", a + "/nameless": "name is empty", a + "/empty": "no tool",
		a + "/script.sh": "chmod +x", a + "/link": "leads nowhere", b + "/good": `"good" is taken by ` + first + "/good, so that ", b + "/partly": "",
	} {
		got, found := problems[file]
		if !found || !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: problem %q (listed: %v), want %q", file, got, found, want)
		}
	}
	if len(problems) != 8 {
		t.Errorf("%d plugins are listed, want 8: %v", len(problems), problems)
	}
	for _, want := range []string{`"a" is left out: the plugin "good"`, "declares it twice", "no description", "schema cannot be used"} {
		if !strings.Contains(strings.Join(warnings, "\n"), want) {
			t.Errorf("no warning says %q:\n%s", want, strings.Join(warnings, "\n"))
		}
	}
	if diff := cmp.Diff([]string{"a", "z"}, toolNames(s, tool.Query{})); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// The other plugins are usable while the catalog still waits for the description of a slow one.
func TestASlowPluginDelaysNoOther(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a-hangs", "hang", 0o755)
	write(t, dir, "b-good", plugin("good", spec("a")), 0o755)
	c := open(t, stateDir(t), &fakePlugins{}, dir)
	for c.Snapshot().Tool("a") == nil {
		if t.Context().Err() != nil {
			t.Fatal("the good plugin never appeared")
		}
	}
	if p := c.Snapshot().Plugins()[0]; !strings.Contains(p.Problem, "being asked") {
		t.Errorf("the hanging plugin is shown with %q", p.Problem)
	}
}

func TestQuery(t *testing.T) {
	dir := t.TempDir()
	dangerous, dear := spec("b"), spec("c")
	dangerous.Dangerous, dangerous.Tags, dangerous.Category = true, []string{"x", "y"}, "files"
	dear.CostPerUse = 2
	write(t, dir, "p", plugin("p", spec("a"), dangerous, dear), 0o755)
	s := settled(t, open(t, stateDir(t), &fakePlugins{}, dir))
	yes, no, one := true, false, 1.0
	for name, tc := range map[string]struct {
		query tool.Query
		want  []string
	}{
		"all":        {tool.Query{}, []string{"a", "b", "c"}},
		"names":      {tool.Query{Names: []string{"c", "a", "q"}}, []string{"a", "c"}},
		"category":   {tool.Query{Categories: []string{"files"}}, []string{"b"}},
		"tag":        {tool.Query{Tags: []string{"y", "z"}}, []string{"b"}},
		"plugin":     {tool.Query{Plugins: []string{"q", "p"}}, []string{"a", "b", "c"}},
		"no plugin":  {tool.Query{Plugins: []string{"q"}}, nil},
		"excluded":   {tool.Query{Excluded: []string{"b", "q"}}, []string{"a", "c"}},
		"own tags":   {tool.Query{Tags: []string{"by-default"}}, []string{"a", "c"}},
		"dangerous":  {tool.Query{Dangerous: &yes}, []string{"b"}},
		"harmless":   {tool.Query{Dangerous: &no}, []string{"a", "c"}},
		"cost":       {tool.Query{MaxCostPerUse: &one}, []string{"a", "b"}},
		"count":      {tool.Query{MaxTools: 2}, []string{"a", "b"}},
		"all at odd": {tool.Query{Dangerous: &yes, Categories: []string{"none"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, toolNames(s, tc.query)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}
