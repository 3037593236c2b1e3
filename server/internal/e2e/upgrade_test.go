package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// Commands change a plugin's executable twenty times, and no call fails.
func TestTwentyUpgradesAndRollbacks(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	// only the commands cause changes
	write(t, filepath.Join(h.home, "toolhost.yaml"), "reload: {watch: false}\n", 0o600)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	l := startLoad(t, h, "1")
	first := l.digest()
	const rounds = 10
	version := ""
	for i := range rounds {
		if i%2 == 0 { // in the other rounds the upgrade returns to the version that was rolled back
			version = fmt.Sprint(i + 2)
			installStamped(t, h, version, "", "")
		}
		l.exchange("1", version, func() {
			r := h.do(t, "upgrade", "versionplugin")
			r.exits(t, 0)
			r.says(t, "upgraded versionplugin")
		})
		if l.digest() == first {
			t.Fatalf("after upgrade %d the first executable is still in service", i)
		}
		l.exchange(version, "1", func() {
			r := h.do(t, "rollback", "versionplugin")
			r.exits(t, 0)
			r.says(t, "rolled versionplugin back")
		})
		if l.digest() != first {
			t.Fatalf("after rollback %d the first executable is not in service", i)
		}
	}
	l.end()
}

// A replaced file comes into service, whether toolhost notices the change or a command reports it,
// and no call fails.
func TestTwentyReplacedFiles(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	l := startLoad(t, h, "1")
	ways := []func(){
		func() {}, // toolhost scans every second
		func() { h.cmd.Process.Signal(syscall.SIGHUP) },
		func() { h.do(t, "reload").exits(t, 0) },
	}
	version := "1"
	for i := range 20 {
		next, before := []string{"2", "1"}[i%2], l.digest()
		l.exchange(version, next, func() {
			installStamped(t, h, next, "", "")
			ways[i%len(ways)]()
			eventually.Holds(t, "version "+next+" is in service", func() bool { return l.digest() != before })
		})
		version = next
	}
	l.end()
}

// Whatever is wrong with a new executable, the running version continues, no call fails, and the
// operator sees the reason.
func TestBrokenExecutables(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	// A good launch takes a tenth of a second. toolhost waits twice for an executable that hangs.
	// Plugins that work at first write a file, which the process that toolhost starts only for the
	// description must not do.
	write(t, filepath.Join(h.home, "toolhost.yaml"), "launch: {timeout: 5s}\nplugin: {versionplugin: {sandbox: {mode: off}}}\n", 0o600)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	l := startLoad(t, h, "1")
	good := l.digest()
	for _, tc := range []struct {
		name, fault string
		later       bool // the process that describes the plugin works
		reasons     []string
	}{
		{"it exits at once", "exit", false, []string{"exit code 7"}},
		{"it prints something else than the handshake", "garbage", false, []string{"ready to serve!", "expected go-plugin's handshake"}},
		{"it speaks another contract", "contract", false, []string{`version "99" of toolhost's contract`}},
		{"it describes itself, but exits when it is to serve", "exit", true, []string{"did not start", "exit code 7"}},
		{"it describes itself, but is never ready", "hang", true, []string{"did not start", "did not answer within", "is broken: hang"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			later := ""
			if tc.later {
				later = filepath.Join(h.home, "born "+tc.name)
			}
			seen := l.lastEvent()
			installStamped(t, h, "broken: "+tc.name, tc.fault, later)
			l.refused(t, seen, tc.reasons)
			h.do(t, "why", "versionplugin").says(t, append([]string{"versionplugin 1 is enabled"}, tc.reasons...)...)
			r := h.do(t, "upgrade", "versionplugin")
			r.exits(t, 3)
			r.says(t, tc.reasons...)
			if now := l.digest(); now != good {
				t.Errorf("%s is in service, want %s", now, good)
			}
			l.answered("1")
		})
	}
	l.exchange("1", "2", func() {
		installStamped(t, h, "2", "", "")
		eventually.Holds(t, "a good executable is in service", func() bool { return l.digest() != good })
	})
	l.end()
}

// lastEvent returns the number of the plugin's last event.
func (l *load) lastEvent() (seq uint64) {
	l.t.Helper()
	for ev, err := range l.client.Admin().WatchEvents(l.t.Context(), tool.EventQuery{}) {
		if err != nil {
			l.t.Fatal(err)
		}
		seq = ev.Seq
	}
	return seq
}

// refused waits for the event with the reason why an executable did not take over.
func (l *load) refused(t *testing.T, after uint64, reasons []string) {
	t.Helper()
	for ev, err := range l.client.Admin().WatchEvents(t.Context(), tool.EventQuery{Plugin: "versionplugin", After: after, Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type != "upgrade_failed" {
			continue
		}
		for _, reason := range reasons {
			if !strings.Contains(ev.Reason, reason) {
				t.Errorf("the event says %q, want %q in it", ev.Reason, reason)
			}
		}
		return
	}
}
