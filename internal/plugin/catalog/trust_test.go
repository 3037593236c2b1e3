package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// If a plugin does not describe itself at the first use of its folder, the trust covers only that
// executable. Another executable in its place that declares itself harmless is not trusted.
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

// The file of a trusted plugin has a second name in a workspace. Content that a tool writes under
// that name does not run, also after the tool has removed the name. The revision in service stays.
func TestAPluginThatAToolWroteThroughALink(t *testing.T) {
	dir, workspace, store := t.TempDir(), t.TempDir(), trust.NewStore(t.TempDir())
	path, link := filepath.Join(dir, "weather"), filepath.Join(workspace, "weather")
	write(t, dir, "weather", plugin("weather", spec("rain")), 0o700)
	cfg := catalog.Config{Folders: []string{dir}, StateDir: t.TempDir(), Describe: (&fakePlugins{}).describe, Trust: store}
	c := load(t, cfg)
	first := settled(t, c).Plugins()[0].Digest
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if err := store.TrustPlugin([]string{dir}, path, c.Snapshot().Plugins()[0].Trusted(), false); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what   string
		change func() error
	}{
		{"written", func() error { return os.WriteFile(link, []byte(plugin("weather", spec("snow"))), 0o700) }},
		{"written, and the link is gone", func() error { return os.Remove(link) }},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := settled(t, c).Plugins()[0]
		if p.Digest != first || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "hard link") {
			t.Errorf("%s: %s is in service, was %s, and the warnings are %q", step.what, p.Digest, first, p.Warnings)
		}
	}
}
