package catalog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
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

// Files that two plugins have in common exist once on disk, as long as one of the plugins needs
// them. If another program changed such a file, no later copy contains it.
func TestCopiesShareFiles(t *testing.T) {
	plugins, state := t.TempDir(), stateDir(t)
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
	if _, err := os.Stat(shared); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("files are left that no copy has: %v", err)
	}
}

// Unused copies are removed after their retention, without a load.
func TestOldCopiesGoByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.retain() // for 15 minutes
		for _, v := range []string{"2", "3", "4", "5", "6", "7"} {
			r.write("one", version(v, spec("a")))
			r.reload()
			r.activate(r.candidate())
		}
		r.reload()
		if got := r.digests(); len(got) != 7 {
			t.Errorf("the store holds %v, want 7 revisions", got)
		}
		time.Sleep(16 * time.Minute) // of the bubble's clock
		synctest.Wait()
		if got := r.digests(); len(got) != 5 {
			t.Errorf("when nothing can run them any more the store holds %v, want 5 revisions", got)
		}
		r.Close()
	})
}

// If no toolhost serves the folder of an existing plugin any more, its copies are removed. Copies
// of a plugin in a folder that this toolhost serves stay.
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

// If a file gets another name in the environment of another plugin, no plugin changes. If it gets
// new content, its plugin changes.
func TestALinkIsNoChange(t *testing.T) {
	plugins, state := t.TempDir(), stateDir(t)
	one := filepath.Join(plugins, "one")
	writeFolder(t, one, someFolder("one", spec("one_tool")))
	file := filepath.Join(one, "lib/deep/data.txt")
	past := time.Now().Add(-time.Hour) // so that the next write gives it another time
	if err := errors.Join(os.Chtimes(file, past, past), os.Link(file, filepath.Join(t.TempDir(), "first"))); err != nil {
		t.Fatal(err)
	}
	c := load(t, folderConfig(state, &fakePlugins{}, plugins))
	known := func() string {
		text, err := os.ReadFile(filepath.Join(state, "catalog.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := known()

	if err := os.Link(file, filepath.Join(t.TempDir(), "second")); err != nil {
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := known(); after != before {
		t.Errorf("a new link changed what is known of the plugin, from\n%s\nto\n%s", before, after)
	}
	if err := os.WriteFile(file, []byte("DATA"), 0o600); err != nil { // of the original's length
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := known(); after == before {
		t.Error("a new content of a file with two names is not noticed")
	}
}
