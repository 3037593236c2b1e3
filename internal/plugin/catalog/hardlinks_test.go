package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
)

// copies returns the paths of the copies of plugin folders, by name.
func copies(t *testing.T, c *catalog.Catalog, names ...string) []string {
	t.Helper()
	var paths []string
	for _, name := range names {
		p := c.Snapshot().Plugin(name)
		if p == nil {
			t.Fatalf("there is no plugin %s", name)
		}
		paths = append(paths, filepath.Dir(p.Path))
	}
	return paths
}

// sameFile reports whether a name denotes the same file in two folders.
func sameFile(t *testing.T, a, b, name string) bool {
	t.Helper()
	first, err := os.Stat(filepath.Join(a, name))
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.Stat(filepath.Join(b, name))
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(first, second)
}

// TestCopiesShareFiles: files that two plugins have in common are on the disk once, as long as one
// of them needs them. A file that another program changed is in no later copy.
func TestCopiesShareFiles(t *testing.T) {
	plugins, state := t.TempDir(), t.TempDir()
	shared := filepath.Join(state, "shared")
	for _, name := range []string{"one", "two"} {
		writeFolder(t, filepath.Join(plugins, name), someFolder(name, spec(name+"_tool")))
	}
	cfg := folderConfig(state, &fakePlugins{}, plugins)
	cfg.Retention = -1
	c := load(t, cfg)
	at := copies(t, c, "one", "two")
	for _, name := range []string{"run", "lib/deep/data.txt", "plugin.yaml"} {
		if !sameFile(t, at[0], at[1], name) {
			t.Errorf("%s is there twice", name)
		}
	}
	if sameFile(t, at[0], at[1], "main.json") {
		t.Error("files of different content are shared")
	}

	common := filepath.Join(at[0], "lib/deep/data.txt")
	if err := os.Chmod(common, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(common, []byte("evil"), 0o600); err != nil { // of the original's length
		t.Fatal(err)
	}
	if err := os.Chmod(common, 0o400); err != nil {
		t.Fatal(err)
	}
	writeFolder(t, filepath.Join(plugins, "three"), someFolder("three", spec("three_tool")))
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	settled(t, c)
	if got, err := os.ReadFile(filepath.Join(copies(t, c, "three")[0], "lib/deep/data.txt")); err != nil || string(got) != "data" {
		t.Errorf("the copy of three holds %q, %v", got, err)
	}

	for _, name := range []string{"one", "two", "three"} {
		if err := os.RemoveAll(filepath.Join(plugins, name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // a copy that was in service is removed one load later
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
		t.Errorf("%d files are left that no copy has, %v", len(left), err)
	}
}

// TestOldCopiesGoByThemselves: unused copies are removed after their retention without a load.
func TestOldCopiesGoByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.retain() // for 15 minutes
		for _, v := range []string{"2", "3", "4"} {
			r.write("one", version(v, spec("a")))
			r.reload()
			r.activate(r.candidate())
		}
		r.reload()
		if got := r.digests(); len(got) != 4 {
			t.Errorf("the store holds %v, want 4 revisions", got)
		}
		time.Sleep(16 * time.Minute) // of the bubble's clock
		synctest.Wait()
		if got := r.digests(); len(got) != 2 {
			t.Errorf("when nothing can run them any more the store holds %v, want 2 revisions", got)
		}
		r.Close()
	})
}

// TestUnseenSourcesAreForgotten: copies of an existing plugin are removed if no toolhost serves its
// folder any more. Those of a folder that this toolhost serves stay.
func TestUnseenSourcesAreForgotten(t *testing.T) {
	r := newRig(t)
	r.Close()
	index := filepath.Join(r.cfg.StateDir, "catalog.json")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	today := time.Now().UTC().Format(time.DateOnly)
	old := strings.ReplaceAll(string(text), `"seen":"`+today+`"`, `"seen":"2020-01-31"`)
	if old == string(text) {
		t.Fatalf("the index does not say when a source was seen: %s", text)
	}
	if err := os.WriteFile(index, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := len(r.fake.questions())
	r.restart()
	if len(r.fake.questions()) != asked || len(r.digests()) != 1 {
		t.Errorf("what was known of a plugin that is served is lost: the store holds %v", r.digests())
	}
	r.Close()
	if err := os.WriteFile(index, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	r.cfg.Folders = []string{t.TempDir()}
	r.restart()
	if got := r.digests(); len(got) != 0 {
		t.Errorf("the store holds %v of a plugin that no toolhost looks at", got)
	}
}
