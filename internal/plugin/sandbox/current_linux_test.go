//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

func TestPlanIsCurrentUntilItWouldBeAnother(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		change func(t *testing.T, w *world, granted string)
		want   bool
	}{
		{"nothing happens", func(*testing.T, *world, string) {}, true},
		{"a file appears in the workspace", func(t *testing.T, w *world, _ string) {
			w.file(t, filepath.Join(w.workspace, "new"), "new")
		}, true},
		{"a file that was granted is written", func(t *testing.T, w *world, granted string) {
			w.file(t, granted, "other words")
		}, true},
		{"a file that was granted is replaced", func(t *testing.T, w *world, granted string) {
			w.file(t, granted+".new", "new")
			must(t, os.Rename(granted+".new", granted))
		}, false},
		{"a file that was granted is gone", func(t *testing.T, _ *world, granted string) {
			must(t, os.Remove(granted))
		}, false},
		{"the workspace is another folder", func(t *testing.T, w *world, _ string) {
			must(t, os.Rename(w.workspace, w.workspace+".old"))
			must(t, os.Mkdir(w.workspace, 0o755))
		}, false},
		{"something to hide appears in the workspace", func(t *testing.T, w *world, _ string) {
			must(t, os.Mkdir(filepath.Join(w.workspace, "secret"), 0o755))
		}, false},
		{"something to protect appears in the workspace", func(t *testing.T, w *world, _ string) {
			w.file(t, filepath.Join(w.workspace, "settings"), "mine")
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			granted := filepath.Join(w.base, "granted")
			w.file(t, granted, "words")
			w.cfg.Read = []string{granted}
			w.cfg.Hidden = append(w.cfg.Hidden, filepath.Join(w.workspace, "secret"))
			w.cfg.Protected = []string{filepath.Join(w.workspace, "settings")}
			w.situation.Waits = true
			plan, err := sandbox.New(w.cfg, w.situation)
			must(t, err)
			plan.Close()
			test.change(t, w, granted)
			if got := plan.Current(); got != test.want {
				t.Errorf("it is current: %v, want %v", got, test.want)
			}
		})
	}
}

// A plan is outdated when a mount was added, because a process has only the mounts that existed
// when it entered its sandbox.
func TestPlanIsCurrentUntilSomethingIsMounted(t *testing.T) {
	w := newWorld(t)
	w.situation.Waits = true
	in := filepath.Join(w.workspace, "with a space")
	for _, dir := range []string{in, filepath.Join(w.base, "elsewhere")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan struct{})
	go func() { // ends with its thread, whose mounts are separate; waited for below
		defer close(ended)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			t.Logf("nothing can be mounted: %v", err)
			return
		}
		mount := func(kind, path string, flags uintptr) {
			if err := unix.Mount(kind, path, kind, flags, ""); err != nil {
				t.Error(err)
			}
		}
		mount("", "/", unix.MS_REC|unix.MS_PRIVATE)
		current := func(what string, plan *sandbox.Plan, want bool) {
			if got := plan.Current(); got != want {
				t.Errorf("%s: it is current: %v, want %v", what, got, want)
			}
		}
		made := func() *sandbox.Plan {
			plan, err := sandbox.New(w.cfg, w.situation)
			if err != nil {
				t.Error(err)
				runtime.Goexit()
			}
			plan.Close()
			return plan
		}
		before := made()
		mount("tmpfs", filepath.Join(w.base, "elsewhere"), 0)
		current("mounted elsewhere", before, true)
		mount("tmpfs", in, 0)
		current("mounted in the workspace", before, false)
		after := made()
		current("made anew", after, true)
		if err := unix.Unmount(in, 0); err != nil {
			t.Error(err)
		}
		current("unmounted", after, false)
	}()
	<-ended
}
