package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// Each reload reports a plugin that cannot be used, whether the plugin ever worked or not. The
// event log has one event for it.
func TestEachReloadTellsWhatCannotBeUsed(t *testing.T) {
	u := newRelease(t)
	u.version()
	u.put(filepath.Join(u.dir, "never-worked"), "no plugin")
	u.put(u.path, "no plugin any more")
	for i := range 3 {
		done, err := u.Reload(t.Context())
		if err != nil || len(done.Failures) != 2 || done.Failures[0].Plugin != "never-worked" || done.Failures[1].Plugin != "versioned" {
			t.Errorf("reload %d: %+v, %v", i, done, err)
		}
	}
	u.install("2") // its events come after those of the file before it
	if _, err := u.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for e, err := range u.WatchEvents(t.Context(), tool.EventQuery{Plugin: "versioned", Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "upgrade_failed" {
			refused++
		}
		if e.Type == "upgrade_finished" {
			break
		}
	}
	if refused != 1 {
		t.Errorf("the refusal is told by %d events", refused)
	}
}

// A rollback has its own events.
func TestARollbackIsReported(t *testing.T) {
	u := newRelease(t)
	u.version()
	u.install("2")
	if _, err := u.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Rollback(t.Context(), "versioned"); err != nil {
		t.Fatal(err)
	}
	var types []string
	for e, err := range u.WatchEvents(t.Context(), tool.EventQuery{Plugin: "versioned", Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if before, _, ok := strings.Cut(e.Type, "_"); ok && (before == "upgrade" || before == "rollback") {
			types = append(types, e.Type)
		}
		if e.Type == "rollback_finished" {
			break
		}
	}
	if got := strings.Join(types, " "); got != "upgrade_started upgrade_finished rollback_started rollback_finished" {
		t.Errorf("the events are %s", got)
	}
}

// The host reports an event when a plugin is added, becomes unusable or is removed, also if no call
// has used the plugin.
func TestAddedAndRemovedPluginsAreReported(t *testing.T) {
	u := newRelease(t)
	reload := func() {
		t.Helper()
		if _, err := u.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(u.dir, "other")
	u.put(other, strings.NewReplacer("versioned", "other", `"version"`, `"other_version"`).Replace(u.content("1")))
	reload()
	u.put(filepath.Join(u.dir, "broken"), "no plugin")
	reload()
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	reload()
	var told []string
	for e, err := range u.WatchEvents(t.Context(), tool.EventQuery{Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, e.Plugin+" "+e.Type)
		if e.Type == "plugin_unusable" && !strings.Contains(e.Reason, "invalid character") {
			t.Errorf("the event says %q", e.Reason)
		}
		if e.Type == "plugin_removed" {
			break
		}
	}
	if got := strings.Join(told, ", "); got != "other plugin_added, broken plugin_unusable, other plugin_removed" {
		t.Errorf("the events are %s", got)
	}
}
