package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// revisions returns the revisions of the plugin "one" as texts, the newest first.
func (r *rig) revisions() []string {
	r.t.Helper()
	all, err := r.Revisions("one")
	if err != nil {
		r.t.Fatal(err)
	}
	texts := []string{}
	for _, v := range all {
		text := fmt.Sprintf("%d %s", v.Number, v.Cause)
		if v.Principal != "" {
			text += fmt.Sprintf(" by %s: %s", v.Principal, v.Reason)
		}
		if v.Current {
			text += " current"
		}
		if v.Kept {
			text += " kept"
		}
		texts = append(texts, text)
	}
	return texts
}

// upgrade puts a version into service.
func (r *rig) upgrade(v string, o catalog.Order) {
	r.t.Helper()
	r.write("one", version(v, spec("a")))
	r.reload()
	if err := r.Activate(r.candidate(), o); err != nil {
		r.t.Fatal(err)
	}
}

// An operator can return to each revision that is kept, with a reason that a restart keeps.
func TestRollbackToARevision(t *testing.T) {
	r := newRig(t)
	r.upgrade("2", catalog.Order{Cause: tool.RevisionUpgraded, By: "ada", Reason: "new"})
	r.upgrade("3", catalog.Order{})
	back := must(r.Rollback("one", 1))
	if err := r.Activate(back, catalog.Order{Cause: tool.RevisionRolledBack, By: "bob", Reason: "3 is slow"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"4 rollback by bob: 3 is slow current", "3 changed kept", "2 upgrade by ada: new kept", "1 added"}
	for _, do := range []func() *catalog.Snapshot{r.Snapshot, r.reload, r.restart} {
		do()
		r.want("1", 0, "an operator went back")
		if diff := cmp.Diff(want, r.revisions()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if all, err := r.Revisions("one"); err != nil || time.Since(all[0].Time).Abs() > time.Hour {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := r.Rollback("one", 5); tool.KindOf(err) != tool.KindNotFound || !strings.Contains(err.Error(), "toolhost revisions one") {
		t.Errorf("a revision that never was: %v", err)
	}
	if _, err := r.Revisions("none"); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("an unknown plugin: %v", err)
	}
}

// An operator's reason for an upgrade is that of a change that the catalog was faster to make. It
// replaces no other reason, and is not that of another revision.
func TestExplain(t *testing.T) {
	r := newRig(t)
	explain := func(reason string) {
		t.Helper()
		if err := r.Explain(r.Snapshot().Plugin("one"), catalog.Order{By: "ada", Reason: reason}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, r.revisions()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	explain("it is new") // the first revision is no change
	first := r.Snapshot().Plugin("one")
	r.upgrade("2", catalog.Order{})
	if err := r.Explain(first, catalog.Order{By: "eve", Reason: "x"}); err != nil {
		t.Fatal(err)
	}
	want("2 changed current", "1 added kept")
	explain("ticket 812")
	explain("another one")
	want("2 changed by ada: ticket 812 current", "1 added kept")
	r.restart()
	want("2 changed by ada: ticket 812 current", "1 added kept")
}

// The history and the copies are bounded. A revision without a copy is not kept.
func TestRevisionsAreBounded(t *testing.T) {
	r := newRig(t)
	for v := 2; v <= 13; v++ {
		r.upgrade(fmt.Sprint(v), catalog.Order{})
	}
	r.reload() // removes copies
	got := r.revisions()
	if len(got) != 10 || got[0] != "13 changed current" || got[4] != "9 changed kept" || got[5] != "8 changed" || got[9] != "4 changed" {
		t.Errorf("revisions %q", got)
	}
	if _, err := r.Rollback("one", 8); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "no copy") {
		t.Errorf("going back to a revision without a copy: %v", err)
	}
	if copies, err := os.ReadDir(filepath.Join(r.cfg.StateDir, "store")); err != nil || len(copies) != 5 {
		t.Errorf("%d copies, %v", len(copies), err)
	}
	if err := os.RemoveAll(filepath.Join(r.cfg.StateDir, "store", strings.TrimPrefix(must(r.Revisions("one"))[1].Digest, "sha256:"))); err != nil {
		t.Fatal(err)
	}
	if got := r.revisions()[1]; got != "12 changed" {
		t.Errorf("a revision whose copy is gone: %q", got)
	}
}

// A plugin that left the service has a history, but nothing to return to.
func TestRevisionsOfAPluginOutOfService(t *testing.T) {
	r := newRig(t)
	r.upgrade("2", catalog.Order{})
	r.cfg.Locked, r.cfg.LockFile = true, filepath.Join(t.TempDir(), "toolhost.lock")
	if err := os.WriteFile(r.cfg.LockFile, []byte("version: 1\nplugins: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if diff := cmp.Diff([]string{"2 changed", "1 added"}, r.revisions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A state folder of a version without histories has the revisions that it knows.
func TestStateWithoutHistory(t *testing.T) {
	r := newRig(t)
	r.upgrade("2", catalog.Order{})
	r.Close()
	path := filepath.Join(r.cfg.StateDir, "catalog.json")
	var file map[string]any
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range file["sources"].(map[string]any) {
		delete(record.(map[string]any), "history")
	}
	if data, err = json.Marshal(file); err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Catalog = load(t, r.cfg)
	if diff := cmp.Diff([]string{"2  current", "1  kept"}, r.revisions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.activate(must(r.Rollback("one", 1)))
	r.want("1", 0, "an operator went back")
}
