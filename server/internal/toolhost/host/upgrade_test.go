package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// release is a plugin whose file an operator replaces. The content of the file is its description.
// Its tool returns its version.
type release struct {
	*rig
	t       *testing.T
	dir     string
	path    string
	cfg     catalog.Config // of catalog
	catalog *catalog.Catalog
	gate    chan struct{} // not nil: a launch waits until it is closed
	busy    chan struct{} // not nil: a call waits until it is closed
}

func newRelease(t *testing.T) *release { return newReleaseWith(t, func(*host.Config) {}) }

func newReleaseWith(t *testing.T, change func(*host.Config)) *release {
	t.Helper()
	u := &release{rig: &rig{}, t: t, dir: t.TempDir()}
	u.path = filepath.Join(u.dir, "versioned")
	u.install("1")
	u.cfg = catalog.Config{Folders: []string{u.dir, t.TempDir()}, StateDir: t.TempDir(), Describe: describeFile}
	u.catalog = u.openCatalog()
	cfg := host.Config{Catalog: u.catalog, Launch: u.launchFile}
	change(&cfg)
	u.Host = host.New(cfg)
	t.Cleanup(func() { u.Close() })
	return u
}

// openCatalog opens the state folder. No other catalog may have it open.
func (u *release) openCatalog() *catalog.Catalog {
	u.t.Helper()
	known, err := hosttest.LoadCatalog(u.t.Context(), u.cfg)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { known.Close() })
	return known
}

// launchFile starts the version of a plugin: a broken one fails, and a slow one takes a while.
func (u *release) launchFile(ctx context.Context, p *catalog.Plugin, _ string) (host.Process, error) {
	if gate := u.gate; gate != nil {
		<-gate
	}
	if strings.HasPrefix(p.Info.Version, "slow") {
		select {
		case <-time.After(slowness): // only in a synctest bubble
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if strings.HasPrefix(p.Info.Version, "broken") {
		return nil, &tool.Error{Kind: tool.KindUnavailable, Message: "it is broken"}
	}
	says := hosttest.Tool{Spec: p.Info.Tools[0], Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		if busy := u.busy; busy != nil {
			<-busy
		}
		return tool.TextResult(p.Info.Version), nil
	}}
	return u.start(ctx, hosttest.NewPlugin([]hosttest.Tool{says}))
}

// slowness is how long a slow launch takes.
const slowness = 3 * time.Second

func describeFile(_ context.Context, p *catalog.Plugin) (tool.Description, error) {
	data, err := os.ReadFile(p.Path)
	if err != nil {
		return tool.Description{}, err
	}
	var d tool.Description
	return d, json.Unmarshal(data, &d)
}

// install replaces the plugin's file.
func (u *release) install(version string) {
	u.t.Helper()
	u.put(u.path, u.content(version))
}

func (u *release) content(version string) string {
	u.t.Helper()
	data, err := json.Marshal(tool.Description{Name: "versioned", Version: version, Tools: []tool.Spec{
		// has side effects, so that no call may be executed twice
		{Name: "version", Description: "Says the version."},
	}})
	if err != nil {
		u.t.Fatal(err)
	}
	return string(data)
}

// put replaces a plugin's file with a file of any content.
func (u *release) put(path, content string) {
	u.t.Helper()
	temp := filepath.Join(filepath.Dir(path), ".new")
	if err := os.WriteFile(temp, []byte(content), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		u.t.Fatal(err)
	}
}

func (u *release) version() string {
	u.t.Helper()
	got := outcome(u.t, u.rig, call("version", "{}"))
	if got.Err != nil {
		u.t.Errorf("a call failed: %s: %v", got.Err.Kind, got.Err)
		return ""
	}
	return got.Result.Text()
}

// underLoad makes calls from many goroutines while f runs. Every call must succeed.
func (u *release) underLoad(f func()) {
	u.t.Helper()
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					u.version()
				}
			}
		})
	}
	f()
	close(stop)
	callers.Wait()
}

// No call fails during twenty upgrades and rollbacks.
func TestUpgradesUnderLoad(t *testing.T) {
	u := newRelease(t)
	u.version()
	u.underLoad(func() {
		for i := range 10 {
			version := fmt.Sprint(i + 2)
			u.install(version)
			done, err := u.Reload(t.Context())
			if err != nil || len(done.Upgraded) != 1 || len(done.Failures) != 0 {
				t.Fatalf("upgrade to %s: %+v, %v", version, done, err)
			}
			if got := u.version(); got != version {
				t.Errorf("after the upgrade to %s runs %s", version, got)
			}
			if _, err := u.Rollback(t.Context(), "versioned", 0, ""); err != nil {
				t.Fatalf("rollback from %s: %v", version, err)
			}
			if got := u.version(); got == version {
				t.Errorf("after the rollback from %s it runs", version)
			}
			if _, err := u.Upgrade(t.Context(), "versioned", ""); err != nil {
				t.Fatalf("upgrade to %s again: %v", version, err)
			}
		}
	})
}

// No call fails during an upgrade to a broken executable. The old one stays, and an event and the
// plugin's warnings say why.
func TestBrokenUpgradeUnderLoad(t *testing.T) {
	u := newRelease(t)
	u.version()
	u.underLoad(func() {
		u.install("broken")
		done, err := u.Reload(t.Context())
		if err != nil || len(done.Upgraded) != 0 || len(done.Failures) != 1 || !strings.Contains(done.Failures[0].Reason, "it is broken") {
			t.Fatalf("reload: %+v, %v", done, err)
		}
	})
	if got := u.version(); got != "1" {
		t.Errorf("version %s runs, want the old one", got)
	}
	var why string
	for e, err := range u.WatchEvents(t.Context(), tool.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "upgrade_failed" {
			why = e.Reason
		}
	}
	if !strings.Contains(why, "it is broken") {
		t.Errorf("the event says %q", why)
	}
	plugins, _ := u.Plugins(t.Context())
	if p := plugins[0]; p.State != tool.PluginEnabled || !strings.Contains(strings.Join(p.Warnings, "\n"), "it is broken") {
		t.Errorf("the plugin is shown as %+v", p)
	}
}

// An event, the plugin and each reload report a new file that cannot even describe itself.
func TestUnusableUpgrade(t *testing.T) {
	u := newRelease(t)
	u.version()
	u.put(u.path, "no plugin")
	for range 2 {
		done, err := u.Reload(t.Context())
		if err != nil || len(done.Upgraded) != 0 || len(done.Failures) != 1 || !strings.Contains(done.Failures[0].Reason, "invalid character") {
			t.Fatalf("reload: %+v, %v", done, err)
		}
	}
	for e, err := range u.WatchEvents(t.Context(), tool.EventQuery{Plugin: "versioned", Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "upgrade_failed" && strings.Contains(e.Reason, "invalid character") && e.Digest != "" {
			break
		}
	}
	if got := u.version(); got != "1" {
		t.Errorf("version %s runs, want the old one", got)
	}
	u.install("2")
	if done, err := u.Reload(t.Context()); err != nil || len(done.Upgraded) != 1 || len(done.Failures) != 0 {
		t.Errorf("reload of what is mended: %+v, %v", done, err)
	}
}

// A reload takes new plugins into service, and removes those whose files are gone, with their
// processes.
func TestReload(t *testing.T) {
	u := newRelease(t)
	u.version()
	if err := os.Rename(u.path, filepath.Join(u.dir, ".away")); err != nil {
		t.Fatal(err)
	}
	done, err := u.Reload(t.Context())
	if err != nil || len(done.Removed) != 1 {
		t.Fatalf("reload: %+v, %v", done, err)
	}
	if _, err := u.Open(t.Context(), call("version", "{}"), true); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("a call of a tool that is gone: %v", err)
	}
	<-u.process(0).Done()
	u.install("2")
	done, err = u.Reload(t.Context())
	want := tool.Reloaded{Added: []string{"versioned"}, Removed: []string{}, Upgraded: []string{}, Failures: []tool.ReloadFailure{}}
	if diff := cmp.Diff(want, done); err != nil || diff != "" {
		t.Fatalf("reload, %v (-want +got):\n%s", err, diff)
	}
	if got := u.version(); got != "2" {
		t.Errorf("version %s runs, want 2", got)
	}
	if _, err := u.Rollback(t.Context(), "nosuch", 0, ""); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("rollback of an unknown plugin: %v", err)
	}
}

// If the host finds a changed file before the operator's upgrade, the revision gets the reason of
// the upgrade, unless it has been in service for some time.
func TestReasonOfAnUpgradeThatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newRelease(t)
		for _, test := range []struct {
			version string
			later   time.Duration
			want    string
		}{{"2", 0, "ticket 812"}, {"3", time.Hour, ""}} {
			u.install(test.version)
			if _, err := u.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(test.later)
			if done, err := u.Upgrade(t.Context(), "versioned", "ticket 812"); err != nil || done.Digest != done.PreviousDigest {
				t.Fatalf("upgrading to what is in service: %+v, %v", done, err)
			}
			revisions, err := u.Revisions(t.Context(), "versioned")
			if err != nil || revisions[0].Cause != tool.RevisionChanged || revisions[0].Reason != test.want {
				t.Errorf("version %s: %+v, %v; want the reason %q", test.version, revisions, err, test.want)
			}
		}
	})
}
