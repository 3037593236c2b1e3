package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/tool"
)

// If a changed lock file no longer allows a plugin, the plugin ends, with an event that says why.
// If the lock file allows it again, it returns.
func TestALockThatIsChanged(t *testing.T) {
	u := newRelease(t)
	u.catalog.Close()
	u.cfg.Locked, u.cfg.LockFile = true, filepath.Join(t.TempDir(), "toolhost.lock")
	if err := catalog.WriteLock(u.cfg.LockFile, u.catalog.Snapshot()); err != nil {
		t.Fatal(err)
	}
	allowed, err := os.ReadFile(u.cfg.LockFile)
	if err != nil {
		t.Fatal(err)
	}
	u.Close()
	u.catalog = u.openCatalog()
	u.Host = host.New(host.Config{Catalog: u.catalog, Launch: u.launchFile})
	u.version()
	reload := func(lock []byte) {
		t.Helper()
		if err := os.WriteFile(u.cfg.LockFile, lock, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reload([]byte("version: 1\nplugins: {}\n"))
	<-u.process(0).Done()
	for e, err := range u.WatchEvents(t.Context(), tool.EventQuery{Plugin: "versioned", Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != "plugin_disabled" {
			continue
		}
		if !strings.Contains(e.Reason, "the lock file does not know versioned") {
			t.Errorf("the event says %q", e.Reason)
		}
		break
	}
	reload(allowed)
	if got := u.version(); got != "1" {
		t.Errorf("version %q runs, want 1", got)
	}
}
