package host_test

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	condition "github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
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
	if _, err := u.Rollback(t.Context(), "versioned", 0, ""); err != nil {
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
	next, stop := iter.Pull2(u.WatchEvents(t.Context(), tool.EventQuery{Follow: true}))
	defer stop()
	// The host reports what it finds after Reload has returned. Two changes at once have no order.
	reload := func(want string) {
		t.Helper()
		if _, err := u.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, err, _ := next()
		if err != nil || e.Plugin+" "+e.Type != want {
			t.Fatalf("the event is %s %s, %v, want %s", e.Plugin, e.Type, err, want)
		}
		if e.Type == "plugin_unusable" && !strings.Contains(e.Reason, "invalid character") {
			t.Errorf("the event says %q", e.Reason)
		}
	}
	other := filepath.Join(u.dir, "other")
	u.put(other, strings.NewReplacer("versioned", "other", `"version"`, `"other_version"`).Replace(u.content("1")))
	reload("other plugin_added")
	u.put(filepath.Join(u.dir, "broken"), "no plugin")
	reload("broken plugin_unusable")
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	reload("other plugin_removed")
}

// The log says why a plugin cannot be used: when the host starts, and when a plugin comes later.
func TestTheLogSaysWhatCannotBeUsed(t *testing.T) {
	var log syncbuf.Buffer
	u := newReleaseWith(t, func(cfg *host.Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		known := cfg.Catalog
		if err := os.WriteFile(filepath.Join(filepath.Dir(known.Snapshot().Plugin("versioned").Source), "early"), []byte("no plugin"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(known.Load(t.Context()), known.Settle(t.Context())); err != nil {
			t.Fatal(err)
		}
	})
	says := func(plugin string) {
		t.Helper()
		plugins := u.catalog.Snapshot().Plugins()
		p := plugins[slices.IndexFunc(plugins, func(p *catalog.Plugin) bool { return p.Info.Name == plugin })]
		record := fmt.Sprintf("plugin=%s digest=%s source=%s reason=%q", plugin, p.Digest, p.Source, p.Problem)
		condition.Holds(t, "the log has "+record, func() bool { return strings.Contains(log.String(), record) })
	}
	says("early")
	u.put(filepath.Join(u.dir, "late"), "no plugin")
	if _, err := u.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	says("late")
}
