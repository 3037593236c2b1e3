package host_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// TestEachReloadTellsWhatCannotBeUsed, whether that ever worked or not; and it is an event once.
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
	u.install("2") // what is said of it comes after whatever is said of the file before it
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

// TestARollbackIsTold as what it is.
func TestARollbackIsTold(t *testing.T) {
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
