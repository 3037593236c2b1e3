package host_test

import (
	"os"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/tool"
)

// restart starts a restart whose new instance waits until the test calls the returned function.
// That function then waits for the end of the restart.
func (u *release) restart() (end func()) {
	u.t.Helper()
	gate := make(chan struct{})
	u.gate = gate
	restarted := make(chan error, 1)
	go func() { // ends when the gate opens
		_, err := u.Restart(u.t.Context(), "versioned", "", false)
		restarted <- err
	}()
	u.untilEvent("restart_started")
	return func() {
		close(gate)
		if err := <-restarted; err != nil {
			u.t.Errorf("the restart: %v", err)
		}
	}
}

func (u *release) untilEvent(kind string) {
	u.t.Helper()
	for e, err := range u.WatchEvents(u.t.Context(), tool.EventQuery{Follow: true}) {
		if err != nil {
			u.t.Fatal(err)
		}
		if e.Type == kind {
			return
		}
	}
}

// An upgrade during a restart waits for the end of the restart. It is not refused because of it.
func TestUpgradeDuringARestart(t *testing.T) { synctest.Test(t, testUpgradeDuringARestart) }

func testUpgradeDuringARestart(t *testing.T) {
	u := newRelease(t)
	u.version()
	end := u.restart()
	u.install("2")
	upgraded := make(chan tool.Reloaded, 1)
	go func() { // ends with the reload
		done, _ := u.Reload(t.Context())
		upgraded <- done
	}()
	synctest.Wait()
	end()
	if done := <-upgraded; len(done.Upgraded) != 1 || len(done.Failures) != 0 {
		t.Errorf("reload: %+v", done)
	}
	if got := u.version(); got != "2" {
		t.Errorf("version %s runs, want 2", got)
	}
}

// A drain during a restart does not wait for the instance that replaces the drained ones.
func TestDrainDuringARestart(t *testing.T) {
	u := newRelease(t)
	u.version()
	end := u.restart()
	if err := u.Drain(t.Context(), "versioned", ""); err != nil {
		t.Fatal(err)
	}
	if u.process(0).Alive() {
		t.Error("the old process lives after the drain")
	}
	end()
	u.version()
	if n := u.started(); n != 2 {
		t.Errorf("%d processes were started, want the first and its replacement", n)
	}
}

// The processes of a removed plugin are listed as long as their calls run.
func TestProcessesOfARemovedPlugin(t *testing.T) {
	u := newRelease(t)
	u.busy = make(chan struct{})
	e, err := u.Open(t.Context(), call("version", "{}"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	u.untilEvent("instance_ready")
	if err := os.Remove(u.path); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{"", "versioned"} {
		if got, err := u.Instances(t.Context(), plugin); err != nil || len(got) != 1 || got[0].State != tool.InstanceDraining {
			t.Errorf("instances of %q: %+v, %v", plugin, got, err)
		}
	}
	close(u.busy)
	if got := end(t, e); got.Err != nil || got.Result.Text() != "1" {
		t.Errorf("the call under way ended with %+v", got)
	}
	u.untilEvent("instance_exited")
	if _, err := u.Instances(t.Context(), "versioned"); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("instances of a plugin that is gone: %v", err)
	}
}

// If the first call of a plugin is opened before an upgrade and its arguments are complete after
// it, the call does not bring the old executable back.
func TestCallOpenedBeforeAnUpgrade(t *testing.T) {
	u := newRelease(t)
	e, err := u.Open(t.Context(), call("version", ""), false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	u.install("2")
	if done, err := u.Reload(t.Context()); err != nil || len(done.Upgraded) != 1 {
		t.Fatalf("reload: %+v, %v", done, err)
	}
	u.untilEvent("upgrade_finished") // this event also comes for a plugin that was not used
	if err := e.Send(t.Context(), []byte("{}"), true); err != nil {
		t.Fatal(err)
	}
	if got := end(t, e); got.Err != nil || got.Result.Text() != "2" {
		t.Errorf("the call ended with %+v, want it to run version 2", got)
	}
	if got := u.version(); got != "2" {
		t.Errorf("version %s runs, want 2", got)
	}
}

// A plugin's first call starts nothing if the plugin's file is gone meanwhile. If a file returns in
// its place, that one runs.
func TestCallOpenedBeforeARemoval(t *testing.T) {
	u := newRelease(t)
	e, err := u.Open(t.Context(), call("version", ""), false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := os.Remove(u.path); err != nil {
		t.Fatal(err)
	}
	if done, err := u.Reload(t.Context()); err != nil || len(done.Removed) != 1 {
		t.Fatalf("reload: %+v, %v", done, err)
	}
	if err := e.Send(t.Context(), []byte("{}"), true); err != nil {
		t.Fatal(err)
	}
	if got := end(t, e); got.Err == nil || got.Err.Kind != tool.KindUnavailable || u.started() != 0 {
		t.Errorf("the call ended with %+v, %d processes were started", got, u.started())
	}
	u.install("2")
	if done, err := u.Reload(t.Context()); err != nil || len(done.Added) != 1 {
		t.Fatalf("reload: %+v, %v", done, err)
	}
	if got := u.version(); got != "2" {
		t.Errorf("version %s runs, want 2", got)
	}
}
