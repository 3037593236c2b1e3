package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/tool"
)

// load lets the catalog scan the folders, and waits for the host to react.
func (u *release) load() {
	u.t.Helper()
	if err := u.catalog.Load(u.t.Context()); err != nil {
		u.t.Fatal(err)
	}
	synctest.Wait()
}

// shadow installs a plugin of the same name in the other folder, and returns its path.
func (u *release) shadow(version string) string {
	path := filepath.Join(u.cfg.Folders[1], "versioned")
	u.put(path, u.content(version))
	return path
}

// If the file of a plugin disappears and another folder has a plugin of the same name, that plugin
// gets the calls. It makes no difference whether the catalog or the host notices the change first.
// A call in progress finishes in the old process.
func TestNameThatBecomesAnothers(t *testing.T) { synctest.Test(t, testNameThatBecomesAnothers) }

func testNameThatBecomesAnothers(t *testing.T) {
	u := newRelease(t)
	u.busy = make(chan struct{})
	e, err := u.Open(t.Context(), call("version", "{}"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	u.shadow("2")
	u.load()
	if err := os.Remove(u.path); err != nil {
		t.Fatal(err)
	}
	u.load()
	close(u.busy)
	if got := end(t, e); got.Err != nil || got.Result.Text() != "1" {
		t.Errorf("the call under way ended with %+v", got)
	}
	if got := u.version(); got != "2" {
		t.Errorf("version %s runs, want 2", got)
	}
	synctest.Wait()
	if u.process(0).Alive() {
		t.Error("the process of the plugin that is gone lives")
	}
}

// If a name belongs to one plugin, a change of another plugin of that name has no effect on the
// first.
func TestChangeOfWhatHasNoName(t *testing.T) { synctest.Test(t, testChangeOfWhatHasNoName) }

func testChangeOfWhatHasNoName(t *testing.T) {
	u := newRelease(t)
	u.version()
	u.shadow("2")
	u.load()
	u.shadow("3")
	u.load()
	if got := u.version(); got != "1" || u.started() != 1 {
		t.Errorf("version %s runs, want 1; %d processes were started", got, u.started())
	}
	if err := os.Remove(u.path); err != nil {
		t.Fatal(err)
	}
	u.load()
	if got := u.version(); got != "3" {
		t.Errorf("version %s runs, want 3", got)
	}
}

// An executable that does not start does not take over, also if no instance runs.
func TestBrokenUpgradeOfAnIdlePlugin(t *testing.T) {
	u := newRelease(t)
	u.version()
	if err := u.Drain(t.Context(), "versioned", ""); err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // either the reload or the host that follows the catalog is first
		u.install("broken" + strings.Repeat("!", i))
		if done, err := u.Reload(t.Context()); err != nil || len(done.Failures) != 1 || !strings.Contains(done.Failures[0].Reason, "it is broken") {
			t.Errorf("reload: %+v, %v", done, err)
		}
	}
	if got := u.version(); got != "1" {
		t.Errorf("version %s runs, want 1", got)
	}
}

// An operator learns at once that the ordered executable does not start.
func TestOrderedUpgradeOfAnUnusedPlugin(t *testing.T) {
	u := newRelease(t)
	u.install("broken")
	if _, err := u.Upgrade(t.Context(), "versioned", ""); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("upgrade to what is broken: %v", err)
	}
	u.install("2")
	first := u.catalog.Snapshot().Plugin("versioned").Digest
	done, err := u.Upgrade(t.Context(), "versioned", "")
	if err != nil || done.PreviousDigest != first || done.Digest != u.catalog.Snapshot().Plugin("versioned").Digest {
		t.Errorf("upgrade: %+v, %v", done, err)
	}
	if got := u.version(); got != "2" || u.started() != 1 {
		t.Errorf("version %s runs, want 2; %d processes were started, want the one that was warmed", got, u.started())
	}
}

// A changed file alone starts no process.
func TestChangeOfAnUnusedPlugin(t *testing.T) {
	u := newRelease(t)
	u.install("2")
	if done, err := u.Reload(t.Context()); err != nil || len(done.Upgraded) != 1 {
		t.Errorf("reload: %+v, %v", done, err)
	}
	if n := u.started(); n != 0 {
		t.Errorf("%d processes were started", n)
	}
	if got := u.version(); got != "2" {
		t.Errorf("version %s runs, want 2", got)
	}
}

// A disabled plugin is upgraded, and no process starts for that.
func TestChangesOfASwitchedOffPlugin(t *testing.T) {
	off := true
	u := newReleaseWith(t, func(cfg *host.Config) { cfg.Disabled = func(string) bool { return off } })
	u.install("2")
	if _, err := u.Upgrade(t.Context(), "versioned", ""); err != nil {
		t.Fatal(err)
	}
	if n := u.started(); n != 0 {
		t.Errorf("%d processes were started", n)
	}
	off = false
	if got := u.version(); got != "2" {
		t.Errorf("version %s runs, want 2", got)
	}
}

// A rollback during an upgrade goes back from the revision that the upgrade brings.
func TestRollbackDuringAnUpgrade(t *testing.T) { synctest.Test(t, testRollbackDuringAnUpgrade) }

func testRollbackDuringAnUpgrade(t *testing.T) {
	c := &changes{release: newRelease(t)}
	c.version()
	c.install("2")
	if _, err := c.Upgrade(t.Context(), "versioned", ""); err != nil {
		t.Fatal(err)
	}
	c.gate = make(chan struct{})
	c.install("3")
	c.order("upgrade", func() error { _, err := c.Upgrade(t.Context(), "versioned", ""); return err })
	synctest.Wait()
	var back tool.Upgraded
	c.order("rollback", func() (err error) { back, err = c.Rollback(t.Context(), "versioned", 0, ""); return err })
	synctest.Wait()
	close(c.gate)
	c.under.Wait()
	synctest.Wait()
	if got := c.version(); got != "2" || back.Digest != c.catalog.Snapshot().Plugin("versioned").Digest {
		t.Errorf("version %s runs, want 2; the rollback said %+v\n%s", got, back, strings.Join(c.story, "\n"))
	}
	c.isConsistent()
}

// The old plugin leaves service while a new revision starts. The new revision is not marked as
// failed, and the plugin works when its file returns.
func TestRetireWhileANewRevisionWarms(t *testing.T) {
	synctest.Test(t, testRetireWhileANewRevisionWarms)
}

func testRetireWhileANewRevisionWarms(t *testing.T) {
	c := &changes{release: newRelease(t)}
	c.version()
	c.install("slow")
	c.load()
	time.Sleep(slowness / 3)
	if err := os.Remove(c.path); err != nil {
		t.Fatal(err)
	}
	c.load()
	c.install("slow")
	c.load()
	time.Sleep(2 * slowness)
	synctest.Wait()
	if got := c.version(); got != "slow" {
		t.Errorf("version %s runs, want slow", got)
	}
	c.isConsistent()
}

// Of all revisions that a plugin has had, only the one in service can be launched.
func TestWhatIsForgotten(t *testing.T) { synctest.Test(t, testWhatIsForgotten) }

func testWhatIsForgotten(t *testing.T) {
	u := newRelease(t)
	u.version()
	for _, version := range []string{"2", "broken", "4", "5"} {
		u.install(version)
		if _, err := u.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait()
	if revisions, turns := u.Remembered("versioned"); revisions != 1 || turns != 0 {
		t.Errorf("%d revisions and %d turns are remembered", revisions, turns)
	}
}

// A change continues after the operator who ordered it has disconnected.
func TestChangeWithoutAWaitingOperator(t *testing.T) {
	synctest.Test(t, testChangeWithoutAWaitingOperator)
}

func testChangeWithoutAWaitingOperator(t *testing.T) {
	c := &changes{release: newRelease(t)}
	c.version()
	c.install("slow")
	ctx, cancel := context.WithTimeout(t.Context(), slowness/3)
	defer cancel()
	if _, err := c.Upgrade(ctx, "versioned", ""); err == nil {
		t.Error("the upgrade ended before its time")
	}
	time.Sleep(slowness)
	synctest.Wait()
	if got := c.version(); got != "slow" {
		t.Errorf("version %s runs, want slow", got)
	}
	c.isConsistent()
}
