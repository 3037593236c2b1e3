package catalog_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
)

// pin rewrites the lock file so that it pins the digest now in place of old.
func (r *rig) pin(old, now string) {
	r.t.Helper()
	text := string(must(os.ReadFile(r.cfg.LockFile)))
	if err := os.WriteFile(r.cfg.LockFile, []byte(strings.Replace(text, old, now, 1)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// If the lock file allows a broken file, the earlier revision stays in service, as after every
// failed upgrade.
func TestALockThatAllowsABrokenFileTakesNothingOutOfService(t *testing.T) {
	r := newRig(t)
	r.lock(true)
	old := r.restart().Plugin("one").Digest
	r.write("one", "error: it does not start")
	r.reload()
	out := r.Snapshot().Plugin("one")
	if !out.Refusal.Locked || out.Pin != old {
		t.Fatalf("the refusal is %+v, the pin %q", out.Refusal, out.Pin)
	}
	r.pin(old, out.Refusal.Digest)
	r.reload()
	r.want("1", 0, "it does not start")
	if p := r.Snapshot().Plugin("one"); p.Refusal.Locked || p.Refusal.Digest != out.Refusal.Digest || p.Pin != out.Refusal.Digest {
		t.Errorf("the refusal is %+v, the pin %q", p.Refusal, p.Pin)
	}
	r.pin(out.Refusal.Digest, "sha256:"+strings.Repeat("0", 64)) // neither the file nor the revision in service
	r.reload()
	if r.Snapshot().Plugin("one") != nil {
		t.Error("what the lock file does not allow is in service")
	}
}

// A refused plugin is asked again at each load, but the refusal is reported once.
func TestARefusalIsReportedOnce(t *testing.T) {
	r := newRig(t)
	before := r.Snapshot()
	r.write("one", "error: no")
	for i, want := range []int{1, 0, 0} {
		told := 0
		if err := r.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := r.Snapshot() // while the plugin is asked
		told += len(catalog.Diff(before, now).Refused)
		before, now = now, settled(t, r.Catalog)
		told += len(catalog.Diff(before, now).Refused)
		before = now
		if told != want {
			t.Errorf("load %d told %d refusals, want %d", i, told, want)
		}
	}
	if asked := len(r.fake.questions()); asked != 4 {
		t.Errorf("the plugin was asked %d times, want 4", asked)
	}
	r.write("one", "error: not yet")
	if d := catalog.Diff(before, r.reload()); len(d.Refused) != 1 {
		t.Errorf("another file that is refused was told %d times", len(d.Refused))
	}
}

// A new lock file takes effect without a command.
func TestTheLockFileIsWatched(t *testing.T) {
	r := newRig(t)
	r.lock(true)
	r.write("one", version("2", spec("a")))
	r.Close()
	fresh := catalog.Config{Folders: r.cfg.Folders, StateDir: stateDir(t), Describe: r.fake.describe}
	c := load(t, fresh)
	now := c.Snapshot().Plugin("one").Digest
	c.Close()
	synctest.Test(t, func(t *testing.T) {
		c := must(catalog.Open(r.cfg))
		defer c.Close()
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Watch()
		looks := func() {
			time.Sleep(4 * time.Second) // of the bubble
			synctest.Wait()
		}
		looks()
		if len(c.Snapshot().Candidates()) > 0 {
			t.Fatal("what is not pinned is offered")
		}
		r.pin(c.Snapshot().Plugin("one").Digest, now)
		looks()
		if offers := c.Snapshot().Candidates(); len(offers) != 1 || offers[0].Digest != now {
			t.Errorf("after the lock file changed there are the candidates %v", offers)
		}
	})
}

// The log names a file that is no plugin but was probably meant to be one.
func TestDataIsPassedOverAloud(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	path := write(t, dir, "notes.txt", "no plugin", 0o600)
	write(t, dir, ".hidden", "no plugin", 0o600)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	load(t, catalog.Config{
		Folders: []string{dir}, StateDir: stateDir(t), Describe: (&fakePlugins{}).describe,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if logged := log.String(); !strings.Contains(logged, "source="+path) || !strings.Contains(logged, "folder") || strings.Contains(logged, "hidden") {
		t.Errorf("the log says\n%s", logged)
	}
}
