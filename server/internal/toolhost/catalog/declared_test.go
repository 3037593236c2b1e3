package catalog_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// What plugins declared is known without starting them, as long as their files are the same.
func TestWhatPluginsDeclared(t *testing.T) {
	dir, state := t.TempDir(), stateDir(t)
	write(t, dir, "one", filtering("first", []tool.Spec{spec("a")}, filter("redact")), 0o755)
	writeFolder(t, filepath.Join(dir, "two"), someFolder("two", spec("b")))
	read := func() catalog.Declared {
		return must(catalog.ReadDeclared(t.Context(), state, []string{dir, filepath.Join(dir, "gone")}))
	}
	none := catalog.Declared{Plugins: map[string]bool{}, Filters: map[string]bool{}}
	if diff := cmp.Diff(none, read()); diff != "" {
		t.Errorf("before they are asked (-want +got):\n%s", diff)
	}
	c := open(t, state, &fakePlugins{}, dir)
	want := settled(t, c).Declared()
	if !want.Complete || !want.Plugins["first"] || !want.Plugins["two"] || !want.Filters["redact"] {
		t.Errorf("the snapshot has %+v: %+v", want, c.Snapshot().Plugins())
	}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("afterwards (-want +got):\n%s", diff)
	}
	write(t, dir, "one", plugin("other", tool.Spec{Name: "c", Description: "x"}), 0o755)
	if got := read(); got.Complete || got.Plugins["first"] {
		t.Errorf("after a change: %+v", got)
	}
}
