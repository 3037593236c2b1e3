package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// TestWhatWasTrustedUnseenIsTheExecutable: a plugin that did not say what it is when its folder was used first is trusted as
// that executable. Another one in its place that calls itself harmless is not.
func TestWhatWasTrustedUnseenIsTheExecutable(t *testing.T) {
	dir, store := t.TempDir(), trust.NewStore(t.TempDir())
	path := filepath.Join(dir, "weather")
	if err := os.WriteFile(path, []byte(`{"broken"`), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := catalog.Config{Folders: []string{dir}, StateDir: t.TempDir(), Describe: (&fakePlugins{}).describe, Trust: store}
	c := load(t, cfg)
	harmless := spec("rain")
	harmless.ReadOnly = true
	if err := os.WriteFile(path, []byte(plugin("weather", harmless)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	settled(t, c)
	found := c.Snapshot().Tools(tool.Query{})
	if len(found) != 1 || !found[0].Spec.Dangerous || found[0].Spec.ReadOnly {
		t.Errorf("the tools are %+v, want one that counts as dangerous", found)
	}
}
