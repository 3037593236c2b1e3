//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/sandbox"
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
