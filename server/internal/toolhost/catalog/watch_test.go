package catalog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// watched is a catalog that watches one folder, in a synctest bubble.
type watched struct {
	*catalog.Catalog
	t    *testing.T
	dir  string
	fake *fakePlugins
}

func inWatchedFolder(t *testing.T, test func(w *watched)) {
	t.Helper()
	dir, state := t.TempDir(), stateDir(t)
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, dir: dir, fake: &fakePlugins{}}
		c, err := catalog.Open(catalog.Config{Folders: []string{dir}, StateDir: state, Describe: w.fake.describe})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Catalog = c
		c.Watch()
		w.looks(3) // the first looks find the existing plugins
		test(w)
	})
}

// looks lets time pass for n looks and their effects.
func (w *watched) looks(n int) {
	time.Sleep(time.Duration(n) * time.Second) // in the bubble this takes no real time
	synctest.Wait()
}

func (w *watched) put(name, content string) { write(w.t, w.dir, name, content, 0o755) }

// The catalog notices new, changed and removed plugins without a command.
func TestWatch(t *testing.T) {
	inWatchedFolder(t, func(w *watched) {
		w.put("one", plugin("one", spec("a")))
		w.looks(2)
		if w.Snapshot().Tool("a") == nil {
			t.Error("a new plugin is not there after two looks")
		}
		w.put("one", plugin("one", spec("b")))
		w.looks(2)
		if c := w.Snapshot().Candidates(); len(c) != 1 {
			t.Errorf("a changed plugin is no candidate after two looks: %v", c)
		}
		writeFolder(t, filepath.Join(w.dir, "folder"), someFolder("folder", spec("f")))
		w.looks(2)
		if w.Snapshot().Tool("f") == nil {
			t.Error("a new folder is not there after two looks")
		}
		writeFolder(t, filepath.Join(w.dir, "folder"), map[string]string{"lib/deep/data.txt": "other"})
		w.looks(2)
		if c := w.Snapshot().Candidates(); len(c) != 2 {
			t.Errorf("a folder with a changed file is no candidate: %v", c)
		}
		if err := os.Remove(filepath.Join(w.dir, "one")); err != nil {
			t.Fatal(err)
		}
		w.looks(2)
		if w.Snapshot().Plugin("one") != nil {
			t.Error("a removed plugin is there after two looks")
		}
	})
}

// A change of an author's file is noticed after two looks, even if an environment with many files
// is beside it. Changes of the environment are noticed later. The plugin folder may be a link.
func TestWatchLooksIntoFolders(t *testing.T) {
	elsewhere := t.TempDir()
	inWatchedFolder(t, func(w *watched) {
		files := someFolder("large", spec("l"))
		files["src/own.py"] = "one"
		for n := range 2500 {
			files[fmt.Sprintf(".venv/lib/python/%04d.py", n)] = "x"
		}
		large := filepath.Join(w.dir, "large")
		writeFolder(t, large, files)
		writeFolder(t, elsewhere, someFolder("linked", spec("k")))
		if err := os.Symlink(elsewhere, filepath.Join(w.dir, "linked")); err != nil {
			t.Fatal(err)
		}
		w.looks(10)
		if s := w.Snapshot(); s.Tool("l") == nil || s.Tool("k") == nil {
			t.Fatalf("new folders are not there: %v", toolNames(s, tool.Query{}))
		}
		digest := func(name string) string { return w.Snapshot().Plugin(name).Digest }
		for _, c := range []struct {
			plugin, dir, file string
			looks             int
		}{
			{"large", large, "src/own.py", 2},
			{"linked", elsewhere, "lib/deep/data.txt", 2},
			{"large", large, ".venv/lib/python/2499.py", 6},
		} {
			before := digest(c.plugin)
			writeFolder(t, c.dir, map[string]string{c.file: "changed " + c.file})
			w.looks(c.looks)
			candidates := w.Snapshot().Candidates()
			if len(candidates) != 1 || candidates[0].Info.Name != c.plugin || candidates[0].Digest == before {
				t.Fatalf("%s of %s changed, and the candidates are %v", c.file, c.plugin, candidates)
			}
			if err := w.Activate(candidates[0], catalog.Order{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Watch does not read a file that still grows. Meanwhile it loads other plugins.
func TestWatchWaitsForTheWholeFile(t *testing.T) {
	inWatchedFolder(t, func(w *watched) {
		w.put("known", plugin("known", spec("k")))
		w.looks(2)
		whole := plugin("slow", spec("s"))
		for n := range 5 {
			w.put("slow", whole[:len(whole)/6*(n+1)])
			w.put("known", plugin("known", spec("k"))[:20+n])
			if n == 1 {
				w.put("quick", plugin("quick", spec("q")))
			}
			w.looks(1)
		}
		for _, name := range w.fake.questions() {
			if name == "slow" {
				t.Error("half a plugin was run")
			}
		}
		s := w.Snapshot()
		if s.Tool("q") == nil || s.Plugin("slow") != nil {
			t.Errorf("plugins while one is being copied: %v", toolNames(s, tool.Query{}))
		}
		if p := s.Plugin("known"); p == nil || len(p.Warnings) > 0 {
			t.Errorf("a known plugin that is being overwritten: %+v", p)
		}
		w.put("slow", whole)
		w.put("known", plugin("known", spec("k"), spec("k2")))
		w.looks(2)
		if s := w.Snapshot(); s.Tool("s") == nil || len(s.Candidates()) != 1 {
			t.Errorf("plugins when all is copied: %v, candidates %v", toolNames(s, tool.Query{}), s.Candidates())
		}
	})
}

// An unchanged broken plugin is not asked again when others change. Load asks it again.
func TestWatchAsksABrokenPluginOnce(t *testing.T) {
	inWatchedFolder(t, func(w *watched) {
		asked := func() int {
			n := 0
			for _, name := range w.fake.questions() {
				if name == "broken" {
					n++
				}
			}
			return n
		}
		w.put("broken", "error: no")
		w.looks(2)
		for n := range 3 {
			w.put("one", plugin("one", spec("a"+string(rune('a'+n)))))
			w.looks(2)
		}
		if asked() != 1 {
			t.Errorf("asked %d times, want once", asked())
		}
		if err := w.Load(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.looks(1)
		if asked() != 2 {
			t.Errorf("asked %d times after a load, want twice", asked())
		}
	})
}

// Known plugins stay until the folder exists again.
func TestWatchSurvivesAMissingFolder(t *testing.T) {
	inWatchedFolder(t, func(w *watched) {
		w.put("one", plugin("one", spec("a")))
		w.looks(2)
		if err := os.Rename(w.dir, w.dir+".away"); err != nil {
			t.Fatal(err)
		}
		w.looks(5)
		if w.Snapshot().Tool("a") == nil {
			t.Error("the plugins went with their folder")
		}
		if err := os.Rename(w.dir+".away", w.dir); err != nil {
			t.Fatal(err)
		}
		w.put("two", plugin("two", spec("b")))
		w.looks(2)
		if w.Snapshot().Tool("b") == nil {
			t.Error("the folder is not watched any more")
		}
	})
}

// Next returns when its context ends.
func TestNextEnds(t *testing.T) {
	inWatchedFolder(t, func(w *watched) {
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		if _, err := w.Next(ctx, w.Snapshot()); err == nil {
			t.Error("the next snapshot came without a change")
		}
	})
}
