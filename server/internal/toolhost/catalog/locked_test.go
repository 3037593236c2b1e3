package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// lock writes a lock of the plugins in service and opens the catalog again, locked, with or without
// its state.
func (r *rig) lock(keepState bool) {
	r.t.Helper()
	r.cfg.Locked, r.cfg.LockFile = true, filepath.Join(r.t.TempDir(), "toolhost.lock")
	if err := catalog.WriteLock(r.cfg.LockFile, r.Snapshot()); err != nil {
		r.t.Fatal(err)
	}
	if !keepState {
		r.cfg.StateDir = stateDir(r.t)
	}
}

func (r *rig) problem() string {
	r.t.Helper()
	plugins := r.Snapshot().Plugins()
	if len(plugins) != 1 {
		r.t.Fatalf("plugins %+v, want one", plugins)
	}
	return plugins[0].Problem
}

// A locked catalog runs pinned digests. It asks a pinned digest for its description if it does not
// know it.
func TestLockedRunsWhatIsPinned(t *testing.T) {
	r := newRig(t)
	r.lock(false)
	r.restart()
	r.want("1", 0, "")
}

// A locked catalog does not even ask changed and unknown plugins. The reason names both digests and
// a remedy.
func TestLockedRefusesTheRest(t *testing.T) {
	r := newRig(t)
	pinned := r.Snapshot().Plugin("one").Digest
	r.lock(false)
	r.write("one", version("2", spec("a")))
	r.write("two", plugin("two", spec("t")))
	writeFolder(t, filepath.Join(r.dir, "three"), someFolder("three", spec("u")))
	asked := len(r.fake.questions())
	s := r.restart()
	if len(r.fake.questions()) != asked {
		t.Errorf("what is not pinned was run: %v", r.fake.questions())
	}
	if len(s.Plugins()) != 3 || len(s.Tools(tool.Query{})) > 0 {
		t.Fatalf("plugins %+v", s.Plugins())
	}
	for _, p := range s.Plugins() {
		want := []string{"the lock file does not know " + p.Info.Name, p.Digest, "run `toolhost lock " + p.Info.Name + "`"}
		refusal := catalog.Refusal{Digest: p.Digest, Reason: p.Problem, Locked: true}
		pin := ""
		if p.Info.Name == "one" {
			want, pin = []string{"the lock file allows " + pinned, p.Digest, "run `toolhost lock one`"}, pinned
		}
		if p.Refusal != refusal || p.Pin != pin {
			t.Errorf("the refusal is %+v and the pin %q, want %+v and %q", p.Refusal, p.Pin, refusal, pin)
		}
		for _, words := range want {
			if !strings.Contains(p.Problem, words) || p.Digest == "" {
				t.Errorf("%s is refused because %q, want it to say %q", p.Info.Name, p.Problem, words)
			}
		}
	}
}

// A pinned revision stays in service although its file has changed.
func TestLockedKeepsThePinnedCopy(t *testing.T) {
	r := newRig(t)
	r.lock(true)
	r.write("one", version("2", spec("a")))
	asked := len(r.fake.questions())
	r.restart()
	r.want("1", 0, "run `toolhost lock one`")
	if _, err := r.Upgrade(t.Context(), "one"); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "lock file allows") {
		t.Errorf("upgrading past the lock: %v", err)
	}
	if len(r.fake.questions()) != asked {
		t.Errorf("what is not pinned was run: %v", r.fake.questions())
	}
}

// A locked catalog returns to the pinned revision, also if another revision was in service last.
func TestLockedGoesBackToWhatIsPinned(t *testing.T) {
	r := newRig(t)
	r.lock(true)
	locked := r.cfg
	r.cfg.Locked = false
	r.write("one", version("2", spec("a")))
	r.reload()
	r.activate(r.candidate())
	r.cfg = locked
	r.restart()
	r.want("1", 0, "lock file allows")
	if _, err := r.Rollback("one", 0); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("going back to what was before the lock: %v", err)
	}
	r.cfg.Locked = false
	r.restart()
	r.want("1", 1, "")
}

// After each load, the snapshot has exactly the plugins that the lock file allows.
func TestALockIsReadAtEachLoad(t *testing.T) {
	r := newRig(t)
	r.write("one", version("2", spec("a")))
	r.reload()
	r.activate(r.candidate())
	first := must(r.Rollback("one", 0))
	r.lock(true) // version 2
	r.restart()
	r.want("2", 0, "")
	if _, err := r.Rollback("one", 0); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "lock file") {
		t.Errorf("going back past the lock: %v", err)
	}
	if err := r.Activate(first, catalog.Order{}); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("activating past the lock: %v", err)
	}
	text := must(os.ReadFile(r.cfg.LockFile))
	for _, content := range []string{"version: 1\nplugins: {}\n", string(text)} {
		if err := os.WriteFile(r.cfg.LockFile, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		r.reload()
		if allowed := content == string(text); (r.problem() == "") != allowed {
			t.Errorf("allowed: %v, problem %q", allowed, r.problem())
		}
	}
	if err := os.WriteFile(r.cfg.LockFile, []byte("version: 1\nplugin: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "toolhost.lock:2:1") {
		t.Errorf("loading with a bad lock: %v", err)
	}
	r.want("2", 0, "") // nothing changed
}

// If the lock file pins the earlier revision again, the next load puts that revision into service,
// like a new start. This holds although the file of the plugin has a later revision.
func TestALockThatGoesBackBringsBackWhatItPins(t *testing.T) {
	r := newRig(t)
	r.lock(true)
	before := must(os.ReadFile(r.cfg.LockFile))
	first := r.Snapshot().Plugin("one").Digest
	r.cfg.Locked = false
	r.write("one", version("2", spec("a")))
	r.restart()
	r.activate(r.candidate())
	r.lock(true)
	after := must(os.ReadFile(r.cfg.LockFile))
	r.restart()
	_, err := r.Rollback("one", 0)
	if second := r.Snapshot().Plugin("one").Digest; err == nil || !strings.Contains(err.Error(), "cannot go back to "+first) || !strings.Contains(err.Error(), "allows only "+second) {
		t.Errorf("going back past the lock: %v", err)
	}
	for _, step := range []struct {
		lock          []byte
		want, warning string
	}{
		{before, "1", "lock file allows"},
		{after, "2", ""},
		{[]byte("version: 1\nplugins: {}\n"), "", ""},
		{before, "1", "lock file allows"},
	} {
		if err := os.WriteFile(r.cfg.LockFile, step.lock, 0o600); err != nil {
			t.Fatal(err)
		}
		r.reload()
		if step.want != "" {
			r.want(step.want, 0, step.warning)
		} else if r.problem() == "" {
			t.Error("what the lock does not allow is in service")
		}
	}
}

// A plugin is refused if its own name differs from the name of its pin.
func TestAPinIsForOneName(t *testing.T) {
	r := newRig(t)
	r.lock(false)
	text := must(os.ReadFile(r.cfg.LockFile))
	if err := os.WriteFile(r.cfg.LockFile, []byte(strings.Replace(string(text), `"one"`, `"other"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if !strings.Contains(r.problem(), "the lock file does not know one") {
		t.Errorf("problem %q", r.problem())
	}
}

// A plugin that runs without a copy cannot be pinned, because it could change after the check.
func TestWhatIsNotCopiedCannotBeLocked(t *testing.T) {
	r := newRig(t)
	if err := os.Remove(filepath.Join(r.dir, "one")); err != nil {
		t.Fatal(err)
	}
	writeFolder(t, filepath.Join(r.dir, "p"), someFolder("p", spec("a")))
	r.reload()
	r.lock(false)
	r.cfg.MaxFolderFiles = 2
	r.restart()
	if !strings.Contains(r.problem(), "cannot be run with --locked") {
		t.Errorf("problem %q", r.problem())
	}
}

func TestLockedNeedsALock(t *testing.T) {
	r := newRig(t)
	r.Close()
	r.cfg.Locked = true
	if _, err := catalog.Open(r.cfg); err == nil {
		t.Error("opened without a lock file")
	}
	r.cfg.LockFile = filepath.Join(t.TempDir(), "none")
	c := must(catalog.Open(r.cfg))
	defer c.Close()
	if err := c.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "`toolhost lock` writes it while toolhost runs") {
		t.Errorf("loading without a lock: %v", err)
	}
}
