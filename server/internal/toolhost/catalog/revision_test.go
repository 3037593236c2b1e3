package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// rig is a catalog of one folder with the plugin "one".
type rig struct {
	*catalog.Catalog
	t    *testing.T
	cfg  catalog.Config
	dir  string
	fake *fakePlugins
}

func version(v string, tools ...tool.Spec) string {
	return strings.Replace(plugin("one", tools...), `"version":"1"`, `"version":"`+v+`"`, 1)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), fake: &fakePlugins{}}
	r.cfg = catalog.Config{Folders: []string{r.dir}, StateDir: stateDir(t), Describe: r.fake.describe, Retention: -1}
	r.write("one", version("1", spec("a")))
	r.Catalog = load(t, r.cfg)
	return r
}

func (r *rig) write(name, content string) { write(r.t, r.dir, name, content, 0o755) }

// reload loads and waits for the answers.
func (r *rig) reload() *catalog.Snapshot {
	r.t.Helper()
	if err := r.Load(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return settled(r.t, r.Catalog)
}

// restart opens the state folder again.
func (r *rig) restart() *catalog.Snapshot {
	r.t.Helper()
	r.Close()
	r.Catalog = load(r.t, r.cfg)
	return r.Snapshot()
}

// retain opens the state folder again, and keeps copies from then on.
func (r *rig) retain() {
	r.t.Helper()
	r.cfg.Retention = 0
	r.restart()
}

// candidate returns the only candidate.
func (r *rig) candidate() *catalog.Plugin {
	r.t.Helper()
	if c := r.Snapshot().Candidates(); len(c) == 1 {
		return c[0]
	}
	r.t.Fatalf("candidates %v, want one", r.Snapshot().Candidates())
	return nil
}

func (r *rig) activate(p *catalog.Plugin) {
	r.t.Helper()
	if err := r.Activate(p, catalog.Order{}); err != nil {
		r.t.Fatal(err)
	}
}

// want checks the version in service, the number of candidates, and the text of the only warning;
// empty: no warning.
func (r *rig) want(v string, candidates int, warning string) {
	r.t.Helper()
	s := r.Snapshot()
	p := s.Plugin("one")
	if p == nil {
		r.t.Fatalf("the plugin is gone: %+v", s.Plugins())
	}
	all := strings.Join(p.Warnings, "\n")
	if p.Info.Version != v || len(s.Candidates()) != candidates || (warning == "") != (all == "") || !strings.Contains(all, warning) {
		r.t.Errorf("version %s with %d candidates and the warnings %q; want version %s with %d and %q",
			p.Info.Version, len(s.Candidates()), p.Warnings, v, candidates, warning)
	}
}

// It replaces the revision in service when it is activated, and not before.
func TestAChangedFileIsACandidate(t *testing.T) {
	r := newRig(t)
	old := r.Snapshot()
	r.write("one", version("2", spec("a"), spec("b")))
	r.reload()
	r.want("1", 1, "")
	if r.Snapshot().Tool("b") != nil {
		t.Error("a candidate's tool can be called")
	}
	c := r.candidate()
	if c.Info.Version != "2" || len(c.Tools) != 2 || c.Path == old.Plugin("one").Path {
		t.Errorf("candidate %+v", c)
	}
	if _, err := os.Stat(old.Plugin("one").Path); err != nil {
		t.Error("what is in service is not in the store any more:", err)
	}
	r.activate(c)
	r.want("2", 0, "")
	if r.Snapshot().Tool("b") == nil || r.Previous("one") != old.Plugin("one").Digest {
		t.Errorf("tools %v, previous %s", toolNames(r.Snapshot(), tool.Query{}), r.Previous("one"))
	}
	r.restart()
	r.want("2", 0, "")
}

// A rejected candidate is not used, over reloads and restarts, until its file changes or an upgrade
// is requested.
func TestARejectedCandidateStaysOut(t *testing.T) {
	r := newRig(t)
	r.write("one", version("2", spec("a")))
	r.reload()
	rejected := r.candidate()
	if err := r.Reject(rejected, "it did not get ready"); err != nil {
		t.Fatal(err)
	}
	const warning = "which is not used: it did not get ready; `toolhost upgrade one` tries it"
	r.want("1", 0, warning)
	r.reload()
	r.want("1", 0, warning)
	r.restart()
	if err := r.Adopt(); err != nil {
		t.Fatal(err)
	}
	r.want("1", 0, warning)

	p, err := r.Upgrade(t.Context(), "one")
	if err != nil || p.Digest != rejected.Digest {
		t.Fatalf("upgrading: %+v, %v", p, err)
	}
	r.write("one", version("3", spec("a")))
	r.reload()
	r.want("1", 1, "")
	if err := r.Reject(rejected, "late"); err != nil {
		t.Error(err)
	}
	r.want("1", 1, "")
	r.write("one", version("2", spec("a"))) // again, so that it is new
	r.reload()
	r.activate(r.candidate())
	r.want("2", 0, "")
}

// A candidate can still be activated after its file has changed again. The new content is then the
// next candidate, also after a restart.
func TestACandidateWhoseFileChangedOnceMore(t *testing.T) {
	r := newRig(t)
	r.retain()
	first := r.Snapshot().Plugin("one").Digest
	r.write("one", version("2", spec("b")))
	r.reload()
	second := r.candidate()
	r.write("one", version("3", spec("a")))
	r.reload()
	r.activate(second)
	r.want("2", 1, "")
	if got := r.Previous("one"); got != first || r.Snapshot().Tool("b") == nil {
		t.Errorf("the one before is %s, want %s; tools %v", got, first, toolNames(r.Snapshot(), tool.Query{}))
	}
	r.restart()
	r.want("2", 1, "")
	r.activate(r.candidate())
	r.want("3", 0, "")
	if got := r.Previous("one"); got != second.Digest {
		t.Errorf("the one before is %s, want %s", got, second.Digest)
	}
}

// A revision that is gone, or that is another plugin now, cannot be activated.
func TestOutdatedCandidates(t *testing.T) {
	r := newRig(t)
	outdated := func(p *catalog.Plugin) {
		t.Helper()
		if err := r.Activate(p, catalog.Order{}); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "outdated") {
			t.Errorf("activating what is outdated: %v", err)
		}
	}
	r.write("one", version("2", spec("a")))
	r.reload()
	second := r.candidate()
	r.write("one", version("3", spec("a")))
	r.reload()
	outdated(second) // its copy is gone
	r.retain()
	r.write("one", version("4", spec("a")))
	r.reload()
	fourth := r.candidate()
	r.write("one", plugin("another", spec("a")))
	r.reload()
	if r.Snapshot().Plugin("another") == nil {
		t.Fatal("the file did not become another plugin")
	}
	outdated(fourth)
	if err := os.Remove(filepath.Join(r.dir, "one")); err != nil {
		t.Fatal(err)
	}
	r.reload()
	outdated(fourth)
}

// If the file changes during a rollback, the rollback still returns to the revision before the one
// that the operator saw. The new content is the next candidate.
func TestNewsDuringARollback(t *testing.T) {
	r := newRig(t)
	r.retain()
	r.write("one", version("2", spec("a")))
	r.reload()
	r.activate(r.candidate())
	back := must(r.Rollback("one", 0))
	r.write("one", version("3", spec("a")))
	r.reload()
	r.activate(back)
	r.want("1", 1, "")
	r.activate(r.candidate())
	r.want("3", 0, "")
}

// If an author puts the earlier file back, that is a normal upgrade and no rollback. The next
// change of the file becomes a candidate as usual.
func TestTheOneBeforeComesBackByFile(t *testing.T) {
	r := newRig(t)
	r.retain()
	first := version("1", spec("a"))
	r.write("one", version("2", spec("a")))
	r.reload()
	r.activate(r.candidate())
	r.write("one", first)
	r.reload()
	again := r.candidate()
	r.write("one", version("3", spec("a")))
	r.reload()
	r.activate(again)
	r.want("1", 1, "")
}

// The earlier revision is in service again, and stays.
func TestRollback(t *testing.T) {
	r := newRig(t)
	if _, err := r.Rollback("one", 0); tool.KindOf(err) != tool.KindNotFound || !strings.Contains(err.Error(), "no previous revision") {
		t.Errorf("going back from the first revision: %v", err)
	}
	if _, err := r.Rollback("none", 0); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("an unknown plugin: %v", err)
	}
	r.write("one", version("2", spec("a")))
	r.reload()
	r.activate(r.candidate())
	back, err := r.Rollback("one", 0)
	if err != nil || back.Info.Version != "1" {
		t.Fatalf("going back: %+v, %v", back, err)
	}
	r.want("2", 0, "") // the host activates it
	r.activate(back)
	const warning = "an operator went back to the revision before it"
	r.want("1", 0, warning)
	r.reload()
	r.want("1", 0, warning)
	r.restart()
	if err := r.Adopt(); err != nil {
		t.Fatal(err)
	}
	r.want("1", 0, warning)

	forth, err := r.Rollback("one", 0) // forward again
	if err != nil {
		t.Fatal(err)
	}
	r.activate(forth)
	r.want("2", 0, "")
	r.activate(must(r.Rollback("one", 0)))
	r.write("one", version("3", spec("a")))
	r.reload()
	r.activate(r.candidate())
	r.want("3", 0, "")
	if got := must(r.Rollback("one", 0)).Info.Version; got != "1" {
		t.Errorf("the revision before is %s, want 1", got)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A broken file is not even a candidate.
func TestABrokenNewBinaryKeepsTheOld(t *testing.T) {
	for name, tc := range map[string]struct{ content, warning string }{
		"does not start": {"error: exec format error", "which is not used: exec format error"},
		"bad name":       {`{"name":"bad name","tools":[]}`, "which is not used: it describes itself wrongly"},
		"no tools":       {version("2"), "which is not used: it has no tool"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write("one", tc.content)
			r.reload()
			r.want("1", 0, tc.warning)
			if _, err := r.Upgrade(t.Context(), "one"); tool.KindOf(err) != tool.KindUnavailable {
				t.Errorf("upgrading to it: %v", err)
			}
			r.restart()
			r.want("1", 0, tc.warning)
			r.write("one", version("2", spec("a")))
			r.reload()
			r.want("1", 1, "")
		})
	}
	r := newRig(t)
	if err := os.Chmod(filepath.Join(r.dir, "one"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.write("one", "#!/bin/sh\n")
	r.reload()
	r.want("1", 0, "stays in service as it was: the file is not executable")
}

// Upgrade works without a load before it, and asks again a plugin that did not answer.
func TestUpgradeLooksByItself(t *testing.T) {
	r := newRig(t)
	p, err := r.Upgrade(t.Context(), "one")
	if err != nil || p.Digest != r.Snapshot().Plugin("one").Digest {
		t.Errorf("nothing to upgrade to: %+v, %v", p, err)
	}
	r.write("one", version("2", spec("a")))
	p, err = r.Upgrade(t.Context(), "one")
	if err != nil || p.Info.Version != "2" {
		t.Fatalf("upgrading: %+v, %v", p, err)
	}
	r.activate(p)
	r.want("2", 0, "")
	if err := os.Remove(filepath.Join(r.dir, "one")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Upgrade(t.Context(), "one"); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("upgrading to nothing: %v", err)
	}
	if _, err := r.Upgrade(t.Context(), "none"); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("an unknown plugin: %v", err)
	}
}

// A plugin that was removed and is added again is a new plugin.
func TestRemovedPluginsGo(t *testing.T) {
	r := newRig(t)
	if err := os.Remove(filepath.Join(r.dir, "one")); err != nil {
		t.Fatal(err)
	}
	if s := r.reload(); len(s.Plugins()) != 0 || s.Tool("a") != nil {
		t.Errorf("plugins %+v", s.Plugins())
	}
	r.write("one", version("2", spec("a")))
	r.reload()
	r.want("2", 0, "")
	if r.Previous("one") != "" {
		t.Error("it remembers what was before it was removed")
	}
}

// A new revision with another name is another plugin, which comes into service at once because no
// caller uses its name yet. It does not get a name of another plugin.
func TestARenamedPluginIsAnother(t *testing.T) {
	r := newRig(t)
	r.write("two", plugin("two", spec("t")))
	r.reload()
	r.write("one", plugin("two", spec("a")))
	r.reload()
	r.want("1", 0, `its name is "two", which is taken`)
	r.write("one", plugin("three", spec("a")))
	s := r.reload()
	if s.Plugin("one") != nil || s.Plugin("three") == nil || s.Tool("a") == nil {
		t.Errorf("plugins %+v", s.Plugins())
	}
	if _, err := r.Rollback("three", 0); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("going back to another name: %v", err)
	}
}

// A file that is earlier in the order of the folder gets neither the name nor a tool of a plugin in
// service. A candidate is shown as it would be in service.
func TestNamesAreKeptWhileToolhostRuns(t *testing.T) {
	r := newRig(t)
	r.write("a-first", plugin("one", spec("x")))
	r.write("b-second", plugin("other", spec("a"), spec("o")))
	s := r.reload()
	r.want("1", 0, "")
	if diff := cmp.Diff([]string{"a", "o"}, toolNames(s, tool.Query{})); diff != "" || s.Tool("a").Plugin.Info.Name != "one" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	r.write("one", version("2", spec("a"), spec("o"), spec("p")))
	r.reload()
	c := r.candidate()
	if len(c.Tools) != 2 || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], `"o" is left out`) {
		t.Errorf("candidate %+v with the warnings %q", c.Tools, c.Warnings)
	}
	r.activate(c)
	if s := r.Snapshot(); s.Tool("o").Plugin.Info.Name != "other" || s.Tool("p").Plugin.Info.Name != "one" {
		t.Error("the activated plugin took a tool of another")
	}
}

// Diff and Next show the host which plugins were added, replaced and removed.
func TestDiff(t *testing.T) {
	r := newRig(t)
	r.write("gone", plugin("gone", spec("g")))
	before := r.reload()
	r.write("one", version("2", spec("a")))
	r.write("new", plugin("new", spec("n")))
	r.write("broken", "error: no")
	if err := os.Remove(filepath.Join(r.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	now := r.reload()
	if got, err := r.Next(t.Context(), before); got != now || err != nil {
		t.Errorf("the next snapshot: %v, %v", got, err)
	}
	names := func(plugins []*catalog.Plugin) []string {
		var names []string
		for _, p := range plugins {
			names = append(names, p.Info.Name)
		}
		return names
	}
	d := catalog.Diff(before, now)
	got := [][]string{names(d.Added), names(d.Removed), names(d.Candidates), names(d.Broken)}
	if diff := cmp.Diff([][]string{{"new"}, {"gone"}, {"one"}, {"broken"}}, got); diff != "" || len(d.Changed) > 0 {
		t.Errorf("differences (-want +got):\n%s\nchanged: %v", diff, d.Changed)
	}
	r.activate(r.candidate())
	d = catalog.Diff(now, r.Snapshot())
	if len(d.Changed) != 1 || d.Changed[0].Old.Info.Version != "1" || d.Changed[0].New.Info.Version != "2" {
		t.Errorf("changed %+v", d.Changed)
	}
	d.Changed = nil
	if diff := cmp.Diff(catalog.Changes{}, d); diff != "" {
		t.Errorf("other differences (-want +got):\n%s", diff)
	}
}

// Diff reports a plugin in service whose new file cannot replace it, and one whose file works
// again.
func TestDiffOfARefusal(t *testing.T) {
	r := newRig(t)
	before := r.Snapshot()
	r.write("one", "error: no")
	broken := r.reload()
	d := catalog.Diff(before, broken)
	if len(d.Refused) != 1 || d.Refused[0].Info.Version != "1" || !strings.Contains(d.Refused[0].Refusal.Reason, "no") ||
		d.Refused[0].Refusal.Digest == d.Refused[0].Digest || len(d.Broken) > 0 {
		t.Fatalf("differences %+v", d)
	}
	if d := catalog.Diff(broken, broken); len(d.Refused) > 0 {
		t.Errorf("told twice: %+v", d)
	}
	r.write("one", version("2", spec("a")))
	if d := catalog.Diff(broken, r.reload()); len(d.Refused) > 0 || len(d.Candidates) != 1 {
		t.Errorf("differences once it is mended: %+v", d)
	}
}
